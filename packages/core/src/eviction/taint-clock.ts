import type { PauseScope } from '../event.ts';
import { endOfSecond, finite, type Instant } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import { isEqualTaint, type Taint } from '../model/taint.ts';
import { formatTaint } from '../model/taint-spec.ts';
import type { StartSource } from './reason.ts';

/**
 * The NoExecute taints of every node and since when each counts: since taint.timeAdded, else since
 * we first saw it.
 */
export interface ObservedTaint {
  readonly taint: Taint;
  readonly start: Instant;
  readonly startSource: Exclude<StartSource, 'podBound'>;
  /** When it came, as the API server knows it, or else when we first saw it; not what it says. */
  readonly seenAt: Instant;
}

/** A time for which the deadlines of a node stood still. */
export interface Pause {
  readonly from: Instant;
  readonly to: Instant;
}

const none: readonly ObservedTaint[] = [];
const noPauses: readonly Pause[] = [];

/** What was known of a node when we last heard of it. */
interface Seen {
  readonly uid: string;
  readonly taintsWrittenAt: Instant | null | undefined;
}

/**
 * The NoExecute taints of every node and since when each counts: since taint.timeAdded, else since
 * we first saw it, which is remembered for as long as the taint stays and, by the annotation that
 * taint-clock-writer.ts keeps, across restarts. A taint may go and come back while nobody looks. So what
 * is remembered holds across a gap only if the node's taints were not written in it; else a taint
 * counts from when they were written last. Deadlines can be paused: when they go on, the taints of
 * the nodes concerned start later by as long as the pause was.
 */
export class TaintClock {
  readonly #byNode = new Map<string, readonly ObservedTaint[]>();
  readonly #seen = new Map<string, Seen>();
  readonly #zones = new Map<string, string>();
  readonly #scopes = new Map<string, PauseScope>();
  readonly #pausedAt = new Map<string, Instant>();
  readonly #pauses = new Map<string, readonly Pause[]>();

  /** In the node's order; empty for a node without NoExecute taints. */
  of(nodeName: string): readonly ObservedTaint[] {
    return this.#byNode.get(nodeName) ?? none;
  }

  /** Since when the deadlines of a tainted node stand still; null: they run. */
  pausedAt(nodeName: string): Instant | null {
    return this.#pausedAt.get(nodeName) ?? null;
  }

  /** The pauses of a node since it was tainted, for pods that count from their binding. */
  pausesOf(nodeName: string): readonly Pause[] {
    return this.#pauses.get(nodeName) ?? noPauses;
  }

  /**
   * Takes in the node's present state (null: it is gone), perhaps after states that we did not see;
   * whether its taints changed for us.
   */
  update(now: Instant, nodeName: string, node: Node | null, afterGap: boolean): boolean {
    const known = this.of(nodeName);
    const taints = node?.taints.filter((taint) => taint.effect === 'NoExecute') ?? [];
    const memory = this.#remember(nodeName, node, afterGap);
    const observed = taints.map((taint) => observe(now, taint, known, memory));
    if (observed.length === known.length && observed.every((entry, i) => entry === known[i])) {
      return false;
    }
    this.#zones.set(nodeName, node?.zone ?? '');
    if (observed.length > 0) this.#keep(now, nodeName, observed);
    else this.#forget(nodeName);
    return true;
  }

  /** Lets the deadlines of a scope stand still; the nodes for which that is new. */
  pause(now: Instant, scope: PauseScope): readonly string[] {
    this.#scopes.set(JSON.stringify(scope), scope);
    const nodes = [...this.#byNode.keys()].filter(
      (name) => !this.#pausedAt.has(name) && this.#isInScope(name),
    );
    for (const name of nodes) this.#pausedAt.set(name, now);
    return nodes;
  }

