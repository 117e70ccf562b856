// A NodeDrain as the engine is given it.
import type { PodGroup } from '../../pod-group.ts';
import type { DrainWave, KnownDrainNode, NodeDrain } from '../../values.ts';
import { durationOf, type Metadata, timeOf } from '../parts.ts';
import type { NodeDrainSpec } from './spec.ts';
import type { NodeDrainStatus } from './status.ts';
import { drainWaitsOf } from './waits-value.ts';

/** What keeps a deleted NodeDrain until what it has set on nodes is undone. */
export const drainFinalizer = 'taintmgr.dev/undo-drain';

/** What the engine is given; `status` is what it has said of the drain itself. */
export function nodeDrainOf(
  { name, uid, generation, created, isDeleted, finalizers }: Metadata,
  spec: NodeDrainSpec,
  status: NodeDrainStatus | null,
): NodeDrain {
  const { taint, limits, timeouts, pods, budgets } = spec;
  const takesLaterNodes = spec.laterNodes === 'Drain';
  const { phase = 'Pending', observedGeneration = null } = status ?? {};
  const hasEnded = ['Drained', 'Failed', 'TimedOut'].includes(phase);
  return {
    ...{ name, uid, generation, created, isDeleted },
    isGuarded: finalizers.includes(drainFinalizer),
    nodes: spec.nodes ?? null,
    selector: spec.nodeSelector ?? null,
    takesLaterNodes,
    takesPlannedNodesOnly: spec.maintenancePlanned === 'Require',
    taint: { ...taint, timeAdded: null },
    cordon: cordons[spec.cordon],
    tolerations: tolerations[spec.tolerations],
    takesUnmanaged: pods.withoutController,
    takesEmptyDir: pods.withEmptyDir,
    waitCompleted: pods.waitCompleted ? waitOf(pods.waitCompleted) : null,
    waitDetached: pods.waitDetached ? detachedOf(pods.waitDetached) : null,
    rolloutTimeoutMs:
      pods.singleReplicas === 'RolloutRestart' ? durationOf(timeouts.rollout) : null,
    isByPriority: pods.order === 'ByPriority',
    lastPods: (pods.last ?? []).map(groupOf),
    gracePeriodSeconds: pods.gracePeriodSeconds ?? null,
    requestsEvictions: pods.evictBy === 'EvictionRequest',
    requestTimeoutMs: durationOf(timeouts.evictionRequest),
    budgets: budgetPolicies[budgets.policy],
    deleteAfterMs: durationOf(budgets.deleteAfter),
    isZoneByZone: spec.order === 'ByZone',
    waves: (spec.waves ?? []).map(waveOf),
    nodesAtOnceMax: partOf(limits.nodesAtOnce),
    heldUpNodesMax: limits.heldUpNodes,
    maxUnavailable: limits.maxUnavailable === undefined ? null : partOf(limits.maxUnavailable),
    podsAtOnceMax: limits.podsAtOnce,
    // 0: as long as it takes, as with `--timeout`.
    nodeTimeoutMs: durationOf(timeouts.node) || null,
    skipTerminatingMs: durationOf(timeouts.terminatingPods),
    rollsBack: spec.onFailure === 'RollBack',
    until: timeOf(spec.until),
    ttlMs: ttlOf(spec),
    isPaused: spec.paused,
    ...drainWaitsOf(spec),
    known: (status?.nodeStates ?? []).map(knownNode),
    podsLeft: (status?.pods ?? []).flatMap(({ node, uid: pod }) => {
      return pod === undefined ? [] : [{ node, uid: pod }];
    }),
    podsGoneBefore: goneBefore(status),
    knowsAll: (status?.nodes ?? 0) <= (status?.nodeStates ?? []).length,
    volumeWaits: (status?.volumeWaits ?? []).flatMap(({ statefulSet, since }) => {
      const at = timeOf(since);
      return at === null ? [] : [{ statefulSet, since: at }];
    }),
    notReplaced: (status?.notReplaced ?? []).flatMap(
      ({ workload, uid: pod, since, others = [] }) => {
        const at = timeOf(since);
        return at === null ? [] : [{ workload, uid: pod, since: at, others }];
      },
    ),
    startedAt: timeOf(status?.startedAt),
    observedGeneration,
    observedSelector: status?.observedSelector ?? null,
    isOver: hasEnded && observedGeneration === generation && !takesLaterNodes,
  };
}

function ttlOf({ ttlSecondsAfterFinished: seconds }: NodeDrainSpec): NodeDrain['ttlMs'] {
  return seconds === undefined ? null : seconds * 1000;
}

type Wave = NonNullable<NodeDrainSpec['waves']>[number];
type Wait = NonNullable<NodeDrainSpec['pods']['waitCompleted']>;
type Group = NonNullable<NodeDrainSpec['pods']['last']>[number];

function waveOf({ name, nodeSelector, nodesAtOnce }: Wave): DrainWave {
  return { name, nodes: nodeSelector, nodesAtOnceMax: nodesAtOnce ?? null };
}

function waitOf({ podSelector, timeout }: Wait): NodeDrain['waitCompleted'] {
  return { pods: podSelector ?? null, timeoutMs: durationOf(timeout) ?? 0 };
}

type Detached = NonNullable<NodeDrainSpec['pods']['waitDetached']>;

function detachedOf({ timeout, onTimeout }: Detached): NodeDrain['waitDetached'] {
  return { timeoutMs: durationOf(timeout) ?? 0, goesOn: onTimeout === 'GoOn' };
}

function groupOf({ namespaces = [], podSelector }: Group): PodGroup {
  return { namespaces, pods: podSelector ?? null };
}

function partOf(limit: number | string): number | `${number}%` {
  return typeof limit === 'string' ? `${Number(limit.slice(0, -1))}%` : limit;
}

const cordons = { AtStart: 'atStart', AtTurn: 'atTurn', Never: 'never' } as const;
const tolerations = { Ignore: 'ignore', NoWait: 'noWait', Respect: 'respect' } as const;
const budgetPolicies = {
  DeleteAfter: 'deleteAfter',
  Ignore: 'ignore',
  Respect: 'respect',
} as const;

type NodeState = NonNullable<NodeDrainStatus['nodeStates']>[number];

/** What the whole counts and none of its nodes. */
function goneBefore(status: NodeDrainStatus | null): number {
  const { podsGone: all = 0, nodeStates = [] } = status ?? {};
  const listed = nodeStates.reduce((sum, { podsGone = 0 }) => sum + podsGone, 0);
  return Math.max(0, all - listed);
}

function knownNode({
  name,
  phase,
  reason,
  message,
  startedAt,
  waitsSince,
  endedAt,
  podsGone = 0,
  podsLeft = 0,
}: NodeState): KnownDrainNode {
  return {
    ...{ name, phase, reason: reason ?? '', message: message ?? '', podsGone, podsLeft },
    startedAt: timeOf(startedAt),
    waitsSince: timeOf(waitsSince),
    endedAt: timeOf(endedAt),
  };
}
