import type { Instant, Millis } from '../kernel/time.ts';

/** The bounds of a retry: the wait doubles from `min` to `max`. */
export interface RetryWait {
  readonly min: Millis;
  readonly max: Millis;
}

/**
 * When to try again after failed attempt number `attempt` (from 1). Half of the wait is spread by
 * a hash of the key, so that pods which failed together do not come back together, and yet a
 * replay of the same events waits the same time.
 */
export function nextAttempt(
  now: Instant,
  key: string,
  attempt: number,
  wait: RetryWait,
  retryAfter: Millis | null,
): Instant {
  const full = Math.min(wait.max, wait.min * 2 ** Math.min(attempt - 1, 30));
  const spread = fnv1a(`${key}/${attempt}`) / 2 ** 32;
  const delay = Math.ceil(full / 2 + (full / 2) * spread);
  return now + Math.max(delay, retryAfter ?? 0);
}

/** FNV-1a, 32 bits, over the UTF-16 units of the text. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
