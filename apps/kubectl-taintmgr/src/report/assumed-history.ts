// The events that bring an engine to the state of a cluster that was read.
import { type Event, formatTaint, type Node, type Pod } from '@taintmgr/core';
import { endOfSecond, type Instant } from '@taintmgr/core/time';

/** One thing that happened, and when. */
export interface PastEvent {
  readonly at: Instant;
  readonly event: Event;
}

/**
 * What must have happened for the cluster to look as it does at `now`: each taint came when it says
 * so, each pod when it was bound, and time went by until `until`. Told to an engine in this order,
 * it has run all along, as far as the objects show; a taint without a time
 * comes when the node's taints were last written, or, where that is not known, at `now`.
 */
export function assumedHistory(
  now: Instant,
  until: Instant,
  nodes: readonly Node[],
  pods: readonly Pod[],
): readonly PastEvent[] {
  const starts = new Map(nodes.map((node) => [node.name, taintStarts(now, node)] as const));
  const nodeEvents = nodes.flatMap((node) => nodeHistory(node, starts.get(node.name) ?? []));
  const known = [...pods.map((pod) => pod.boundAt ?? now), ...nodeEvents.map(({ at }) => at)];
  const begin = known.reduce((earliest, at) => Math.min(earliest, at), now);
  const events: readonly PastEvent[] = [
    // Of what came at one instant the pods come first: a taint finds them there.
    ...pods.map((pod): PastEvent => {
      const at = Math.min(now, pod.boundAt ?? begin);
      return { at, event: { kind: 'podUpsert', pod } };
    }),
    ...nodeEvents,
  ];
  const bare = nodes.map((node): PastEvent => {
    return { at: begin, event: { kind: 'nodeUpsert', node: { ...node, taints: [] } } };
  });
  const synced: PastEvent = { at: begin, event: { kind: 'synced' } };
  const ticks = expiries(now, pods, starts)
    .filter((at) => at <= until)
    .map((at): PastEvent => ({ at, event: { kind: 'tick' } }));
  return [...bare, synced, ...[...events, ...ticks].sort(inOrder)];
}

type TaintStarts = readonly { readonly taint: Node['taints'][number]; readonly start: Instant }[];

function taintStarts(now: Instant, node: Node): TaintStarts {
  const { taints, taintStarts: written = {}, taintsWrittenAt } = node;
  const thereAt = taintsWrittenAt == null ? now : endOfSecond(taintsWrittenAt);
  return taints.map((taint) => {
    const start = taint.timeAdded ?? written[formatTaint(taint)] ?? thereAt;
    return { taint, start: Math.min(now, start) };
  });
}

/** The node anew with each taint that came. */
function nodeHistory(node: Node, taints: TaintStarts): readonly PastEvent[] {
  const starts = new Set(taints.map(({ start }) => start));
  return Array.from(starts, (at): PastEvent => {
    const there = taints.filter(({ start }) => start <= at).map(({ taint }) => taint);
    return { at, event: { kind: 'nodeUpsert', node: { ...node, taints: there } } };
  });
}

/** When the time that a pod tolerates a taint is over: somebody who was there did something then. */
function expiries(
  now: Instant,
  pods: readonly Pod[],
  starts: ReadonlyMap<string, TaintStarts>,
): readonly Instant[] {
  const found = new Set<Instant>();
  for (const pod of pods) {
    const seconds = pod.tolerations.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
    for (const { start } of starts.get(pod.nodeName) ?? []) {
      const begin = Math.max(start, Math.min(now, pod.boundAt ?? start));
      for (const count of seconds) found.add(begin + Math.max(0, Number(count)) * 1000);
    }
  }
  return [...found];
}

function inOrder(a: PastEvent, b: PastEvent): number {
  return a.at - b.at;
}
