// The part of a TaintManager's status that holds kube-controller-manager's evictions against ours.

/** What a controller in a dry run publishes of its shadow. */
export const shadowReport = {
  type: 'object',
  description: 'What kube-controller-manager evicted, held against what taintmgr would have done.',
  properties: {
    since: { type: 'shared', name: 'time', description: 'Since when this is counted.' },
    same: {
      type: 'shared',
      name: 'count',
      description: 'Pods that both evict in the same instant.',
    },
    earlier: {
      type: 'shared',
      name: 'count',
      description: 'Pods that taintmgr would have evicted before kube-controller-manager.',
    },
    later: {
      type: 'shared',
      name: 'count',
      description: 'Pods that taintmgr would have evicted after kube-controller-manager.',
    },
    kept: {
      type: 'shared',
      name: 'count',
      description: 'Pods that kube-controller-manager deleted and taintmgr would have kept.',
    },
    onlyTaintmgr: {
      type: 'shared',
      name: 'count',
      description: 'Pods that taintmgr would have evicted and kube-controller-manager did not.',
    },
    budgetsAsked: {
      type: 'shared',
      name: 'count',
      description:
        'Of same, earlier and later: pods that taintmgr would have asked disruption budgets about.',
    },
    earlierSeconds: { type: 'shared', name: 'shadowSeconds', description: 'How much earlier.' },
    laterSeconds: {
      type: 'shared',
      name: 'shadowSeconds',
      description: 'How much later, where that can be said.',
    },
    following: {
      type: 'shared',
      name: 'count',
      description: 'Pods on whom there is no verdict yet.',
    },
    notDeleted: {
      type: 'shared',
      name: 'count',
      description: 'Pods that were marked for deletion for a taint and were not deleted.',
    },
    leftOtherwise: {
      type: 'shared',
      name: 'count',
      description:
        'Pods that taintmgr would have evicted and that left before, but not for a taint.',
    },
    givenUp: {
      type: 'shared',
      name: 'count',
      description: 'Pods without a verdict, as too many were followed at once.',
    },
    taints: {
      type: 'array',
      description: 'By the key of the taint that decided.',
      maxItems: 21,
      mapKeys: ['name'],
      items: { type: 'shared', name: 'shadowRow' },
    },
    namespaces: {
      type: 'array',
      description: 'By namespace.',
      maxItems: 21,
      mapKeys: ['name'],
      items: { type: 'shared', name: 'shadowRow' },
    },
    policies: {
      type: 'array',
      description: 'By the EvictionPolicy that counted.',
      maxItems: 21,
      mapKeys: ['name'],
      items: { type: 'shared', name: 'shadowRow' },
    },
    reasons: {
      type: 'array',
      description: 'Why pods would have left later or not at all.',
      maxItems: 32,
      items: {
        type: 'object',
        required: ['verdict', 'reason'],
        properties: {
          verdict: { type: 'string', description: 'later or kept.', maxLength: 63 },
          reason: { type: 'string', description: 'Such as KeptByPolicy.', maxLength: 63 },
          pods: { type: 'shared', name: 'count', description: 'Pods.' },
        },
      },
    },
    recent: {
      type: 'array',
      description: 'The latest verdicts, the latest first.',
      maxItems: 20,
      items: {
        type: 'object',
        required: ['verdict'],
        properties: {
          at: { type: 'shared', name: 'time', description: 'When the verdict was given.' },
          verdict: { type: 'string', description: 'As the counts are called.', maxLength: 63 },
          namespace: { type: 'string', description: 'Of the pod.', maxLength: 63 },
          pod: { type: 'string', description: 'Its name.', maxLength: 253 },
          node: { type: 'string', description: 'Its node.', maxLength: 253 },
          seconds: {
            type: 'number',
            description: 'How much later taintmgr would have been; negative: earlier.',
          },
          budgetsAsked: { type: 'boolean', description: 'Whether budgets would have been asked.' },
          taint: { type: 'string', description: 'The key of the taint.', maxLength: 317 },
          policy: { type: 'string', description: 'The policy that counted.', maxLength: 253 },
          reason: { type: 'string', description: 'As in reasons.', maxLength: 63 },
          message: { type: 'string', description: 'The same in words.', maxLength: 1024 },
        },
      },
    },
  },
} as const;
