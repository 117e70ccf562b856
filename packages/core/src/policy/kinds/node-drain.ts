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
          description:
            'NoSchedule: nobody else evicts for it. NoExecute: also keeps off pods that tolerate it for a while, and only where nobody evicts without asking budgets.',
          enum: ['NoExecute', 'NoSchedule'],
          default: 'NoSchedule',
        },
      },
    },
    laterNodes: {
      type: 'string',
      description: 'Nodes that come to match the nodeSelector after the drain began.',
      enum: ['Drain', 'Leave'],
      default: 'Leave',
    },
    cordon: {
      type: 'string',
      description:
        'AtTurn: a node is cordoned when its turn comes. AtStart: all are at once. Never: the taint alone.',
      enum: ['AtStart', 'AtTurn', 'Never'],
      default: 'AtTurn',
    },
    tolerations: {
      type: 'string',
      description:
        'Respect: a pod stays for as long as it tolerates the taint. NoWait: only those that tolerate it for ever stay. Ignore: all go, at once.',
      enum: ['Ignore', 'NoWait', 'Respect'],
      default: 'Respect',
    },
    pods: {
      type: 'object',
      description: 'Which pods may go. A node with others is not begun.',
      default: {},
      properties: {
        withoutController: {
          type: 'boolean',
          description: 'Pods that nobody would recreate.',
          default: false,
        },
        withEmptyDir: {
          type: 'boolean',
          description: 'Pods with emptyDir volumes, whose data is lost with them.',
          default: false,
        },
        gracePeriodSeconds: {
          type: 'integer',
          description: 'How long they have to stop, in seconds; left out: what each pod says.',
          minimum: 0,
          maximum: 2147483647,
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
    {
      cel: "self.laterNodes == 'Leave' || has(self.nodeSelector)",
      message: 'want laterNodes Drain only with a nodeSelector',
      holds: ({
        laterNodes,
        nodeSelector,
      }: {
        laterNodes: string;
        nodeSelector?: unknown;
      }): boolean => laterNodes === 'Leave' || nodeSelector !== undefined,
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
      enum: ['Blocked', 'Drained', 'Failed', 'Pending', 'Running', 'TimedOut', 'Undoing'],
    },
    startedAt: { type: 'shared', name: 'time', description: 'When it began.' },
    endedAt: { type: 'shared', name: 'time', description: 'When it ended.' },
    nodes: { type: 'shared', name: 'count', description: 'Nodes that it is for.' },
    nodesDrained: { type: 'shared', name: 'count', description: 'Nodes that are drained.' },
    podsGone: { type: 'shared', name: 'count', description: 'Pods that have left.' },
    podsLeft: { type: 'shared', name: 'count', description: 'Pods that have still to leave.' },
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
      description: 'How far each node is.',
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
          endedAt: { type: 'shared', name: 'time', description: 'When it was done with.' },
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
          message: { type: 'string', description: 'The same for people.', maxLength: 1024 },
        },
      },
    },
    pods: {
      type: 'array',
      description: 'Pods that have still to leave, those that are held back first.',
      maxItems: 100,
      items: {
        type: 'object',
        description: 'How far a pod is on its way out.',
        required: ['node', 'pod', 'state'],
        properties: {
          node: { type: 'string', description: 'Where it is.', maxLength: 253 },
          pod: { type: 'string', description: 'namespace/name', maxLength: 320 },
          state: { type: 'string', description: 'How far it is.', maxLength: 32 },
          verdict: {
            type: 'string',
            description: 'Whether waiting helps.',
            maxLength: 32,
          },
          message: { type: 'string', description: 'What holds it back.', maxLength: 1024 },
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
