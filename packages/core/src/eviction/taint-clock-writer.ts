import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { finite, type Instant } from '../kernel/time.ts';
import type { Node, PastPause } from '../model/node.ts';
import { formatTaint } from '../model/taint.ts';
import type { StoreView } from '../store.ts';
import type { Attempts } from './attempts.ts';
import type { EvictionConfig } from './config.ts';
import type { Decider } from './decider.ts';
import type { MachineCommand } from './eviction-command.ts';
import type { Pauses } from './pauses.ts';
import { countsFrom, startName, type TaintClock } from './taint-clock.ts';

type TaintStarts = Readonly<Record<string, Instant>> | null;

/**
 * The starts of a node's taints are written down this long after the taints were written: a later
 * write then has another second, on any clock that is right within a second. The same time passes
 * before we repeat a write of ours.
 */
const quietMs = 2000;

/** The surroundings of the writer. */
interface TaintClockSite {
  readonly store: StoreView;
  readonly taints: TaintClock;
  readonly pauses: Pauses;
  readonly decider: Decider;
  readonly attempts: Attempts;
  readonly config: EvictionConfig;
}

/**
 * Keeps, on the nodes that need it, since when their taints count, so that a restarted or another
 * replica finds the same deadlines. A taint that names its own time needs nothing. The start of any
 * other is written down when the time of a pod depends on it, again whenever the node's taints are
 * written, and is removed with the taint. Where the API does not say when the taints were written,
 * a later reader could not trust the start, and nothing is written down.
 */
export class TaintClockWriter {
  readonly #site: TaintClockSite;
  readonly #writes: KeyedWrites;
  /** The last write on each node, and when it was. */
  readonly #written = new Map<string, { readonly at: Instant; readonly text: string }>();

  constructor(site: TaintClockSite) {
    this.#site = site;
    const max = site.config.evictionsInFlightMax;
    this.#writes = new KeyedWrites({ ...site.config, prefix: 'taint-starts', max });
  }

  /** Something about the node may have changed: it is looked at with the next `write`. */
  notice(now: Instant, nodeName: string): void {
    if (this.#site.config.keepTaintStarts) this.#writes.notice(now, nodeName);
  }

  /** A write under way is waited for: the node may come back under its name. */
  forget(nodeName: string): void {
    this.#written.delete(nodeName);
    if (!this.#writes.isUnderWay(nodeName)) this.#writes.forget(nodeName);
  }

  nextWake(): Instant | null {
    return this.#writes.nextWake();
  }

  /** The commands that update the annotation of the nodes to look at. */
  write(now: Instant): readonly MachineCommand[] {
    const commands: MachineCommand[] = [];
    for (const name of this.#writes.takeDue(now)) {
      const node = this.#site.store.node(name);
      const readyAt = node ? this.#readyAt(node) : now;
      const wanted = node && readyAt <= now ? this.#wantedOn(now, node) : null;
      const againAt = wanted ? this.#againAt(name, wanted) : now;
      if (readyAt > now) this.#writes.postpone(name, readyAt);
      else if (!node || !wanted) this.#writes.forget(name);
      else if (againAt > now) this.#writes.postpone(name, againAt);
      else commands.push(this.#begin(now, node, wanted));
    }
    return commands;
  }

  /** Takes a result; false when it is not one of ours. */
  answered(now: Instant, id: string, outcome: Outcome): void {
    const ended = this.#writes.settle(now, id, outcome);
    if (ended && ended.failures > 0) this.#written.delete(ended.key);
  }

  #readyAt({ taintsWrittenAt }: Node): Instant {
    const writtenAt = finite(taintsWrittenAt);
    if (writtenAt === null) return Number.NEGATIVE_INFINITY;
    return this.#site.store.clock.when(writtenAt + quietMs);
  }

  /**
   * Two replicas may both take themselves for the leader for a moment and differ: neither answers
   * the other at once.
   */
  #againAt(nodeName: string, wanted: Wanted): Instant {
    const last = this.#written.get(nodeName);
    return last?.text === JSON.stringify(wanted) ? last.at + quietMs : Number.NEGATIVE_INFINITY;
  }

  #begin(now: Instant, { name, uid, taintsWrittenAt }: Node, wanted: Wanted): MachineCommand {
    this.#written.set(name, { at: now, text: JSON.stringify(wanted) });
    const node = { nodeName: name, nodeUid: uid, taintsWrittenAt: finite(taintsWrittenAt) };
    return { kind: 'keepTaintStarts', id: this.#writes.begin(name), ...node, ...wanted };
  }

  /** Null when it is written on the node. */
  #wantedOn(now: Instant, node: Node): Wanted | null {
    const { name: nodeName } = node;
    const isKnown = node.taintsWrittenAt !== null;
    const needed = this.#neededOn(nodeName);
    const starts = isKnown
      ? this.#wantedStarts(this.#site.store.clock.wall(now), node, needed)
      : null;
    const pauses = this.#site.pauses.pastOf(nodeName).filter(({ to }) => to > needed.pausesFrom);
    if (isWritten(node, starts) && isSame(node.pastPauses ?? [], pauses)) return null;
    return { starts, pauses };
  }