  /** Lets them go on; the nodes whose deadlines run again. Other scopes may still hold some. */
  resume(now: Instant, scope: PauseScope): readonly string[] {
    this.#scopes.delete(JSON.stringify(scope));
    const nodes = [...this.#pausedAt.keys()].filter((name) => !this.#isInScope(name));
    for (const name of nodes) this.#giveBack(now, name);
    return nodes;
  }

  #remember(nodeName: string, node: Node | null, afterGap: boolean): Memory {
    const before = this.#seen.get(nodeName);
    if (!node) {
      this.#seen.delete(nodeName);
      return { isOwn: true, kept: {}, writtenAt: null };
    }
    const { uid, taintsWrittenAt } = node;
    this.#seen.set(nodeName, { uid, taintsWrittenAt });
    const writtenAt = finite(taintsWrittenAt);
    // What is written there counts when we first see the node; later we know better ourselves.
    if (before?.uid === uid && !afterGap) return { isOwn: true, kept: {}, writtenAt };
    const isUnchanged = taintsWrittenAt !== null && before?.taintsWrittenAt === taintsWrittenAt;
    return { isOwn: isUnchanged, kept: node.taintStarts ?? {}, writtenAt };
  }

  #keep(now: Instant, nodeName: string, observed: readonly ObservedTaint[]): void {
    this.#byNode.set(nodeName, observed);
    if (this.#isInScope(nodeName) && !this.#pausedAt.has(nodeName)) {
      this.#pausedAt.set(nodeName, now);
    }
  }

  #forget(nodeName: string): void {
    this.#byNode.delete(nodeName);
    this.#zones.delete(nodeName);
    this.#pausedAt.delete(nodeName);
    this.#pauses.delete(nodeName);
  }

  #giveBack(now: Instant, nodeName: string): void {
    const pausedAt = this.#pausedAt.get(nodeName) ?? now;
    this.#pausedAt.delete(nodeName);
    this.#pauses.set(nodeName, [...this.pausesOf(nodeName), { from: pausedAt, to: now }]);
    const shifted = this.of(nodeName).map((observed): ObservedTaint => {
      const { taint, seenAt } = observed;
      const start = countsFrom(observed);
      const given = now - Math.max(pausedAt, start);
      return { taint, start: start + Math.max(0, given), startSource: 'givenBack', seenAt };
    });
    this.#byNode.set(nodeName, shifted);
  }

  #isInScope(nodeName: string): boolean {
    for (const scope of this.#scopes.values()) {
      if (scope.kind === 'all') return true;
      const name = scope.kind === 'node' ? nodeName : this.#zones.get(nodeName);
      if (scope.name === name) return true;
    }
    return false;
  }
}

/** What may be believed of the time before the present state of a node. */
interface Memory {
  /** Whether what we have seen ourselves still holds of taints that do not name their own time. */
  readonly isOwn: boolean;
  /** What an earlier run wrote down. */
  readonly kept: Readonly<Record<string, Instant>>;
  /** When the node's taints were last written; null: not known. */
  readonly writtenAt: Instant | null;
}

/** Answers the known entry itself when the taint is still the same. */
function observe(
  now: Instant,
  taint: Taint,
  known: readonly ObservedTaint[],
  { isOwn, kept, writtenAt }: Memory,
): ObservedTaint {
  const timeAdded = finite(taint.timeAdded);
  const before = known.find(
    (entry) => (isOwn || timeAdded !== null) && isEqualTaint(entry.taint, taint),
  );
  if (before && Object.is(before.taint.timeAdded, taint.timeAdded)) return before;
  const seenAt =
    before?.seenAt ?? (writtenAt === null ? now : Math.min(now, endOfSecond(writtenAt)));
  const written = finite(kept[formatTaint(taint)]);
  // What was written down lies in the past; a clock that was wrong must not hold a pod for ever.
  const keptStart = written === null ? null : Math.min(written, now);
  if (timeAdded === null) {
    const start = keptStart ?? (before ? countsFrom(before) : null);
    if (start !== null) return { taint, start, startSource: 'firstSeen', seenAt };
    const thereAt = writtenAt === null ? now : endOfSecond(writtenAt);
    return thereAt < now
      ? { taint, start: thereAt, startSource: 'taintsWritten', seenAt }
      : { taint, start: now, startSource: 'firstSeen', seenAt };
  }
  return keptStart !== null && keptStart > endOfSecond(timeAdded) && !before
    ? { taint, start: keptStart, startSource: 'givenBack', seenAt }
    : { taint, start: timeAdded, startSource: 'timeAdded', seenAt };
}

/** The instant from which a time counts that a taint is given: never before it came. */
export function countsFrom({ start, startSource }: ObservedTaint): Instant {
  return startSource === 'timeAdded' ? endOfSecond(start) : start;
}
