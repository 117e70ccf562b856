// The coming actions of kube-controller-manager, by its own machine and the history that objects
// show.
import {
  type Command,
  createEngine,
  type Decision,
  type Engine,
  type Event,
  type Pod,
  type Taint,
} from '@taintmgr/core';
import type { Config } from '@taintmgr/core/model';
import { endOfSecond, type Instant, type Millis } from '@taintmgr/core/time';
import type { NodeFacts, PodFacts } from '../survey/facts.ts';

/** The known past, and since when kube-controller-manager has been active; null: all along. */
interface UpstreamPast extends KnownPast {
  /** The pods as they are now; their last states may be as old as their tolerations. */
  readonly present: readonly PodFacts[];
  readonly since: Instant | null;
  /** True when tolerations with Lt and Gt count; left out: false. */
  readonly comparisonOperators?: boolean;
  /**
   * The pod of taintmgr-controller, where that acts by these rules and keeps its last replica; left
   * out: no replica is kept.
   */
  readonly ownPod?: Config['ownPod'];
}

type Eviction = Extract<Decision, { kind: 'evict' }>;

/** A deletion that was sent this long ago is answered. */
const answerMsMax: Millis = 2_000;
/** kube-controller-manager takes a mark back this long after it was set, and a moment later. */
const markLastsMs: Millis = 120_000 - 2_000;
const marked = 'DeletionByTaintManager';

/**
 * The machine that does what kube-controller-manager 1.36.2 does, put through what has happened as
 * far as objects show. The machine starts empty when kube-controller-manager started. A pod that
 * bears its mark, or did until that was taken back, and is not being deleted was refused to it five
 * times; any other deletion is taken for a success.
 */
