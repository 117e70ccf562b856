// When something that failed is tried again.
import type { Instant, Millis } from '../kernel/time.ts';
import { type Blocker, blockerOf, isBudget, isHeld } from './blocker.ts';
import { type Outcome, retryAfterOf, type Setback } from './outcome.ts';

/** The bounds of a retry: the wait doubles from the first to the second. */
export interface RetryWait {
  readonly retryWaitMsMin: Millis;
  readonly retryWaitMsMax: Millis;
}

/** The same for what a disruption budget may refuse. */
export interface AttemptWait extends RetryWait {
  /** After such a refusal, where the API server names no time. */
  readonly blockedRetryWaitMs: Millis;
  /** After an admission webhook kept the request for itself, where it names no time. */
  readonly interceptedRetryWaitMs: Millis;
}

/**
 * When to try to make a pod leave again, after its try number `tries` (from 1). Budgets are asked
 * evenly, as nothing is wrong, and so are webhooks, at longer intervals; everything else waits the
 * longer the more often it fails. From `escalateAt` on (null: never) budgets are no longer asked: a
 * request that one of them refused is repeated at once. A webhook may refuse the deletion as well, so
 * that one waits.
 */
export function nextTry(
  now: Instant,
  uid: string,
  tries: number,
  setback: Setback,
  escalateAt: Instant | null,
  wait: AttemptWait,
): Instant {
  const blocker = blockerOf(setback);
  const at = isHeld(blocker)
    ? evenTry(now, setback, heldWait(blocker, wait))
    : nextAttempt(now, uid, tries, wait, setback);
  return atEscalation(now, at, setback, escalateAt);
}

/** A try at `at`, or earlier where budgets are no longer asked from an earlier instant on. */
export function atEscalation(
  now: Instant,
  at: Instant,
  setback: Setback,
  escalateAt: Instant | null,
): Instant {
  if (escalateAt === null) return at;
  if (escalateAt > now) return Math.min(at, escalateAt);
  return isBudget(blockerOf(setback)) ? Math.min(at, now) : at;
}

/**
 * The time of the next question to a party that is asked at a fixed interval, regardless of its
 * refusals.
 */
export function evenTry(now: Instant, setback: Setback, waitMs: Millis): Instant {
  return now + (retryAfterOf(setback) ?? waitMs);
}

function heldWait({ code }: Blocker, wait: AttemptWait): Millis {
  return code === 'Intercepted' ? wait.interceptedRetryWaitMs : wait.blockedRetryWaitMs;
}

/**
 * When to try again after failed attempt number `attempt` (from 1), which ended in `outcome`. Half
 * of the wait is spread by a hash of the key, so that pods which failed together do not come back
 * together, and yet a replay of the same events waits the same time.
 */
export function nextAttempt(
  now: Instant,
  key: string,
  attempt: number,
  { retryWaitMsMin, retryWaitMsMax }: RetryWait,
  outcome: Outcome,
): Instant {
  const full = Math.min(retryWaitMsMax, retryWaitMsMin * 2 ** Math.min(attempt - 1, 30));
  const spread = fnv1a(`${key}/${attempt}`) / 2 ** 32;
  const delay = Math.ceil(full / 2 + (full / 2) * spread);
  return now + Math.max(delay, retryAfterOf(outcome) ?? 0);
}

/** FNV-1a, 32 bits, over the UTF-16 units of the text. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
