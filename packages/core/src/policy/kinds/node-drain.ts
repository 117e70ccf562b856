// NodeDrain: which nodes are drained, with which taint, and how.
import type { TypeOf } from '../schema/schema.ts';

export const nodeDrainSpec = {
  type: 'object',
  description: 'Which nodes are drained, and how.',
  required: ['taint'],
  properties: {
    nodes: {
      type: 'array',
      description: 'The names of the nodes, in the order in which they are drained.',
      minItems: 1,
      maxItems: 1000,
      items: { type: 'string', minLength: 1, maxLength: 253 },
    },
    nodeSelector: {
      type: 'shared',
      name: 'labelSelector',
      description: 'The nodes by their labels, in the order of their names.',
    },
    taint: {
      type: 'object',
      description: 'The taint that the nodes get.',
      required: ['key'],
      properties: {
        key: { type: 'shared', name: 'taintKey' },
        value: { type: 'shared', name: 'taintValue', default: '' },
        effect: {
          type: 'string',
          description: 'Left out: the one that is safe with who else evicts here.',
          enum: ['NoExecute', 'NoSchedule'],
        },
      },
    },
    budgets: {
      type: 'object',
      description: 'What is done about PodDisruptionBudgets.',
      default: {},
      properties: {
        policy: {
          type: 'string',
          description:
            'Respect: ask them for as long as it takes. DeleteAfter: ask them for so long, then delete. Ignore: delete at once.',
          enum: ['DeleteAfter', 'Ignore', 'Respect'],
          default: 'Respect',
        },
        deleteAfter: {
          type: 'shared',
          name: 'duration',
          description: 'For DeleteAfter: how long they are asked.',
        },
      },
      rules: [
        {
          cel: "(self.policy == 'DeleteAfter') == has(self.deleteAfter)",
          message: 'want deleteAfter with policy DeleteAfter, and only there',
          holds: ({ policy, deleteAfter }: { policy: string; deleteAfter?: string }): boolean =>
            (policy === 'DeleteAfter') === (deleteAfter !== undefined),
        },
      ],
    },
    order: {
      type: 'string',
      description: 'Listed: as listed. ByZone: one zone is finished before the next begins.',
      enum: ['ByZone', 'Listed'],
      default: 'Listed',
    },
    limits: {
      type: 'object',
      description: 'How much happens at one time.',
      default: {},
      properties: {
        nodesAtOnce: {
          type: 'integer',
          description: 'Nodes that are drained at one time; 0: no limit.',
          minimum: 0,
          maximum: 10000,
          default: 1,
        },
        podsAtOnce: {
          type: 'integer',
          description: 'Pods that are on their way out at one time; 0: no limit.',
          minimum: 0,
          maximum: 100000,
          default: 0,
        },
      },
    },
    timeouts: {
      type: 'object',
      description: 'How long is waited.',
      default: {},
      properties: {
        node: {
          type: 'shared',
          name: 'duration',
          description: 'How long one node may take, from its start; left out: for ever.',
        },
        terminatingPods: {
          type: 'shared',
          name: 'duration',
          description: 'Pods that terminate for longer are not waited for; left out: all are.',
        },
      },
    },
    onFailure: {
      type: 'string',
      description: 'What becomes of the taint of a node that could not be drained.',
      enum: ['KeepTaint', 'RollBack'],
      default: 'KeepTaint',
    },
    until: {
      type: 'shared',
      name: 'time',
      description: 'When the drain is given up; left out: never.',
    },
  },
  rules: [
    {
      cel: 'has(self.nodes) != has(self.nodeSelector)',
      message: 'want nodes or a nodeSelector',
      holds: ({ nodes, nodeSelector }: { nodes?: unknown; nodeSelector?: unknown }): boolean =>
        (nodes !== undefined) !== (nodeSelector !== undefined),
    },
  ],
} as const;

export type NodeDrainSpec = TypeOf<typeof nodeDrainSpec>;

export const nodeDrainStatus = {
  type: 'object',
  description: 'How far the drain has come.',
  properties: {
    observedGeneration: { type: 'shared', name: 'observedGeneration' },
    phase: {
      type: 'string',
      description: 'Where it stands.',
      enum: ['Blocked', 'Drained', 'Failed', 'Pending', 'Running', 'TimedOut'],
    },
    startedAt: { type: 'shared', name: 'time', description: 'When it began.' },
    endedAt: { type: 'shared', name: 'time', description: 'When it ended.' },
    nodes: { type: 'shared', name: 'count', description: 'Nodes that it is for.' },
    nodesDrained: { type: 'shared', name: 'count', description: 'Nodes that are drained.' },
    podsLeft: { type: 'shared', name: 'count', description: 'Pods that have still to leave.' },
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
