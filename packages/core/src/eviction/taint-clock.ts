import { endOfSecond, finite, type Instant, type Millis } from '../kernel/time.ts';
import { addedAt, formatTaint, isEqualTaint, type Taint } from '../model/taint.ts';
import type { NodeChange } from '../store.ts';
import type { StartSource } from './reason.ts';

/**
 * A NoExecute taint of a node, and since when it counts: since taint.timeAdded, else since we first
 * saw it.
 */
export interface ObservedTaint {
  /** The taint as the node has it. */
  readonly taint: Taint;
  /** The instant from which tolerationSeconds count. */
  readonly start: Instant;
  /** The source of that instant. */
  readonly startSource: Exclude<StartSource, 'podBound'>;
  /**
   * The time at which it came, as the API server knows it, or else when we first saw it; not its
   * own statement.
   */
  readonly seenAt: Instant;
  /** Since when it counts for pods of a namespace, where that is another instant; left out: nowhere. */
  readonly byNamespace?: Readonly<Record<string, Instant>>;
  /** The same as `keptAt`, of those. */
  readonly namespacesKeptAt?: Instant;
  /** Its start was written down, with all pauses that were over by then; left out: it was not. */
  readonly keptAt?: Instant;
  /** The end of the second in which the API server had it written, where that was yet to come when we saw it. */
  readonly writtenBy?: Instant;
}

const none: readonly ObservedTaint[] = [];

/**
 * The NoExecute taints of every node and since when each counts: since taint.timeAdded, else since
 * we first saw it, which is remembered for as long as the taint stays and, by the annotation that
 * taint-clock-writer.ts keeps, across restarts. A taint may go and come back while no process
 * watches. So what is remembered holds across a gap only if the node's taints were not written in
 * it; else a taint counts from when they were written last. The effect of pauses on that is a
 * matter of pauses.ts, except for the pauses that an earlier run has written down as gone.
 *
 * A timeAdded that is yet to come when we first see it is as good as none, and is never believed later:
 * a start that was written down for it lies before it.
 */
export class TaintClock {
  readonly #isObserved: (taint: Taint) => boolean;
  readonly #byNode = new Map<string, readonly ObservedTaint[]>();

  /** `isObserved`: the taints that count; left out: those of NoExecute. */
  constructor(isObserved: (taint: Taint) => boolean = isNoExecute) {
    this.#isObserved = isObserved;
  }

  /** In the node's order; empty for a node without such taints. */
  of(nodeName: string): readonly ObservedTaint[] {
    return this.#byNode.get(nodeName) ?? none;
  }

  /** The nodes that have any. */
  nodes(): Iterable<string> {
    return this.#byNode.keys();
  }

  /**
   * Takes in what a node is now and was before, perhaps with states in between that we did not see;
   * whether its taints changed for us.
   */
  update(now: Instant, change: NodeChange): boolean {
    const { name: nodeName, node } = change;
    const known = this.of(nodeName);
    const taints = node?.taints.filter(this.#isObserved) ?? [];
    const memory = memoryOf(change);
    const observed = taints.map((taint) => observe(now, taint, known, memory));
    if (observed.length === known.length && observed.every((entry, i) => entry === known[i])) {
      return false;
    }
    if (observed.length > 0) this.#byNode.set(nodeName, observed);
    else this.#byNode.delete(nodeName);
    return true;
  }

  /**
   * The clock had been `by` behind: apparently future times had come, and taints seen before the
   * API server had them written were seen later. The nodes where that matters.
   */
  correct(by: Millis): readonly string[] {
    if (by <= 0) return [];
    return [...this.#byNode].flatMap(([nodeName, known]) => {
      const observed = known.map((one) => corrected(one, by));
      if (observed.every((one, index) => one === known[index])) return [];
      this.#byNode.set(nodeName, observed);
      return [nodeName];
    });
  }
}

function isNoExecute({ effect }: Taint): boolean {
  return effect === 'NoExecute';
}

/** The same by a clock that is right by now: it had been `by` behind when the taint was seen. */
function corrected(observed: ObservedTaint, by: Millis): ObservedTaint {
  const { keptAt: _, ...seen } = observed;
  const { taint, startSource, writtenBy } = seen;
  if (startSource !== 'firstSeen' && startSource !== 'taintsWritten') return observed;
  const start = addedAt(taint, seen.seenAt + by);
  if (start !== null) return { ...seen, start, startSource: 'timeAdded' };
  if (writtenBy === undefined || seen.seenAt >= writtenBy) return observed;
  const seenAt = Math.min(seen.seenAt + by, writtenBy);
  return { ...observed, seenAt, start: Math.max(seen.start, seenAt) };
}

