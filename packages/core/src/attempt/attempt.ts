// The stages of one pod's way out: one vocabulary for eviction, drain and pressure.
import type { Instant, Millis } from '../kernel/time.ts';
import type { LimitHit } from '../policy/limit.ts';
import { blockerOf, isAnswered, isHeld } from './blocker.ts';
import type { Setback } from './outcome.ts';
import { type AttemptWait, nextTry } from './retry.ts';

/**
 * The stage that the way out of one pod has reached. Instants are by our own time.
 *
 *     waiting <--> paused
 *        |
 *        v
 *     queued --> requested --> accepted --> gone
 *        ^         |   ^          ^
 *        |         v   |          |
 *        +---- blocked, failed    asked (EvictionRequest): others make it go
 *
 * Whatever is not out as a request can be called off until it is accepted. A machine may skip
 * `queued` where there is room.
 */
export type AttemptState =
  /** Not due before `until`; planned, or planned again, at `since`. */
  | { readonly kind: 'waiting'; readonly since: Instant; readonly until: Instant }
  /** Deadlines of its node are paused; it will have `remaining` left. */
  | { readonly kind: 'paused'; readonly remaining: Millis }
  /** Due, and held back by a limit, until `roomAt` or (null) until something makes room. */
  | { readonly kind: 'queued'; readonly hit: LimitHit; readonly roomAt: Instant | null }
  /** Due, and not its turn. */
  | { readonly kind: 'queued'; readonly hit: null }
  /** Due, and its responder has been asked to move it, or will be; looked at again at `until`. */
  | { readonly kind: 'asked'; readonly until: Instant; readonly hold: string }
  /** Request `id` is out and not yet answered. */
  | { readonly kind: 'requested'; readonly id: string }
  | SetBack
  /** The API server accepted it; the watch has to show the pod leaving before `until`. */
  | { readonly kind: 'accepted'; readonly until: Instant };

/** A try ended without success; the next one is at `until`. */
export interface SetBack {
  /** `blocked`: a budget says no, or a webhook keeps the request for itself; `failed`: anything else. */
  readonly kind: 'blocked' | 'failed';
  readonly until: Instant;
  readonly setback: Setback;
}

/** The eviction of one pod. */
export interface Attempt {
  readonly state: AttemptState;
  /** So many requests were sent. */
  readonly tries: number;
  /** True when budgets were asked, and an answer came. */
  readonly budgetsAsked: boolean;
  /** Why the last try that was answered ended without success; left out: none did. */
  readonly lastSetback?: Setback;
}

/** Of a pod for which nothing was sent. */
export const untried: Omit<Attempt, 'state'> = { tries: 0, budgetsAsked: false };

/** The times for which attempts wait. */
interface AttemptConfig extends AttemptWait {
  readonly confirmationWaitMs: Millis;
}

type Kind = AttemptState['kind'];

/** True when the pod is due, and waits for its turn or its next try. */
export function isDue(state: { readonly kind: string }): boolean {
  return state.kind === 'queued' || state.kind === 'asked' || isTried(state);
}

/** True when it waits for its next try. */
export function isTried({ kind }: { readonly kind: string }): boolean {
  return kind === 'blocked' || kind === 'failed';
}

/** True when it can still be called off. */
export function isPending({ kind }: { readonly kind: Kind }): boolean {
  return kind !== 'requested' && kind !== 'accepted';
}

/** Where an attempt stands whose request was accepted. */
export function accepted(
  now: Instant,
  { confirmationWaitMs }: AttemptConfig,
): Extract<AttemptState, { kind: 'accepted' }> {
  return { kind: 'accepted', until: now + confirmationWaitMs };
}

/** Why its last try ended without success; null: it did not, or none has ended. */
export function setbackOf(state: AttemptState | null): Setback | null {
  return state && 'setback' in state ? state.setback : null;
}

/** Where an attempt stands whose last request met a setback; see nextTry. */
export function setBack(
  now: Instant,
  uid: string,
  { tries, budgetsAsked }: Omit<Attempt, 'state'>,
  setback: Setback,
  escalateAt: Instant | null,
  config: AttemptConfig,
): Omit<Attempt, 'state' | 'tries'> & { readonly state: SetBack } {
  const blocker = blockerOf(setback);
  const until = nextTry(now, uid, tries, setback, escalateAt, config);
  const state = { kind: isHeld(blocker) ? 'blocked' : 'failed', until, setback } as const;
  const isAsked = budgetsAsked || isAnswered(blocker);
  return { state, budgetsAsked: isAsked, lastSetback: setback };
}
