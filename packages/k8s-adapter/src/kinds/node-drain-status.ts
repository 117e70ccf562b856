// What the leader says of a NodeDrain: how far the drain has come.

import { count, text, time, word } from './fields.ts';
import type { TypeOf } from './schema.ts';

export const nodeDrainStatus = {
  type: 'object',
  description: 'How far the drain has come.',
  properties: {
    observedGeneration: { type: 'shared', name: 'observedGeneration' },
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
    daemonSetsKeptOff: {
      type: 'array',
      description:
        'DaemonSets that do not tolerate the taint: a pod of theirs that ends is not made again on these nodes until the drain is undone.',
      maxItems: 100,
      items: text('namespace/name', 320),
    },
    progress: text('The share of pods that have left, such as 40%.', 8),
    expectedEnd: time('When it is over if it goes on as it has gone; left out: nobody knows.'),
    nodeStates: {
      type: 'array',
      description: 'How far each node is: nodes that have begun first where there are too many.',
      maxItems: 1000,
      items: {
        type: 'object',
        description: 'How far a node is.',
        required: ['name', 'phase'],
        properties: {
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
      },
    },
    pods: {
      type: 'array',
      description:
        'Pods that have still to leave, those that are held back first. The next leader knows by their uids which of them left meanwhile.',
      maxItems: 100,
      items: {
        type: 'object',
        description: 'How far a pod is on its way out.',
        required: ['node', 'pod', 'state'],
        properties: {
          node: text('Where it is.', 253),
          pod: text('namespace/name', 320),
          uid: text('Its uid.', 64),
          state: text('How far it is.', 32),
          verdict: text(
            'Whether waiting helps, as in explain: resolves, needsTime, othersAct (its operator), askOperator, never (somebody has to act), or unknown.',
            32,
          ),
          message: text('What holds it back.', 1024),
        },
      },
    },
    volumeWaits: {
      type: 'array',
      description: 'StatefulSets whose next pod waits until volumes are detached.',
      maxItems: 100,
      items: {
        type: 'object',
        description: 'Such a StatefulSet.',
        required: ['statefulSet', 'since'],
        properties: {
          statefulSet: text('namespace/name', 320),
          since: time('Since when it waits.'),
        },
      },
    },
    notReplaced: {
      type: 'array',
      description:
        'Pods that it took, for which another is waited for: limits.maxUnavailable counts them.',
      maxItems: 500,
      items: {
        type: 'object',
        description: 'Such a pod.',
        required: ['workload', 'uid', 'since'],
        properties: {
          workload: text('namespace/kind/name', 384),
          uid: text('That of the pod.', 64),
          since: time('When it was asked to go.'),
          others: {
            type: 'array',
            description:
              'The uids of pods that came then or since, and stand for others that were taken.',
            maxItems: 100,
            items: text('That of a pod.', 64),
          },
        },
      },
    },
    blockers: {
      type: 'array',
      description: 'What stands in its way, the first of it.',
      maxItems: 32,
      items: { type: 'string', maxLength: 1024 },
    },
    conditions: { type: 'shared', name: 'conditions' },
  },
} as const;

export type NodeDrainStatus = TypeOf<typeof nodeDrainStatus>;
