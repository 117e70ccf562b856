import type { ApiRequest, Transport } from '@taintmgr/k8s-adapter';

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

/** The transport, sending at most so many requests a second, in the order they come. */
export function rateLimited(transport: Transport, limit: RateLimit): Transport {
  const { qps, burst, now, exempt, onWait } = limit;
  const waiting: Waiting[] = [];
  let tokens = burst;
  let filledAt = now();
  let timer: NodeJS.Timeout | null = null;
  const refill = (): void => {
    const instant = now();
    tokens = Math.min(burst, tokens + ((instant - filledAt) / 1000) * qps);
    filledAt = instant;
  };
  const drain = (): void => {
    timer = null;
    refill();
    while (waiting.length > 0 && tokens >= 1) {
      tokens -= 1;
      waiting.shift()?.begin();
    }
    if (waiting.length > 0) timer = setTimeout(drain, Math.ceil(((1 - tokens) / qps) * 1000));
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