export class UpstreamForecast {
  readonly #engine: Engine;
  readonly #present: ReadonlyMap<string, PodFacts>;
  readonly #now: Instant;
  readonly #ownPod: Config['ownPod'];
  /** Evictions that were due, by the uid of the pod. */
  readonly #due = new Map<string, Eviction>();
  #latest = Number.NEGATIVE_INFINITY;
  /** Its last decisions, by node and uid: a caller that asks about one pod asks about all. */
  #decisions: {
    readonly at: Instant;
    readonly byNode: Map<string, ReadonlyMap<string, Decision>>;
  } = { at: Number.NaN, byNode: new Map() };

  constructor(past: UpstreamPast) {
    const { since, comparisonOperators = false, ownPod = null, present, ...known } = past;
    const semantics = 'upstream-1.36';
    this.#engine = createEngine({ semantics, comparisonOperators, ownPod, leader: false });
    this.#ownPod = ownPod;
    this.#present = new Map(present.map((facts) => [facts.pod.uid, facts] as const));
    this.#now = known.now;
    const events = assumedHistory(known);
    const begin = events[0]?.at ?? known.now;
    const start = Math.min(known.now, Math.max(begin, since ?? begin));
    for (const { at, event } of events.filter((one) => one.at <= start)) this.#take(at, event);
    this.#take(start, { kind: 'leadership', held: true });
    for (const { at, event } of events.filter((one) => one.at > start)) this.#take(at, event);
    this.advance(known.now);
  }

  /** Lets it carry out everything that is due until then. */
  advance(until: Instant): void {
    for (let wake = this.#wake(); wake !== null && wake <= until; wake = this.#wake()) {
      this.#handle(wake, { kind: 'tick' });
    }
    this.#latest = Math.max(this.#latest, until);
  }

  /**
   * The decision on a pod as of `at`: the due one, or the one before; null: it knows no such pod.
   */
  decisionOn(at: Instant, { pod }: PodFacts): Decision | null {
    this.advance(at);
    const decision = this.#decisionOf(pod);
    if (decision?.kind === 'evict') return decision;
    return this.#due.get(pod.uid) ?? decision;
  }

  #decisionOf({ uid, namespace, name, nodeName }: Pod): Decision | null {
    if (this.#decisions.at !== this.#latest)
      this.#decisions = { at: this.#latest, byNode: new Map() };
    const { byNode } = this.#decisions;
    const known = byNode.get(nodeName) ?? this.#decisionsOn(nodeName);
    byNode.set(nodeName, known);
    if (known.has(uid)) return known.get(uid) ?? null;
    const explanation = this.#engine.explain(this.#latest, { kind: 'pod', namespace, name });
    return explanation?.kind === 'pod' ? explanation.decision : null;
  }

  #decisionsOn(name: string): ReadonlyMap<string, Decision> {
    const explanation = this.#engine.explain(this.#latest, { kind: 'node', name });
    const pods = explanation?.kind === 'node' ? explanation.pods : [];
    return new Map(pods.map(({ pod, decision }) => [pod.uid, decision] as const));
  }

  #wake(): Instant | null {
    const wake = this.#engine.nextWake();
    return wake === null ? null : Math.max(wake, this.#latest);
  }

  #take(at: Instant, event: Parameters<Engine['handle']>[1]): void {
    // Evictions that were due before come before.
    this.advance(Math.max(at, this.#latest) - 1);
    this.#handle(Math.max(at, this.#latest), event);
  }

  #handle(at: Instant, event: Parameters<Engine['handle']>[1]): void {
    this.#latest = Math.max(this.#latest, at);
    for (const command of this.#engine.handle(this.#latest, event)) this.#answer(command);
  }

  #answer(command: Command): void {
    if (command.kind !== 'deletePod') return;
    const { id, because } = command;
    const { uid } = command.pod;
    if (this.#wasRefused(uid)) {
      this.#due.delete(uid);
      const outcome = { kind: 'failed', status: null, message: '', retryAfter: null } as const;
      this.#handle(this.#latest, { kind: 'result', id, outcome });
      return;
    }
    this.#due.set(uid, { kind: 'evict', deadline: this.#latest, because });
    this.#handle(this.#latest, { kind: 'result', id, outcome: { kind: 'done' } });
    const pod = this.#present.get(uid)?.pod;
    // Of the replicas it is one less.
    if (pod && pod.namespace === this.#ownPod?.namespace) {
      this.#handle(this.#latest, {
        kind: 'podUpsert',
        pod: { ...pod, deletionTimestamp: this.#latest },
      });
    }
  }

  #wasRefused(uid: string): boolean {
    const facts = this.#present.get(uid);
    if (!facts || facts.pod.deletionTimestamp !== null) return false;
    const { pod, unmarkedAt } = facts;
    if (pod.disruption?.reason === marked) return this.#now - this.#latest > answerMsMax;
    return unmarkedAt !== null && endOfSecond(unmarkedAt) - this.#latest >= markLastsMs;
  }
}

/** An event of the past, and its time. */
interface PastEvent {
  readonly at: Instant;
  readonly event: Event;
}

/** The known state of a cluster and its past at `now`. */
interface KnownPast {
  readonly now: Instant;
  /** Of each node its states in order, the present one last. */
  readonly nodes: readonly (readonly NodeFacts[])[];
  /** The same of each pod. */
  readonly pods: readonly (readonly PodFacts[])[];
}

/** With the place of the write in the order of all writes; null: not known. */
interface Placed extends PastEvent {
  readonly place: bigint | null;
}

/**
 * The history that the cluster's state implies: each taint came when the state with it was written,
 * each pod when it was bound, and got other tolerations when these were written. Times are kept in
 * whole seconds, and count from their end; of what came in one second the API server's order of
 * writes decides, or else pods come first, so that a taint finds them there.
 */
function assumedHistory({ now, nodes, pods }: KnownPast): readonly PastEvent[] {
  const placed = [
    ...pods.flatMap((states) => podHistory(now, states)),
    ...nodes.flatMap((states) => nodeHistory(now, states)),
  ].sort(inOrder);
  const known = placed.map(({ at }) => at).filter(Number.isFinite);
  const begin = known.reduce((earliest, at) => Math.min(earliest, at), now);
  const events = spread(placed.map(({ at, event }) => ({ at: Math.max(begin, at), event })));
  const first = events[0]?.at ?? begin;
  const bare = nodes.flatMap(([facts]): PastEvent[] => {
    if (!facts) return [];
    return [{ at: first, event: { kind: 'nodeUpsert', node: { ...facts.node, taints: [] } } }];
  });
  return [...bare, { at: first, event: { kind: 'synced' } }, ...events];
}

