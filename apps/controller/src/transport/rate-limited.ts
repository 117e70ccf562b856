import { type ApiRequest, type Transport, taintManagersPath } from '@taintmgr/k8s-adapter';
import { FairQueue } from '../rate-limit/fair-queue.ts';

export interface RateLimit {
  /** Requests per second, above 0. */
  readonly qps: number;
  /** Requests at once after a pause, from 1. */
  readonly burst: number;
  /** A clock in milliseconds that does not go back. */
  readonly now: () => number;
  /** What does not have to wait. */
  readonly exempt: (request: ApiRequest) => boolean;
  /** Called with how long each request waited for its turn, in seconds. */
  readonly onWait: (method: string, seconds: number) => void;
}

/** The transport with a limit of requests a second, in the order they come. */
export function rateLimited(transport: Transport, limit: RateLimit): Transport {
  const { qps, burst, now, exempt, onWait } = limit;
  const queue = new FairQueue(qps, burst, now);
  return {
    send: (request, sink) => {
      if (exempt(request)) return transport.send(request, sink);
      const askedAt = now();
      let hangUp = (): void => {};
      const leave = queue.enter('', () => {
        onWait(request.method, (now() - askedAt) / 1000);
        hangUp = transport.send(request, sink);
      });
      return () => {
        leave();
        hangUp();
      };
    },
  };
}

/** A leader that waits behind its own requests would lose its lease, or count as gone. */
export function isHeartbeat({ path }: ApiRequest): boolean {
  return path.startsWith('/apis/coordination.k8s.io/') || path.startsWith(taintManagersPath);
}
