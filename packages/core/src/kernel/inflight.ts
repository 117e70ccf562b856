import type { Instant, Millis } from './time.ts';

/** Commands that were sent and not yet answered, at most `max` at a time. */
export class InFlight {
  readonly #max: number;
  readonly #prefix: string;
  readonly #keys = new Map<string, string>();
  #count = 0;

  /** `prefix` begins every id this one hands out. */
  constructor(prefix: string, max: number) {
    this.#prefix = prefix;
    this.#max = max;
  }

  get hasRoom(): boolean {
    return this.room > 0;
  }

  /** How many more may be outstanding. */
  get room(): number {
    return this.#max - this.#keys.size;
  }

  /** Takes a place for work on `key` and answers the id of the command. */
  start(key: string): string {
    const id = `${this.#prefix}-${++this.#count}`;
    this.#keys.set(id, key);
    return id;
  }

  /** Frees the place of a command; its key, or null for an id that is not outstanding. */
  finish(id: string): string | null {
    const key = this.#keys.get(id) ?? null;
    this.#keys.delete(id);
    return key;
  }
}

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
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