/**
 * The pod as it was bound, and again with each change of its tolerations since: it is not seen
 * before.
 */
function podHistory(now: Instant, states: readonly PodFacts[]): readonly Placed[] {
  const present = states.at(-1)?.pod;
  if (!present) return [];
  const boundAt =
    present.boundAt === null ? Number.NEGATIVE_INFINITY : endOfSecond(present.boundAt);
  const asBound = states.findLastIndex(({ tolerationsWritten }) => {
    return tolerationsWritten !== null && endOfSecond(tolerationsWritten.at) <= boundAt;
  });
  return states
    .slice(Math.max(0, asBound))
    .map(({ pod, tolerationsWritten, version }, index): Placed => {
      const isFirst = index === 0;
      const writtenAt = tolerationsWritten ? endOfSecond(tolerationsWritten.at) : boundAt;
      return {
        at: Math.min(now, isFirst ? boundAt : writtenAt),
        event: { kind: 'podUpsert', pod: { ...present, tolerations: pod.tolerations } },
        place: isFirst ? null : placeOf(version),
      };
    });
}

/**
 * The node with each state of its taints; how the first came about only its objects show. A state
 * whose time is unknown came before the next one.
 */
function nodeHistory(now: Instant, states: readonly NodeFacts[]): readonly Placed[] {
  const present = states.at(-1)?.node;
  if (!present) return [];
  let until = now;
  const latestFirst = states.toReversed().flatMap((facts, index): readonly Placed[] => {
    const place = placeOf(facts.version);
    const isFirst = index === states.length - 1;
    const came = { at: writtenAt(until, facts), taints: facts.node.taints };
    const stages = isFirst ? firstStages(until, facts) : [came];
    until = came.at;
    return stages.toReversed().map(({ at, taints }): Placed => {
      return { at, event: { kind: 'nodeUpsert', node: { ...present, taints } }, place };
    });
  });
  return latestFirst.reverse();
}

/**
 * Several taints that came before anybody knows are taken for older where they say so, and for as old
 * as the last write else.
 */
function firstStages(
  until: Instant,
  facts: NodeFacts,
): readonly { readonly at: Instant; readonly taints: readonly Taint[] }[] {
  const { taints } = facts.node;
  const latest = writtenAt(until, facts);
  const startOf = ({ timeAdded }: Taint): Instant =>
    timeAdded === null ? latest : Math.min(latest, endOfSecond(timeAdded));
  const starts = [...new Set(taints.map(startOf))].sort((a, b) => a - b);
  return starts.map((at) => ({ at, taints: taints.filter((taint) => startOf(taint) <= at) }));
}

function writtenAt(until: Instant, { node: { taintsWrittenAt } }: NodeFacts): Instant {
  return taintsWrittenAt == null ? until : Math.min(until, endOfSecond(taintsWrittenAt));
}

function placeOf(version: string): bigint | null {
  return /^\d+$/.test(version) ? BigInt(version) : null;
}

/**
 * A later event within one second happened later: kube-controller-manager keeps a timer that was
 * set before, and replaces one that was set at the same instant.
 */
function spread(events: readonly PastEvent[]): readonly PastEvent[] {
  const counts = new Map<Instant, number>();
  for (const { at } of events) counts.set(at, (counts.get(at) ?? 0) + 1);
  const left = new Map(counts);
  return events.map(({ at, event }) => {
    const after = (left.get(at) ?? 1) - 1;
    left.set(at, after);
    return { at: at - after / (2 * (counts.get(at) ?? 1)), event };
  });
}

/** Before every write that there is. */
const beforeAll = -1n;

function inOrder(a: Placed, b: Placed): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  if (a.place === b.place) return 0;
  return (a.place ?? beforeAll) < (b.place ?? beforeAll) ? -1 : 1;
}