/** The part of the time before the present state of a node that may be believed. */
interface Memory {
  /** True when what we have seen ourselves still holds of taints that do not name their own time. */
  readonly isOwn: boolean;
  /** The notes of an earlier run. */
  readonly kept: Readonly<Record<string, Instant>>;
  /** When the node's taints were last written; null: not known. */
  readonly writtenAt: Instant | null;
}

function memoryOf({ node, previous, afterGap }: NodeChange): Memory {
  if (!node) return { isOwn: true, kept: {}, writtenAt: null };
  const { uid, taintsWrittenAt } = node;
  const writtenAt = finite(taintsWrittenAt);
  // The notes on the node count when we first see it; later we know better ourselves.
  if (previous?.uid === uid && !afterGap) return { isOwn: true, kept: {}, writtenAt };
  const isUnchanged = taintsWrittenAt !== null && previous?.taintsWrittenAt === taintsWrittenAt;
  return { isOwn: isUnchanged, kept: node.taintStarts ?? {}, writtenAt };
}

/** Answers the known entry itself when the taint is still the same. */
function observe(
  now: Instant,
  taint: Taint,
  known: readonly ObservedTaint[],
  { isOwn, kept, writtenAt }: Memory,
): ObservedTaint {
  const isNamed = finite(taint.timeAdded) !== null;
  const before = known.find((entry) => (isOwn || isNamed) && isEqualTaint(entry.taint, taint));
  if (before && Object.is(before.taint.timeAdded, taint.timeAdded)) return before;
  const written = finite(kept[formatTaint(taint)]);
  // A start that was written down is in the past; a clock that was wrong must not hold a pod for
  // ever.
  const keptStart = written === null ? null : Math.min(written, now);
  // A taint whose start is written down was seen then, and other taints may have been written since.
  const seenAt =
    before?.seenAt ??
    Math.min(now, writtenAt === null ? now : endOfSecond(writtenAt), keptStart ?? now);
  const seen = { taint, seenAt, ...(!before && keptByNamespace(now, taint, kept)) };
  const timeAdded = addedAt(taint, now);
  if (timeAdded === null || (keptStart !== null && keptStart < timeAdded)) {
    if (keptStart !== null) {
      return { ...seen, start: keptStart, startSource: 'firstSeen', keptAt: now };
    }
    if (before && !isNamed) return { ...seen, start: countsFrom(before), startSource: 'firstSeen' };
    const thereAt = writtenAt === null ? now : endOfSecond(writtenAt);
    if (thereAt < now) return { ...seen, start: thereAt, startSource: 'taintsWritten' };
    const isYetToCome = thereAt > now && { writtenBy: thereAt };
    return { ...seen, start: now, startSource: 'firstSeen', ...isYetToCome };
  }
  return keptStart !== null && keptStart > endOfSecond(timeAdded) && !before
    ? { ...seen, start: keptStart, startSource: 'givenBack', keptAt: now }
    : { ...seen, start: timeAdded, startSource: 'timeAdded' };
}

/** Names the start of a taint for the pods of one namespace, as it is written down. */
export function startName(taint: Taint, namespace: string | null): string {
  return namespace === null ? formatTaint(taint) : `${formatTaint(taint)} ${namespace}`;
}

function keptByNamespace(
  now: Instant,
  taint: Taint,
  kept: Readonly<Record<string, Instant>>,
): Pick<ObservedTaint, 'byNamespace' | 'namespacesKeptAt'> {
  const prefix = startName(taint, '');
  const entries = Object.entries(kept).flatMap(([name, at]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), Math.min(at, now)] as const] : [],
  );
  if (entries.length === 0) return {};
  return { byNamespace: Object.fromEntries(entries), namespacesKeptAt: now };
}

/** The instant from which a time counts that a taint is given: never before it came. */
export function countsFrom({ start, startSource }: ObservedTaint): Instant {
  return startSource === 'timeAdded' ? endOfSecond(start) : start;
}

/** The same taint as an earlier run found that it counts for pods of a namespace. */
export function countedFor(observed: ObservedTaint, namespace: string | null): ObservedTaint {
  const { byNamespace, namespacesKeptAt, taint, startSource } = observed;
  if (!byNamespace) return observed;
  const isOther = namespace !== null && Object.hasOwn(byNamespace, namespace);
  const written = isOther ? byNamespace[namespace] : undefined;
  if (written === undefined) return observed;
  const isByItself = startSource === 'timeAdded' || startSource === 'givenBack';
  const timeAdded = isByItself ? finite(taint.timeAdded) : null;
  const start = timeAdded === null ? written : Math.max(written, endOfSecond(timeAdded));
  const kept = namespacesKeptAt === undefined ? {} : { keptAt: namespacesKeptAt };
  return { ...observed, ...kept, start, startSource: 'givenBack' };
}
