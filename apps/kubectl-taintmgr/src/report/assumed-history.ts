// The events that bring an engine to the state of a cluster that was read.
import { type Event, formatTaint, type Node, type Pod } from '@taintmgr/core';
import { endOfSecond, type Instant } from '@taintmgr/core/time';

/** One thing that happened, and when. */
export interface Happening {
  readonly at: Instant;
  readonly event: Event;
}

/**
 * What must have happened for the cluster to look as it does at `now`: each taint came when it says
 * so, each pod when it was bound, and time went by until `until`. Told to an engine in this order,
 * it has been there all along, as far as the objects tell; a taint that does not say since when it
 * is there comes when the node's taints were last written, or, where that is not known, at `now`.
 */
export function retell(
  now: Instant,
  until: Instant,
  nodes: readonly Node[],
  pods: readonly Pod[],
): readonly Happening[] {
  const starts = new Map(nodes.map((node) => [node.name, taintStarts(now, node)] as const));
  const nodeHappenings = nodes.flatMap((node) => retellNode(node, starts.get(node.name) ?? []));
  const known = [...pods.map((pod) => pod.boundAt ?? now), ...nodeHappenings.map(({ at }) => at)];
  const begin = known.reduce((earliest, at) => Math.min(earliest, at), now);
  const told: readonly Happening[] = [
    // Of what came at one instant the pods come first: a taint finds them there.
    ...pods.map((pod): Happening => {
      const at = Math.min(now, pod.boundAt ?? begin);
      return { at, event: { kind: 'podUpsert', pod } };
    }),
    ...nodeHappenings,
  ];
  const bare = nodes.map((node): Happening => {
    return { at: begin, event: { kind: 'nodeUpsert', node: { ...node, taints: [] } } };
  });
  const synced: Happening = { at: begin, event: { kind: 'synced' } };
  const ticks = expiries(now, pods, starts)
    .filter((at) => at <= until)
    .map((at): Happening => ({ at, event: { kind: 'tick' } }));
  return [...bare, synced, ...[...told, ...ticks].sort(inOrder)];
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
function retellNode(node: Node, taints: TaintStarts): readonly Happening[] {
  const starts = new Set(taints.map(({ start }) => start));
  return Array.from(starts, (at): Happening => {
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

function inOrder(a: Happening, b: Happening): number {
  return a.at - b.at;
}
