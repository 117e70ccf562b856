// A NodeDrain as the engine is given it.
import type { NodeDrain } from '@taintmgr/core/policy';
import { engineValue, timeOf } from './engine-value.ts';
import { type NodeDrainSpec, nodeDrainSpec } from './node-drain.ts';
import type { NodeDrainStatus } from './node-drain-status.ts';
import type { Metadata } from './parts.ts';

/** What keeps a deleted NodeDrain until what it has set on nodes is undone. */
export const drainFinalizer = 'taintmgr.dev/undo-drain';

/** What the engine is given; `status` is what it has said of the drain itself. */
export function nodeDrainOf(
  { name, uid, generation, created, isDeleted, finalizers }: Metadata,
  spec: NodeDrainSpec,
  status: NodeDrainStatus | null,
): NodeDrain {
  const { phase = 'Pending', observedGeneration = null } = status ?? {};
  const hasEnded = ['Drained', 'Failed', 'TimedOut'].includes(phase);
  return {
    ...{ name, uid, generation, created, isDeleted },
    isGuarded: finalizers.includes(drainFinalizer),
    spec: engineValue(nodeDrainSpec, spec),
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
    isOver: hasEnded && observedGeneration === generation && spec.laterNodes === 'Leave',
  };
}

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
}: NodeState): NodeDrain['known'][number] {
  return {
    ...{ name, phase, reason: reason ?? '', message: message ?? '', podsGone, podsLeft },
    startedAt: timeOf(startedAt),
    waitsSince: timeOf(waitsSince),
    endedAt: timeOf(endedAt),
  };
}
