// The events that bring kube-controller-manager to the state of a cluster that was read.
import type { Event, Taint } from '@taintmgr/core';
import { endOfSecond, type Instant } from '@taintmgr/core/time';
import type { NodeFacts, PodFacts } from '../cluster/facts.ts';

/** One thing that happened, and when. */
export interface PastEvent {
  readonly at: Instant;
  readonly event: Event;
}

/** What is known of a cluster and its past at `now`. */
export interface KnownPast {
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
 * What must have happened for the cluster to look as it does: each taint came when the state with it
 * was written, each pod when it was bound, and got other tolerations when these were written. Times are
 * kept in whole seconds, and count from their end; of what came in one second the API server's order
 * of writes decides, or else pods come first, so that a taint finds them there.
 */
export function assumedHistory({ now, nodes, pods }: KnownPast): readonly PastEvent[] {
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

/** The pod as it was bound, and anew with each change of its tolerations since: nobody sees it before. */
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
 * The node with each state of its taints; how the first came about only its objects show. A state whose
 * time nobody knows came before the next one.
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
 * What comes later in one second happened later: kube-controller-manager keeps a timer that was set
 * before, and replaces one that was set at the same instant.
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
