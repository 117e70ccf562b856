// The attempts of the eviction machine, by the uid of their pods, and when each is looked at next.

import { type AttemptState, isPending, untried } from '../attempt/attempt.ts';
import { atEscalation } from '../attempt/retry.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { Eviction } from './decide.ts';
import type { EvictionAttempt } from './decider.ts';

/** An attempt whose state ends by itself. */
type Timed = EvictionAttempt & { readonly state: { readonly until: Instant } };

export class Attempts {
  readonly #attempts = new Map<string, EvictionAttempt>();
  readonly #schedule = new Schedule();
  /** Attempts that are due and wait for a place, by namespace, since when they are due. */
  readonly #lines = new Map<string, Schedule>();
  /** By uid: the namespace in whose line it stands. */
  readonly #inLine = new Map<string, string>();

  get(uid: string): EvictionAttempt | undefined {
    return this.#attempts.get(uid);
  }

  stateOf(uid: string): AttemptState | null {
    return this.#attempts.get(uid)?.state ?? null;
  }

  /** Keeps the time at which the attempt is looked at. */
  set(uid: string, attempt: EvictionAttempt): void {
    this.#attempts.set(uid, attempt);
  }

  /** The attempt is looked at when its state ends. */
  put(uid: string, attempt: Timed): void {
    this.#attempts.set(uid, attempt);
    this.#leaveLine(uid);
    this.#schedule.set(uid, attempt.state.until);
  }

  /** `until`: when the deadline is, by the machine's own clock. `decision`: for a pod that is due already. */
  wait(
    now: Instant,
    uid: string,
    deadline: Instant,
    until: Instant,
    decision: Eviction | null = null,
  ): void {
    const state = { kind: 'waiting', since: now, until } as const;
    this.put(uid, { ...untried, deadline, state, ...(decision && { decision }) });
  }

  /** Its deadline stands still. */
  pause(uid: string, remaining: Millis): void {
    this.set(uid, { ...untried, deadline: null, state: { kind: 'paused', remaining } });
  }

  /** The earlier eviction was accepted, and the pod was never seen to leave. */
  doubt(uid: string): void {
    const attempt = this.#attempts.get(uid);
    if (attempt) this.set(uid, { ...attempt, isUnconfirmed: true });
  }

  /**
   * A pod that is due stays so by another deadline that is over too. Budgets may be asked for a
   * shorter time now than when one of them refused: the next try is at `escalation` at the latest,
   * from which on they are no longer asked.
   */
  hasten(now: Instant, uid: string, decision: Eviction, escalation: () => Instant | null): void {
    const known = this.#attempts.get(uid);
    if (!known) return;
    const { state } = known;
    const attempt = { ...known, deadline: decision.deadline, decision };
    this.set(uid, attempt);
    if (!('setback' in state)) return;
    const at = atEscalation(now, state.until, state.setback, escalation());
    if (at !== state.until) this.put(uid, { ...attempt, state: { ...state, until: at } });
  }

  delete(uid: string): void {
    this.#attempts.delete(uid);
    this.#schedule.cancel(uid);
    this.#leaveLine(uid);
  }

  /** Attempts with a deadline that have not been sent, and their deadlines. */
  *pending(): Iterable<readonly [uid: string, deadline: Instant, state: AttemptState]> {
    for (const [uid, { state, deadline }] of this.#attempts) {
      if (deadline !== null && isPending(state)) yield [uid, deadline, state];
    }
  }

  /** The attempt is due since `since`, and waits for a place among those of its namespace. */
  standInLine(uid: string, namespace: string, since: Instant): void {
    const line = this.#lines.get(namespace) ?? new Schedule();
    this.#lines.set(namespace, line);
    line.set(uid, since);
    this.#inLine.set(uid, namespace);
  }

  /** The namespaces whose pods wait for a place. */
  waitingNamespaces(): Iterable<string> {
    return this.#lines.keys();
  }

  /** True when some pod waits for a place. */
  get hasLine(): boolean {
    return this.#lines.size > 0;
  }

  /**
   * The next one whose turn it is: of the namespace with the fewest requests under way, and of those with as many
   * the one that is due the longest; null: none of those that wait has room.
   */
  takeTurn(
    underWayOf: (namespace: string) => number,
    hasRoom: (namespace: string) => boolean,
  ): string | null {
    let best: { readonly line: Schedule; readonly underWay: number } | null = null;
    for (const [namespace, line] of this.#lines) {
      const underWay = underWayOf(namespace);
      if (
        best &&
        (underWay > best.underWay || (underWay === best.underWay && !isEarlier(line, best.line)))
      )
        continue;
      if (hasRoom(namespace)) best = { line, underWay };
    }
    const uid = best?.line.first() ?? null;
    if (uid !== null) this.#leaveLine(uid);
    return uid;
  }

  takeDue(now: Instant): string | null {
    return this.#schedule.takeDue(now);
  }

  nextWake(): Instant | null {
    return this.#schedule.next();
  }

  #leaveLine(uid: string): void {
    const namespace = this.#inLine.get(uid);
    const line = namespace === undefined ? undefined : this.#lines.get(namespace);
    if (namespace === undefined || !line) return;
    this.#inLine.delete(uid);
    line.cancel(uid);
    if (line.size === 0) this.#lines.delete(namespace);
  }
}

/** True when the first of a line is due for longer. */
function isEarlier(line: Schedule, other: Schedule): boolean {
  const [at, otherAt] = [line.next() ?? 0, other.next() ?? 0];
  return at < otherAt || (at === otherAt && (line.first() ?? '') < (other.first() ?? ''));
}
