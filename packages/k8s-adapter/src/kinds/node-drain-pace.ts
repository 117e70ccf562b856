// In which order a NodeDrain goes, how much at one time, and for how long.

export const paceFields = {
  order: {
    type: 'string',
    description:
      'Listed: as listed. ByZone: one zone, within its wave, is finished before the next begins.',
    enum: ['ByZone', 'Listed'],
    default: 'Listed',
  },
  waves: {
    type: 'array',
    description:
      'One wave is finished before the next begins, and none begins after one that failed. A node is in the first wave that selects it; nodes that none selects come last.',
    minItems: 1,
    maxItems: 32,
    items: {
      type: 'object',
      description: 'A wave of nodes.',
      required: ['name', 'nodeSelector'],
      properties: {
        name: {
          type: 'string',
          description: 'What the status calls it.',
          minLength: 1,
          maxLength: 63,
        },
        nodeSelector: {
          type: 'shared',
          name: 'labelSelector',
          description: 'Which of the nodes are in it.',
        },
        nodesAtOnce: {
          type: 'integer',
          description: 'Instead of limits.nodesAtOnce; 0: no limit.',
          minimum: 0,
          maximum: 10000,
        },
      },
    },
    rules: [
      {
        cel: 'self.all(one, self.exists_one(other, other.name == one.name))',
        message: 'want each name once',
        holds: (self: readonly { name: string }[]): boolean =>
          new Set(self.map(({ name }) => name)).size === self.length,
      },
    ],
  },
  limits: {
    type: 'object',
    description: 'How much happens at one time.',
    default: {},
    properties: {
      nodesAtOnce: {
        type: 'integerOrString',
        description:
          'Nodes that are drained at one time, as a number or, such as 10%, as a part of those of their wave (rounded down, at least one); 0: no limit.',
        default: 1,
        rules: [
          {
            cel: "type(self) == int ? self >= 0 && self <= 10000 : self.matches('^(100|[1-9][0-9]?)%$')",
            message: 'want a whole number from 0 to 10000, or a part such as 10%',
            holds: (self: number | string): boolean =>
              typeof self === 'number'
                ? self >= 0 && self <= 10_000
                : /^(100|[1-9][0-9]?)%$/.test(self),
          },
        ],
      },
      heldUpNodes: {
        type: 'integer',
        description:
          'So many nodes do not count in nodesAtOnce on which, for a minute, nothing is left but pods that budgets refuse, that are held, or that do not end.',
        minimum: 0,
        maximum: 10000,
        default: 1,
      },
      maxUnavailable: {
        type: 'integerOrString',
        description:
          'Pods of one workload (the controller that owns them) that may be unavailable at one time, over all drains, as a number or, such as 25%, as a part of its pods (rounded down, at least one); left out: no limit.',
        rules: [
          {
            cel: "type(self) == int ? self >= 1 && self <= 10000 : self.matches('^(100|[1-9][0-9]?)%$')",
            message: 'want a whole number from 1 to 10000, or a part such as 10%',
            holds: (self: number | string): boolean =>
              typeof self === 'number'
                ? self >= 1 && self <= 10_000
                : /^(100|[1-9][0-9]?)%$/.test(self),
          },
        ],
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
      evictionRequest: {
        type: 'shared',
        name: 'duration',
        description:
          'How long whoever answers for a pod has to move it, where this drain or somebody else has asked for that by an EvictionRequest; left out: for ever.',
      },
      node: {
        type: 'shared',
        name: 'duration',
        description: 'How long one node may take, from its start; 0 or left out: for ever.',
      },
      rollout: {
        type: 'shared',
        name: 'duration',
        description: 'How long a Deployment of one pod is waited for to start another one.',
        default: '10m',
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
  ttlSecondsAfterFinished: {
    type: 'integer',
    description:
      'Seconds after which the drain is deleted once it has ended as Drained, Failed or TimedOut; 0: at once; left out: never. Deleting it takes back the taint and the cordon that it has set, where nobody else has changed them since. It needs laterNodes: Leave.',
    minimum: 0,
    maximum: 2147483647,
  },
} as const;
