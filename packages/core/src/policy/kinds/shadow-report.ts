// The part of a TaintManager's status that holds kube-controller-manager's evictions against ours.
const pods = (description: string) => ({ type: 'integer', description, minimum: 0 }) as const;

const counts = {
  same: pods('Pods that both evict in the same instant.'),
  earlier: pods('Pods that taintmgr would have evicted before kube-controller-manager.'),
  later: pods('Pods that taintmgr would have evicted after kube-controller-manager.'),
  kept: pods('Pods that kube-controller-manager deleted and taintmgr would have kept.'),
  onlyTaintmgr: pods('Pods that taintmgr would have evicted and kube-controller-manager did not.'),
  budgetsAsked: pods(
    'Of same, earlier and later: pods that taintmgr would have asked disruption budgets about.',
  ),
} as const;

const seconds = (description: string) =>
  ({
    type: 'object',
    description,
    properties: {
      mean: { type: 'number', description: 'In the mean.', minimum: 0 },
      most: { type: 'number', description: 'At most.', minimum: 0 },
    },
  }) as const;

const rows = (description: string, nameLength: number) =>
  ({
    type: 'array',
    description,
    maxItems: 21,
    mapKeys: ['name'],
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        name: {
          type: 'string',
          description: 'Its name; (none): without one; (others): those there was no room for.',
          maxLength: nameLength,
        },
        ...counts,
      },
    },
  }) as const;

/** What a controller in a dry run publishes of its shadow. */
export const shadowReport = {
  type: 'object',
  description: 'What kube-controller-manager evicted, held against what taintmgr would have done.',
  properties: {
    since: { type: 'shared', name: 'time', description: 'Since when this is counted.' },
    ...counts,
    earlierSeconds: seconds('How much earlier.'),
    laterSeconds: seconds('How much later, where that can be said.'),
    following: pods('Pods on whom there is no verdict yet.'),
    notDeleted: pods('Pods that were marked for deletion for a taint and were not deleted.'),
    leftOtherwise: pods(
      'Pods that taintmgr would have evicted and that left before, but not for a taint.',
    ),
    givenUp: pods('Pods without a verdict, as too many were followed at once.'),
    taints: rows('By the key of the taint that decided.', 317),
    namespaces: rows('By namespace.', 63),
    policies: rows('By the EvictionPolicy that counted.', 253),
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
          pods: pods('Pods.'),
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