  /**
   * The wanted content of the annotation: the present record of each taint, and the start of those
   * that the time of some pod depends on and that do not name their own. Pods of a namespace that
   * was paused alone have a separate entry.
   */
  #wantedStarts(
    wall: Instant,
    { name: nodeName, taintStarts = {} }: Node,
    { starts: needed }: Needed,
  ): TaintStarts {
    const observed = this.#site.taints.of(nodeName);
    const wanted: Record<string, Instant> = {};
    for (const one of observed) {
      const name = formatTaint(one.taint);
      const ofAll = this.#site.decider.countedToKeep(wall, nodeName, one, null);
      const isWanted = Object.hasOwn(taintStarts, name) || needed.has(name);
      if (ofAll.startSource !== 'timeAdded' && isWanted) wanted[name] = ofAll.start;
      const own = Object.keys(one.byNamespace ?? {});
      for (const namespace of new Set([...(needed.get(name) ?? []), ...own])) {
        const start = countsFrom(this.#site.decider.countedToKeep(wall, nodeName, one, namespace));
        if (start !== countsFrom(ofAll)) wanted[startName(one.taint, namespace)] = start;
      }
    }
    return Object.keys(wanted).length === 0 ? null : wanted;
  }

  /** The starts and pauses on which the times of pods on the node depend. */
  #neededOn(nodeName: string): Needed {
    const starts = new Map<string, Set<string>>();
    let pausesFrom = Number.POSITIVE_INFINITY;
    // Most nodes have no taints, and nothing about them has to be looked at.
    if (this.#site.taints.of(nodeName).length === 0) return { starts, pausesFrom };
    for (const pod of this.#site.store.podsOn(nodeName)) {
      const { because } = this.#site.decider.decideOnce(pod, this.#site.attempts.get(pod.uid));
      for (const reason of because) {
        // For a pod bound later too: a start found again after a restart may be later still.
        if (!this.#site.decider.countsTime(pod, reason)) continue;
        const name = formatTaint(reason.taint);
        starts.set(name, (starts.get(name) ?? new Set()).add(pod.namespace));
        if (reason.code === 'NoToleration') continue;
        if (reason.startSource === 'podBound') {
          pausesFrom = Math.min(pausesFrom, finite(pod.boundAt) ?? pausesFrom);
        } else if (reason.policy?.action === 'KubeControllerManager') {
          pausesFrom = Number.NEGATIVE_INFINITY;
        }
      }
    }
    return { starts, pausesFrom };
  }
}

/** The note to be written on a node. */
interface Wanted {
  readonly starts: TaintStarts;
  readonly pauses: readonly PastPause[];
}

/** The starts and pauses on which times of pods depend and which another run could not find. */
interface Needed {
  /** The taints whose start counts, with the namespaces of pods for which it does. */
  readonly starts: ReadonlyMap<string, ReadonlySet<string>>;
  /** Pauses that are gone matter if they ended after that. */
  readonly pausesFrom: Instant;
}

function isSame(one: readonly PastPause[], other: readonly PastPause[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A note that is there and cannot be trusted has to be removed. */
function isWritten({ taintStarts }: Node, wanted: TaintStarts): boolean {
  if (!taintStarts || !wanted) return !taintStarts && !wanted;
  const [there, names] = [Object.keys(taintStarts), Object.keys(wanted)];
  return there.length === names.length && names.every((name) => taintStarts[name] === wanted[name]);
}
