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

export const nodeDrainStatus = object('How far the drain has come.', {
  observedGeneration,
  observedSelector: text(
    'The nodeSelector that found its nodes, as JSON, once it has begun.',
    65536,
  ),
  phase: word('Where it stands.', [
    'Blocked',
    'Drained',
    'Failed',
    'Paused',
    'Pending',
    'Running',
    'TimedOut',
    'Undoing',
  ]),
  wave: text('The wave that it is at; left out: there are none, or all are done with.', 512),
  startedAt: time('When it began.'),
  endedAt: time('When it ended.'),
  nodes: count('Nodes that it is for.'),
  nodesDrained: count('Nodes that are drained.'),
  podsGone: count('Pods that have left.'),
  podsLeft: count('Pods that have still to leave.'),
  podsStaying: count(
    'Pods that stay on nodes whose turn has come: they tolerate the taint, or are kept. Pods of DaemonSets and static ones do not count.',
  ),
  daemonSetsKeptOff: list(
    'DaemonSets that do not tolerate the taint: a pod of theirs that ends is not made again on these nodes until the drain is undone.',
    100,
    text('namespace/name', 320),
  ),
  progress: text('The share of pods that have left, such as 40%.', 8),
  expectedEnd: time('When it ends at the present pace; left out: unknown.'),
  nodeStates: list(
    'How far each node is: nodes that have begun first where there are too many.',
    1000,
    object(
      'How far a node is.',
      {
        name: text('Its name.', 253),
        phase: word('Where it stands.', [
          'Drained',
          'Draining',
          'Failed',
          'Gone',
          'Held',
          'Pending',
          'Tainting',
        ]),
        startedAt: time('When it started.'),
        waitsSince: time('Since when it waits, its pods gone, for what stands in afterNode.'),
        endedAt: time('When it was done with.'),
        podsGone: count('Pods that have left it.'),
        podsLeft: count('Pods that have still to leave it.'),
        reason: text('Why it failed or is held, in one word.', 64),
        message: text('The same for people.', 256),
      },
      { required: ['name', 'phase'] },
    ),
  ),
  pods: list(
    'Pods that have still to leave, those that are held back first. The next leader knows by their uids which of them left meanwhile.',
    100,
    object(
      'How far a pod is on its way out.',
      {
        node: text('Where it is.', 253),
        pod: text('namespace/name', 320),
        uid: text('Its uid.', 64),
        state: text('How far it is.', 32),
        verdict: text(
          'Whether waiting helps, as in explain: resolves, needsTime, othersAct (its operator), askOperator, never (an action is needed), or unknown.',
          32,
        ),
        message: text('What holds it back.', 1024),
      },
      { required: ['node', 'pod', 'state'] },
    ),
  ),
  volumeWaits: list(
    'StatefulSets whose next pod waits until volumes are detached.',
    100,
    object(
      'Such a StatefulSet.',
      {
        statefulSet: text('namespace/name', 320),
        since: time('Since when it waits.'),
      },
      { required: ['statefulSet', 'since'] },
    ),
  ),
  notReplaced: list(
    'Pods that it took, for which another is waited for: limits.maxUnavailable counts them.',
    500,
    object(
      'Such a pod.',
      {
        workload: text('namespace/kind/name', 384),
        uid: text('That of the pod.', 64),
        since: time('When it was asked to go.'),
        others: list(
          'The uids of pods that came then or since, and stand for others that were taken.',
          100,
          text('That of a pod.', 64),
        ),
      },
      { required: ['workload', 'uid', 'since'] },
    ),
  ),
  blockers: list('What stands in its way, the first of it.', 32, characters(1024)),
  conditions,
});

/** The status of a NodeDrain. */
export type NodeDrainStatus = TypeOf<typeof nodeDrainStatus>;
