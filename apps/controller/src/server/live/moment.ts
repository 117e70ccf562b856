// The state of this process for the live page: the nodes that it knows, the pods that are to go, and what holds them.
import {
  describeReason,
  formatTaint,
  type Node,
  type PodExplanation,
  readyOf,
} from '@taintmgr/core';
import { describeHold } from '@taintmgr/core/lifecycle';
import { limitId, resumeCommand } from '@taintmgr/core/policy';
import type {
  LeftOut,
  LiveAction,
  LiveHold,
  LiveMoment,
  LiveNode,
  LivePod,
  LiveZone,
} from '@taintmgr/page';
import type { ProcessStats, RunningController } from '../../stats/process-stats.ts';

/** So many pods are shown at most: to ask takes time that evictions need. Those shown before are asked about too. */
const podsMax = 500;

/** The state of things for this process. */
export function momentOf(
  { leadership }: ProcessStats,
  running: RunningController,
  isDryRun: boolean,
): LiveMoment {
  const at = running.wall();
  const nodes = running.nodes();
  const pods = podsIn(running, nodes);
  const { pending, held, blocked } = running.counts();
  const shown = pods.filter(({ state }) => state !== 'terminating').length;
  const leader = running.leader() || 'nobody';
  const live = nodes.map(nodeOf);
  return {
    at,
    evictedBy: leadership.held
      ? 'this process'
      : `${leader}, who leads; this process stands by and evicts nothing`,
    warnings: isDryRun ? ['this is a dry run: this process evicts nothing'] : [],
    notes: [],
    nodes: live,
    zones: zonesOf(running, live, pods, at),
    pods,
    podsLeftOut: pods.length < podsMax ? 0 : Math.max(1, pending + held + blocked - shown),
    actions: actionsOf(running),
  };
}

/** A pod that `momentOf` has no room for: it is asked about alone. */
export function leftOutOf(running: RunningController): LeftOut {
  return ({ uid, namespace, pod: name }) => {
    const explanation = running.explain(running.now(), { kind: 'pod', namespace, name, uid });
    return (explanation?.kind === 'pod' && podOf(explanation)[0]) || null;
  };
}

function nodeOf(node: Node): LiveNode {
  const { name, zone = '', unschedulable = false, taints } = node;
  const status = readyOf(node.conditions)?.status;
  const ready = status === 'True' || status === 'False' ? status : 'Unknown';
  return { name, zone, ready, cordoned: unschedulable, taints: taints.map(formatTaint) };
}

function podsIn(running: RunningController, nodes: readonly Node[]): readonly LivePod[] {
  const pods: LivePod[] = [];
  for (const { name, taints, drains = [] } of nodes) {
    if (pods.length >= podsMax) break;
    if (drains.length === 0 && !taints.some(({ effect }) => effect === 'NoExecute')) continue;
    const explanation = running.explain(running.now(), { kind: 'node', name });
    if (explanation?.kind === 'node') pods.push(...explanation.pods.flatMap(podOf));
  }
  return pods.slice(0, podsMax);
}

/** A pod that is to leave, or on its way out; nothing of those that stay. */
function podOf(explanation: PodExplanation): readonly LivePod[] {
  const { pod, decision } = explanation;
  const isGoing = pod.deletionTimestamp !== null;
  if (decision.kind === 'keep' && !isGoing) return [];
  const [first] = decision.because;
  const dueAt = decision.kind === 'evict' && !isGoing ? decision.deadline : null;
  return [
    {
      ...{ uid: pod.uid, namespace: pod.namespace, pod: pod.name, node: pod.nodeName },
      workload: pod.owner ? `${pod.owner.kind} ${pod.namespace}/${pod.owner.name}` : null,
      state: isGoing ? 'terminating' : decision.kind === 'pause' ? 'paused' : 'waits',
      setAt: first && 'start' in first ? first.start : null,
      dueAt: dueAt !== null && Number.isFinite(dueAt) ? dueAt : null,
      remainingSeconds: decision.kind === 'pause' ? decision.remaining / 1000 : null,
      isEstimate: false,
      evictor: isGoing ? null : 'taintmgr-controller',
      because: decision.because.map(describeReason),
      holds: holdsOf(explanation),
    },
  ];
}

function holdsOf({ decision, attempt, blocker }: PodExplanation): readonly LiveHold[] {
  const [first] = decision.because;
  const pause: readonly LiveHold[] =
    decision.kind === 'pause' && first?.code === 'Paused'
      ? [{ kind: 'pause', name: first.pause, text: describeReason(first) }]
      : [];
  const hit = attempt?.kind === 'queued' ? attempt.hit : null;
  const text = hit?.tripped ? 'it has tripped, until it is resumed' : 'its turn comes later';
  const limit = hit ? [{ kind: 'limit', name: limitId(hit), text }] : [];
  const asked: readonly LiveHold[] =
    attempt?.kind === 'asked' ? [{ kind: 'refused', name: '', text: attempt.hold }] : [];
  const refused = blocker ? [{ kind: 'refused', name: '', text: blocker.message }] : [];
  return [...pause, ...limit, ...asked, ...refused];
}

function zonesOf(
  running: RunningController,
  nodes: readonly LiveNode[],
  pods: readonly LivePod[],
  at: number,
): readonly LiveZone[] {
  const known = new Map(running.zones(running.now()).map((zone) => [zone.name, zone] as const));
  const byZone = grouped(nodes, ({ zone }) => zone);
  const zoneOfNode = new Map(nodes.map(({ name, zone }) => [name, zone] as const));
  const podsByZone = grouped(pods, ({ node }) => zoneOfNode.get(node) ?? '');
  return Array.from(byZone, ([name, members]): LiveZone => {
    const there = podsByZone.get(name) ?? [];
    const waiting = there.filter(({ state }) => state === 'waits');
    const due = waiting.filter(({ dueAt }) => dueAt !== null && dueAt <= at);
    const { state = null, hold = null } = known.get(name) ?? {};
    return {
      name,
      state: state ?? 'not judged here',
      held: hold && describeHold(hold),
      nodes: members.length,
      notReady: members.filter(({ ready }) => ready !== 'True').length,
      tainted: members.filter(({ taints }) => taints.some((one) => one.endsWith(':NoExecute')))
        .length,
      pending: waiting.length,
      overdue: due.length,
      paused: there.filter(({ state: one }) => one === 'paused').length,
      blocked: due.filter(({ holds }) => holds.length > 0).length,
      stuck: 0,
    };
  }).sort((one, other) => (one.name < other.name ? -1 : 1));
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
}

function actionsOf(running: RunningController): readonly LiveAction[] {
  const pauses = running.pauses().flatMap(({ pause, isOver }): readonly LiveAction[] => {
    const { name, since, until, reason } = pause;
    const text = reason === '' ? 'holds evictions' : `holds evictions: ${reason}`;
    return isOver ? [] : [{ kind: 'pause', name, from: since, until, text }];
  });
  const limits = running.limits(running.now()).flatMap((one): readonly LiveAction[] => {
    const { id, since, tripped } = one;
    if (!tripped) return [];
    const text = `has tripped: its pods wait until somebody runs: ${resumeCommand(id)}`;
    return [{ kind: 'limit', name: id, from: since, until: null, text }];
  });
  return [...pauses, ...limits];
}
