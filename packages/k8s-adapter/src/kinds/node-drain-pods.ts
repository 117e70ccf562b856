// Which pods a NodeDrain makes leave, and what it does about their budgets.

export const podFields = {
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
      order: {
        type: 'string',
        description:
          'Together: all pods of a node go as soon as they are due. ByPriority: those of a lower priority are gone before those of a higher one begin.',
        enum: ['ByPriority', 'Together'],
        default: 'Together',
      },
      singleReplicas: {
        type: 'string',
        description:
          'Evict: as all pods. RolloutRestart: a Deployment of one pod on a cordoned node is restarted as by kubectl rollout restart, so that another pod is ready before this one goes; where that cannot be, or takes longer than timeouts.rollout, it is evicted.',
        enum: ['Evict', 'RolloutRestart'],
        default: 'Evict',
      },
      evictBy: {
        type: 'string',
        description:
          'EvictionAPI: by pods/eviction. EvictionRequest: where the cluster has lifecycle.k8s.io/v1alpha1, whoever answers for a pod is asked to move it, for as long as timeouts.evictionRequest says; else by pods/eviction. It cannot be changed.',
        enum: ['EvictionAPI', 'EvictionRequest'],
        default: 'EvictionAPI',
        rules: [
          {
            cel: 'self == oldSelf',
            message: 'cannot be changed: delete the drain, which undoes it, and make another',
            // What is read has no past.
            holds: (): boolean => true,
          },
        ],
      },
      waitCompleted: {
        type: 'object',
        description:
          'Pods that may finish before they are evicted; those that have are left where they are.',
        required: ['timeout'],
        properties: {
          podSelector: {
            type: 'shared',
            name: 'labelSelector',
            description: 'By the labels of pods; left out: the pods of Jobs.',
          },
          timeout: {
            type: 'shared',
            name: 'duration',
            description: 'How long they may take, from the start of their node.',
          },
        },
      },
      waitDetached: {
        type: 'object',
        description:
          'Pods of a StatefulSet go one after the other: the next one when the volumes of the one before, of claims of its own, are detached from its node.',
        required: ['timeout'],
        properties: {
          timeout: {
            type: 'shared',
            name: 'duration',
            description: 'How long volumes are waited for, from when their pod is gone.',
          },
          onTimeout: {
            type: 'string',
            description: 'Hold: the next one stays. GoOn: it goes all the same.',
            enum: ['GoOn', 'Hold'],
            default: 'Hold',
          },
        },
      },
      last: {
        type: 'array',
        description:
          'Groups of pods that begin when all others of their node are gone, one group after the other; a pod of several is in the last of them.',
        minItems: 1,
        maxItems: 16,
        items: {
          type: 'object',
          description: 'A group of pods; everything given must match.',
          properties: {
            namespaces: {
              type: 'array',
              description: 'Names, in which * stands for any characters; left out: all.',
              minItems: 1,
              maxItems: 32,
              items: {
                type: 'string',
                maxLength: 63,
                rules: [
                  {
                    matches: '^[-a-z0-9*]+$',
                    message: 'want the name of a namespace, in which * stands for any characters',
                  },
                ],
              },
            },
            podSelector: {
              type: 'shared',
              name: 'labelSelector',
              description: 'By the labels of pods; left out: all pods.',
            },
          },
          rules: [
            {
              cel: 'has(self.namespaces) || has(self.podSelector)',
              message: 'want namespaces, a podSelector, or both',
              holds: (self: { namespaces?: unknown; podSelector?: unknown }): boolean =>
                self.namespaces !== undefined || self.podSelector !== undefined,
            },
          ],
        },
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
} as const;
