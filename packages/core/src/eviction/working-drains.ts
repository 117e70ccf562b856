// Follows the drains that evict from each node, and whether they still live.
import { Schedule } from '../kernel/schedule.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import { drainStaleMs, type WorkingDrain } from '../model/working-drain.ts';

/** A drain as it was seen last. */
export interface SeenDrain {
  readonly drain: WorkingDrain;
  /** The drain has reported no progress for too long. */
  readonly isStale: boolean;
}

interface Seen extends SeenDrain {
  /** When its heartbeat was first seen, by our own time. */
  readonly since: Instant;
}

/** Called so late, we did not run ourselves: a missing heartbeat means nothing. */
const standstillMs: Millis = 5_000;
const none: readonly Seen[] = [];

/**
 * The drains at work on each node. A drain is judged by our own time: it lives for 60 s after its
 * heartbeat was last seen to change, regardless of the time in that heartbeat. A new leader gives
 * each drain the whole time. While nodes are not watched, and when we were at a standstill
 * ourselves, missing heartbeats mean nothing, and the time counts again from then on.
 */
export class WorkingDrains {
  readonly #byNode = new Map<string, readonly Seen[]>();
  /** When the first drain of each node becomes stale. */
  readonly #ends = new Schedule();
  #isViewCurrent = true;

  /** The drain that evicts for a taint of a node; null: none does. */
  of(nodeName: string, taint: string): SeenDrain | null {
    return this.#byNode.get(nodeName)?.find(({ drain }) => drain.taint === taint) ?? null;
  }

  /** All that are on a node. */
  on(nodeName: string): readonly SeenDrain[] {
    return this.#byNode.get(nodeName) ?? none;
  }

  /** Takes in a node (null: it is gone); whether another drain evicts there now, or none. */
  followNode(now: Instant, name: string, node: Node | null): boolean {
    const known = this.#byNode.get(name) ?? none;
    const drains = node?.drains ?? [];
    if (drains.length === 0 && known.length === 0) return false;
    const next = drains.map((drain): Seen => {
      const before = known.find((one) => isSame(one.drain, drain));
      const isAlive = before && before.drain.heartbeat !== drain.heartbeat;
      return before && !isAlive ? before : { drain, isStale: false, since: now };
    });
    this.#put(name, next);
    return next.length !== known.length || next.some((one) => !isKnown(one, known));
  }

  /** True when changes of nodes arrive. */
  setView(now: Instant, isCurrent: boolean): void {
    if (isCurrent && !this.#isViewCurrent)
      for (const name of this.#byNode.keys()) this.#forgive(now, name);
    this.#isViewCurrent = isCurrent;
  }

  /** The nodes of drains that have become stale since the last call. */
  takeStale(now: Instant): readonly string[] {
    if (!this.#isViewCurrent) return [];
    const names: string[] = [];
    for (;;) {
      const at = this.#ends.next();
      const name = this.#ends.takeDue(now);
      if (at === null || name === null) return names;
      if (now - at > standstillMs) this.#forgive(now, name);
      else names.push(...this.#end(now, name));
    }
  }

  /** When the next drain becomes stale; null: none is at work. */
  nextWake(): Instant | null {
    return this.#isViewCurrent ? this.#ends.next() : null;
  }

  #end(now: Instant, name: string): readonly string[] {
    const seen = this.#byNode.get(name) ?? none;
    this.#put(
      name,
      seen.map((one) => (endOf(one) <= now ? { ...one, isStale: true } : one)),
    );
    return [name];
  }

  #forgive(now: Instant, name: string): void {
    const seen = this.#byNode.get(name) ?? none;
    this.#put(
      name,
      seen.map((one) => (one.isStale ? one : { ...one, since: now })),
    );
  }

  #put(name: string, seen: readonly Seen[]): void {
    if (seen.length > 0) this.#byNode.set(name, seen);
    else this.#byNode.delete(name);
    const ends = seen.flatMap((one) => (one.isStale ? [] : [endOf(one)]));
    if (ends.length > 0) this.#ends.set(name, Math.min(...ends));
    else this.#ends.cancel(name);
  }
}

function endOf({ since }: Seen): Instant {
  return since + drainStaleMs;
}

function isSame(one: WorkingDrain, other: WorkingDrain): boolean {
  return one.id === other.id && one.taint === other.taint && one.by === other.by;
}

/** True when the same drain was there, and lived as it does now. */
function isKnown({ drain, isStale }: Seen, known: readonly Seen[]): boolean {
  return known.some((one) => isSame(one.drain, drain) && one.isStale === isStale);
}
