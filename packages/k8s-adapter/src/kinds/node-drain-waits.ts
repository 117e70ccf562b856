// What a NodeDrain waits for and heeds.

export const waitFields = {
  heeds: { type: 'shared', name: 'drainHeeds', default: {} },
  nodeConditions: {
    type: 'string',
    description:
      'Publish: the conditions MaintenancePlanned, DrainInProgress and Drained of its nodes (KEP-5683) say how far it is, and a node that somebody else drains by them is not begun.',
    enum: ['Ignore', 'Publish'],
    default: 'Ignore',
  },
  windows: {
    type: 'array',
    description: 'When nodes may begin; left out: at all times. One window that is open is enough.',
    maxItems: 16,
    items: { type: 'shared', name: 'drainWindow' },
  },
  gates: {
    type: 'array',
    description: 'Nodes begin only while all of these are open.',
    maxItems: 16,
    items: { type: 'shared', name: 'drainGate' },
  },
  whileClosed: {
    type: 'string',
    description:
      'What becomes of nodes that have begun when all windows close, or a gate does. FinishNodes: they are finished. HoldPods: no further pod leaves until they open. RollBack: the taint and cordon of nodes that still have pods are taken back, and they begin anew.',
    enum: ['FinishNodes', 'HoldPods', 'RollBack'],
    default: 'FinishNodes',
  },
  beforeNode: {
    type: 'array',
    description: 'What a node waits for when it is cordoned and tainted, before its pods leave.',
    maxItems: 16,
    items: { type: 'shared', name: 'drainHook' },
  },
  afterNode: {
    type: 'array',
    description: 'What it waits for when they are gone, before it counts as drained.',
    maxItems: 16,
    items: { type: 'shared', name: 'drainHook' },
  },
} as const;
