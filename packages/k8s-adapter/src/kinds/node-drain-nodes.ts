// Which nodes a NodeDrain is for, with which taint.
import { lifecycleKeys } from '@taintmgr/core/lifecycle';

const lifecycleKeyNames: readonly string[] = [
  ...new Set([...lifecycleKeys.NoExecute, ...lifecycleKeys.NoSchedule]),
];

export const nodeFields = {
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
    description:
      'The nodes by their labels, in the order of their names. A drain of more than 1000 begins none.',
  },
  taint: {
    type: 'object',
    description: 'The taint that the nodes get. It cannot be changed.',
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
    rules: [
      {
        cel: 'self == oldSelf',
        message: 'cannot be changed: delete the drain, which undoes it, and make another',
        // What is read has no past.
        holds: (): boolean => true,
      },
      {
        cel: "!(self.key.startsWith('node.kubernetes.io/') && self.key.substring(19) in ['not-ready', 'unreachable', 'memory-pressure', 'disk-pressure', 'network-unavailable', 'pid-pressure', 'unschedulable'])",
        message:
          'want a key of your own: node lifecycle controllers put this taint on and take it off as the state of the node has it',
        holds: ({ key }: { key: string }): boolean => !lifecycleKeyNames.includes(key),
      },
    ],
  },
  paused: {
    type: 'boolean',
    description:
      'No further node is begun and no further pod is asked to go; what is under way ends. Time-outs go on.',
    default: false,
  },
  laterNodes: {
    type: 'string',
    description: 'Nodes that come to match the nodeSelector after the drain began.',
    enum: ['Drain', 'Leave'],
    default: 'Leave',
  },
  maintenancePlanned: {
    type: 'string',
    description:
      'Require: of the nodes of the nodeSelector only those whose condition MaintenancePlanned (KEP-5683) somebody has set True.',
    enum: ['Ignore', 'Require'],
    default: 'Ignore',
  },
  cordon: {
    type: 'string',
    description:
      'AtTurn: a node is cordoned when its turn comes. AtStart: all are at once. Never: the taint alone.',
    enum: ['AtStart', 'AtTurn', 'Never'],
    default: 'AtTurn',
  },
} as const;
