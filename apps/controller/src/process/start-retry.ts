// Tries the requests of the start again while the API server cannot be reached.
import { setTimeout as wait } from 'node:timers/promises';
import type { Millis } from '@taintmgr/core/time';
import { ApiError, Backoff, ConnectionError, WrongServerError } from '@taintmgr/k8s-adapter';
import { OverlapError } from '../overlap/overlap.ts';

export interface RetryOptions {
  /** Aborted: it gives up, and throws what AbortSignal throws. */
  readonly signal: AbortSignal;
  /** Told of a failure, and when the next attempt follows. */
  readonly onFailure: (error: Error, next: Millis) => void;
}

/** No later attempt would mend these: credentials, rights, and a server that is none of ours. */
const finalStatuses: readonly number[] = [401, 403, 404];

/**
 * Tries until it goes through. An API server that is away, slow or overloaded when we begin is no
 * reason to end: it is asked again, later and later. Throws what no waiting would mend.
 */
export async function untilSuccess<T>(
  attempt: () => Promise<T>,
  { signal, onFailure }: RetryOptions,
): Promise<T> {
  const backoff = new Backoff(Math.random);
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Error) || isFinal(error)) throw error;
      const atLeast = error instanceof ApiError ? error.failure.retryAfter : null;
      const next = backoff.next(performance.now(), atLeast ?? 0);
      onFailure(error, next);
      await wait(next, undefined, { signal });
    }
  }
}

function isFinal(error: Error): boolean {
  if (error instanceof WrongServerError || error instanceof OverlapError) return true;
  if (!(error instanceof ApiError)) return !(error instanceof ConnectionError);
  const status = error.failure.status ?? 0;
  return finalStatuses.includes(status) || (status >= 300 && status < 400);
}
