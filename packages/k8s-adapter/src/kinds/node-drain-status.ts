// The leader's status of a NodeDrain: the progress of the drain.

import {
  characters,
  conditions,
  count,
  list,
  object,
  observedGeneration,
  text,
  time,
  word,
} from './fields.ts';
import type { TypeOf } from './schema.ts';

export const nodeDrainStatus = object('Progress of the drain.', {
  observedGeneration,
  observedSelector: text(
    'The nodeSelector that selected the nodes when the drain started, as JSON.',
    65536,
  ),
  phase: word('Phase of the drain.', [
    'Blocked',
    'Drained',
    'Failed',
    'Paused',
    'Pending',
    'Running',
    'TimedOut',
    'Undoing',
  ]),
  wave: text('Name of the current wave. Unset if the drain has no waves or all are finished.', 512),
  startedAt: time('When the drain started.'),
  endedAt: time('When the drain ended.'),
  nodes: count('Number of nodes in the drain.'),
  nodesDrained: count('Number of nodes that are drained.'),
  podsGone: count('Number of pods that have left.'),
  podsLeft: count('Number of pods that have not left.'),
  podsStaying: count(
    'Number of pods that stay on nodes whose drain has started, because they tolerate the taint or are kept. Static pods and pods of DaemonSets are not counted.',
  ),
  daemonSetsKeptOff: list(
    'DaemonSets that do not tolerate the taint. If one of their pods ends, it is not recreated on these nodes until the drain is undone.',
    100,
    text('namespace/name', 320),
  ),
  progress: text('Percentage of pods that have left, such as 40%.', 8),
  expectedEnd: time('When the drain is expected to end at its current pace. Unset if unknown.'),
  nodeStates: list(
    'Progress of each node. If there are more than 1000, nodes whose drain has started come first.',
    1000,
    object(
      'Progress of a node.',
      {
        name: text('Name of the node.', 253),
        phase: word('Phase of the node.', [
          'Drained',
          'Draining',
          'Failed',
          'Gone',
          'Held',
          'Pending',
          'Tainting',
        ]),
        startedAt: time('When the drain of the node started.'),
        waitsSince: time('When the node, without pods, began to wait for its afterNode hooks.'),
        endedAt: time('When the drain of the node ended.'),
        podsGone: count('Number of pods that have left the node.'),
        podsLeft: count('Number of pods that have not left the node.'),
        reason: text('One-word reason why the node failed or is held.', 64),
        message: text('Human-readable form of the reason.', 256),
      },
      { required: ['name', 'phase'] },
    ),
  ),
  pods: list(
    'Pods that have not left; blocked and held pods come first. After a change of leader, the new leader uses the UIDs to tell which pods left in between.',
    100,
    object(
      'Progress of a pod.',
      {
        node: text('Node of the pod.', 253),
        pod: text('namespace/name', 320),
        uid: text('UID of the pod.', 64),
        state: text('State of the pod.', 32),
        verdict: text(
          'Verdict on what resolves the wait, as in kubectl taintmgr explain: resolves, needsTime, othersAct (the operator of the workload), askOperator, never (manual action is required), or unknown.',
          32,
        ),
        message: text('Human-readable reason why the pod has not left.', 1024),
      },
      { required: ['node', 'pod', 'state'] },
    ),
  ),
  volumeWaits: list(
    'StatefulSets whose next pod waits for volumes to be detached.',
    100,
    object(
      'A StatefulSet that waits.',
      {
        statefulSet: text('namespace/name', 320),
        since: time('When it began to wait.'),
      },
      { required: ['statefulSet', 'since'] },
    ),
  ),
  notReplaced: list(
    'Pods that the drain evicted and that have no replacement yet. limits.maxUnavailable counts them.',
    500,
    object(
      'An evicted pod without a replacement.',
      {
        workload: text('namespace/kind/name', 384),
        uid: text('UID of the pod.', 64),
        since: time('When the eviction of the pod was requested.'),
        others: list(
          'UIDs of newer pods that replace other evicted pods.',
          100,
          text('UID of a pod.', 64),
        ),
      },
      { required: ['workload', 'uid', 'since'] },
    ),
  ),
  blockers: list(
    'Reasons why the drain does not proceed. At most 32 are listed.',
    32,
    characters(1024),
  ),
  conditions,
});

/** The status of a NodeDrain. */
export type NodeDrainStatus = TypeOf<typeof nodeDrainStatus>;
