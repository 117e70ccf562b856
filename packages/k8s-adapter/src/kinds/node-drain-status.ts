// What the leader says of a NodeDrain: how far the drain has come.

import type { TypeOf } from './schema.ts';

export const nodeDrainStatus = {
  type: 'object',
  description: 'How far the drain has come.',
  properties: {
    observedGeneration: { type: 'shared', name: 'observedGeneration' },
    observedSelector: {
      type: 'string',
      description: 'The nodeSelector that found its nodes, as JSON, once it has begun.',
      maxLength: 65536,
    },
    phase: {
      type: 'string',
      description: 'Where it stands.',
      enum: ['Blocked', 'Drained', 'Failed', 'Paused', 'Pending', 'Running', 'TimedOut', 'Undoing'],
    },
    wave: {
      type: 'string',
      description: 'The wave that it is at; left out: there are none, or all are done with.',
      maxLength: 512,
    },
    startedAt: { type: 'shared', name: 'time', description: 'When it began.' },
    endedAt: { type: 'shared', name: 'time', description: 'When it ended.' },
    nodes: { type: 'shared', name: 'count', description: 'Nodes that it is for.' },
    nodesDrained: { type: 'shared', name: 'count', description: 'Nodes that are drained.' },
    podsGone: { type: 'shared', name: 'count', description: 'Pods that have left.' },
    podsLeft: { type: 'shared', name: 'count', description: 'Pods that have still to leave.' },
    podsStaying: {
      type: 'shared',
      name: 'count',
      description:
        'Pods that stay on nodes whose turn has come: they tolerate the taint, or are kept. Pods of DaemonSets and static ones do not count.',
    },
    daemonSetsKeptOff: {
      type: 'array',
      description:
        'DaemonSets that do not tolerate the taint: a pod of theirs that ends is not made again on these nodes until the drain is undone.',
      maxItems: 100,
      items: { type: 'string', description: 'namespace/name', maxLength: 320 },
    },
    progress: {
      type: 'string',
      description: 'The share of pods that have left, such as 40%.',
      maxLength: 8,
    },
    expectedEnd: {
      type: 'shared',
      name: 'time',
      description: 'When it is over if it goes on as it has gone; left out: nobody knows.',
    },
    nodeStates: {
      type: 'array',
      description: 'How far each node is: nodes that have begun first where there are too many.',
      maxItems: 1000,
      items: {
        type: 'object',
        description: 'How far a node is.',
        required: ['name', 'phase'],
        properties: {
          name: { type: 'string', description: 'Its name.', maxLength: 253 },
          phase: {
            type: 'string',
            description: 'Where it stands.',
            enum: ['Drained', 'Draining', 'Failed', 'Gone', 'Held', 'Pending', 'Tainting'],
          },
          startedAt: { type: 'shared', name: 'time', description: 'When it started.' },
          waitsSince: {
            type: 'shared',
            name: 'time',
            description: 'Since when it waits, its pods gone, for what stands in afterNode.',
          },
          endedAt: { type: 'shared', name: 'time', description: 'When it was done with.' },
          podsGone: { type: 'shared', name: 'count', description: 'Pods that have left it.' },
          podsLeft: {
            type: 'shared',
            name: 'count',
            description: 'Pods that have still to leave it.',
          },
          reason: {
            type: 'string',
            description: 'Why it failed or is held, in one word.',
            maxLength: 64,
          },
          message: { type: 'string', description: 'The same for people.', maxLength: 256 },
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
          node: { type: 'string', description: 'Where it is.', maxLength: 253 },
          pod: { type: 'string', description: 'namespace/name', maxLength: 320 },
          uid: { type: 'string', description: 'Its uid.', maxLength: 64 },
          state: { type: 'string', description: 'How far it is.', maxLength: 32 },
          verdict: {
            type: 'string',
            description:
              'Whether waiting helps, as in explain: resolves, needsTime, othersAct (its operator), askOperator, never (somebody has to act), or unknown.',
            maxLength: 32,
          },
          message: { type: 'string', description: 'What holds it back.', maxLength: 1024 },
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
          statefulSet: { type: 'string', description: 'namespace/name', maxLength: 320 },
          since: { type: 'shared', name: 'time', description: 'Since when it waits.' },
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
          workload: { type: 'string', description: 'namespace/kind/name', maxLength: 384 },
          uid: { type: 'string', description: 'That of the pod.', maxLength: 64 },
          since: { type: 'shared', name: 'time', description: 'When it was asked to go.' },
          others: {
            type: 'array',
            description:
              'The uids of pods that came then or since, and stand for others that were taken.',
            maxItems: 100,
            items: { type: 'string', description: 'That of a pod.', maxLength: 64 },
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
