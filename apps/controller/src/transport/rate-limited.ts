import type { ApiRequest, Transport } from '@taintmgr/k8s-adapter';
import { TokenBucket } from './token-bucket.ts';

export interface RateLimit {
  /** Requests per second, above 0. */
  readonly qps: number;
  /** Requests at once after a pause, from 1. */
  readonly burst: number;
  /** A clock in milliseconds that does not go back. */
  readonly now: () => number;
  /** What does not have to wait. */
  readonly exempt: (request: ApiRequest) => boolean;
  /** Told how long each request waited for its turn, in seconds. */
  readonly onWait: (method: string, seconds: number) => void;
}

interface Waiting {
  begin(): void;
}

/** The transport with a limit of requests a second, in the order they come. */
export function rateLimited(transport: Transport, limit: RateLimit): Transport {
  const { qps, burst, now, exempt, onWait } = limit;
  const waiting: Waiting[] = [];
  const bucket = new TokenBucket(qps, burst);
  let timer: NodeJS.Timeout | null = null;
  const drain = (): void => {
    timer = null;
    while (waiting.length > 0 && bucket.take(now())) waiting.shift()?.begin();
    if (waiting.length > 0) timer = setTimeout(drain, bucket.waitMs);
  };
  return {
    send: (request, sink) => {
      if (exempt(request)) return transport.send(request, sink);
      const askedAt = now();
      let hangUp: (() => void) | null = null;
      const entry: Waiting = {
        begin: () => {
          onWait(request.method, (now() - askedAt) / 1000);
          hangUp = transport.send(request, sink);
        },
      };
      waiting.push(entry);
      if (timer === null) drain();
      return () => {
        const index = waiting.indexOf(entry);
        if (index >= 0) waiting.splice(index, 1);
        hangUp?.();
      };
    },
  };
}
