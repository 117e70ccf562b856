// The state of this process for the live page: the nodes that it knows, the pods due to leave, and the
// reasons that hold them.
import {
  type AttemptState,
  type Blocker,
  formatTaint,
  type Node,
  type PodExplanation,
  readyOf,
} from '@taintmgr/core';
import { describeHold } from '@taintmgr/core/lifecycle';
import { limitId } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import { blockerKinds, decisionName, limitLine, pausedText } from '@taintmgr/k8s-adapter/explain';
import {
  type LeftOut,
  type LiveAction,
  type LiveHold,
  type LiveMoment,
  type LiveNode,
  type LivePod,
  type LiveZone,
  livePause,
  livePodOf,
  liveRules,
  trippedLimit,
} from '@taintmgr/page';
import type { ProcessStats, RunningController } from '../../stats/process-stats.ts';

/**
 * The number of pods that are shown: questions take time that evictions need. Pods that were shown before are
 * explained too.
 */
const podsMax = 500;

/** The state of things for this process. */
export function momentOf(
  { leadership }: ProcessStats,
  running: RunningController,
  isDryRun: boolean,
): LiveMoment {
  const at = running.wall();
  const nodes = running.nodes();
  const explained = explainedIn(running, nodes);
  const pods = explained.flatMap((one) => podOf(one, at)).slice(0, podsMax);
  const { pending, held, blocked } = running.counts();
  const shown = pods.filter(({ state }) => state === 'Evict' || state === 'Held').length;
  const leader = running.leader();
  const others = leader === '' ? 'No process leads' : `${leader} leads and evicts here`;
  const live = nodes.map(nodeOf);
  return {
    at,
    evictedBy: leadership.held
      ? 'This process of taintmgr-controller evicts here'
      : `${others}; this process stands by`,
    warnings: isDryRun ? ['this is a dry run: this process evicts nothing'] : [],
    notes: [],
    nodes: live,
    zones: zonesOf(running, live, pods, at),
    pods,
    podsLeftOut: pods.length < podsMax ? 0 : Math.max(1, pending + held + blocked - shown),
    actions: [...actionsOf(running), ...liveRules(explained)],
  };
}

/** A pod that `momentOf` has no room for: it is asked about alone. */
export function leftOutOf(running: RunningController): LeftOut {
  return ({ uid, namespace, pod: name }) => {
    const explanation = running.explain(running.now(), { kind: 'pod', namespace, name, uid });
    const found = explanation?.kind === 'pod' ? podOf(explanation, running.wall()) : [];
    return 'uid' in found ? found : null;
  };
}

function nodeOf(node: Node): LiveNode {
  const { name, zone = '', unschedulable = false, taints } = node;
  const status = readyOf(node.conditions)?.status;
  const ready = status === 'True' || status === 'False' ? status : 'Unknown';
  return { name, zone, ready, cordoned: unschedulable, taints: taints.map(formatTaint) };
}

/** The pods of nodes from which pods may have to leave, until enough of them are due to leave. */
function explainedIn(
  running: RunningController,
  nodes: readonly Node[],
): readonly PodExplanation[] {
  const all: PodExplanation[] = [];
  const concerned = new Set(running.nodesOfTaints());
  let leaving = 0;
  for (const { name, drains = [] } of nodes) {
    if (leaving >= podsMax) break;
    if (drains.length === 0 && !concerned.has(name)) continue;
    const explanation = running.explain(running.now(), { kind: 'node', name });
    if (explanation?.kind !== 'node') continue;
    const going = explanation.pods.filter((one) => decisionName({ explanation: one }) !== 'Keep');
    leaving += going.length;
    all.push(...going);
  }
  return all;
}

/** A pod that is due to leave, is leaving, or whose fate is unknown; nothing for pods that stay. */
function podOf(explanation: PodExplanation, at: Instant): LivePod | readonly [] {
  const state = decisionName({ explanation });
  const evictor = state === 'Terminating' || state === 'Unknown' ? null : 'taintmgr-controller';
  const given = { at, state, evictor, isEstimate: false, holds: holdsOf(explanation, at) };
  return livePodOf(explanation, given) ?? [];
}

function holdsOf({ attempt, blocker }: PodExplanation, at: Instant): readonly LiveHold[] {
  const limit = attempt?.kind === 'queued' && attempt.hit ? limitHold(attempt, at) : [];
  const asked: readonly LiveHold[] =
    attempt?.kind === 'asked' ? [{ kind: 'refused', name: '', text: attempt.hold }] : [];
  return [...limit, ...asked, ...(blocker ? [blockerHold(blocker)] : [])];
}

function limitHold(
  { hit, roomAt }: Extract<AttemptState, { readonly roomAt: Instant | null }>,
  at: Instant,
): readonly LiveHold[] {
  const { tripped } = hit;
  const limited = { id: limitId(hit), tripped, goesAt: null, notBefore: roomAt ?? at };
  return [{ kind: 'limit', name: limited.id, text: limitLine(limited, at) }];
}

function blockerHold({ code, message }: Blocker): LiveHold {
  const kinds: Readonly<Record<string, string>> = blockerKinds;
  return { kind: kinds[code] ?? 'refused', name: '', text: message };
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
    const waiting = there.filter(({ state }) => state === 'Evict');
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
      heldPods: there.filter(({ state: one }) => one === 'Held').length,
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
  const pauses = running.pauses().filter(({ isOver }) => !isOver);
  const tripped = running.limits(running.now()).filter((one) => one.tripped);
  return [
    ...pauses.map(({ pause }) => livePause(pause, pausedText(pause))),
    ...tripped.map(({ id, since }) => trippedLimit(id, since)),
  ];
}
