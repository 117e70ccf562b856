// EvictionPolicy: which pods leave for which taints, on which nodes, and how.

import type { EvictionPolicy, LimitRule, LimitScope, PolicyMatch } from '@taintmgr/core/policy';
import { parseDuration } from '@taintmgr/core/time';
import { durationOf, type Metadata } from './engine-value.ts';
import { count, duration, filledText, selector, whole, word } from './fields.ts';
import { age, column, inForce, type Kind, type TypeOf } from './schema.ts';

export const evictionPolicySpec = {
  type: 'object',
  description: 'Which pods leave for which taints, and how.',
  properties: {
    priority: whole(
      'Of the policies that match a pod and its taint and have an action, the one with the highest priority counts; with equal priority the first by name.',
      [-1000000, 1000000],
      0,
    ),
    match: {
      type: 'object',
      description: 'What the policy is for; everything given must match.',
      default: {},
      properties: {
        taints: {
          type: 'array',
          description: 'One of them must match; left out: every NoExecute taint.',
          minItems: 1,
          maxItems: 32,
          items: {
            type: 'object',
            description: 'A pattern, in which * stands for any characters.',
            properties: {
              key: {
                type: 'string',
                description: 'Pattern of the key; left out: every key.',
                maxLength: 317,
                rules: [
                  {
                    matches: '^[-A-Za-z0-9_./*]+$',
                    message: 'want the key of a taint, in which * stands for any characters',
                  },
                ],
              },
              value: {
                type: 'string',
                description: 'Pattern of the value; left out: every value.',
                maxLength: 63,
                rules: [
                  {
                    matches: '^[-A-Za-z0-9_.*]*$',
                    message: 'want the value of a taint, in which * stands for any characters',
                  },
                ],
              },
              effect: word('Left out: every effect.', [
                'NoExecute',
                'NoSchedule',
                'PreferNoSchedule',
              ]),
            },
            rules: [
              {
                cel: 'has(self.key) || has(self.value) || has(self.effect)',
                message: 'want a key, a value or an effect',
                holds: (self: { key?: string; value?: string; effect?: string }): boolean =>
                  [self.key, self.value, self.effect].some((part) => part !== undefined),
              },
            ],
          },
        },
        nodeSelector: selector('By the labels of nodes; left out: all nodes.'),
        namespaces: {
          type: 'array',
          description: 'Names, in which * stands for any characters; left out: all namespaces.',
          minItems: 1,
          maxItems: 128,
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
        namespaceSelector: selector('By the labels of namespaces; left out: all namespaces.'),
        podSelector: selector('By the labels of pods; left out: all pods.'),
        podPriority: {
          type: 'object',
          description: 'By the priority of pods; left out: every priority.',
          properties: {
            min: whole('The least priority.', [-2147483648, 2147483647]),
            max: whole('The highest priority.', [-2147483648, 2147483647]),
            classNames: {
              type: 'array',
              description: 'PriorityClasses, of which the pod must have one.',
              minItems: 1,
              maxItems: 32,
              items: { type: 'string', minLength: 1, maxLength: 253 },
            },
          },
          rules: [
            {
              cel: '!has(self.min) || !has(self.max) || self.min <= self.max',
              message: 'want a min that is not above the max',
              holds: ({ min, max }: { min?: number; max?: number }): boolean =>
                min === undefined || max === undefined || min <= max,
            },
          ],
        },
      },
    },
    action: word(
      'Delete: DELETE, PodDisruptionBudgets are not asked. Evict: the Eviction API, for as long as it takes. EvictThenDelete: the Eviction API, and DELETE after deleteAfter. Keep: the pods stay. Upstream: as kube-controller-manager does. Left out: the policy only limits.',
      ['Delete', 'Evict', 'EvictThenDelete', 'Keep', 'Upstream'],
    ),
    minTaintAge: duration(
      'A taint younger than this is not acted on. Left out: as the controller is set.',
    ),
    deleteAfter: duration(
      'For EvictThenDelete: how long after it was due a pod is deleted. Left out: as the controller is set.',
    ),
    gracePeriodSeconds: whole(
      "Instead of the pod's own. Left out: as the controller is set.",
      [1, 2147483647],
    ),
    defaultTolerationSeconds: whole(
      'A pod that does not tolerate the taint stays for so long.',
      [0, 2147483647],
    ),
    limits: {
      type: 'array',
      description:
        'Limits of what the policy matches. The limits of every policy that matches hold, whichever counts.',
      minItems: 1,
      maxItems: 16,
      items: {
        type: 'object',
        description: 'A limit on evictions; each scope has a count of its own.',
        required: ['per'],
        properties: {
          per: word('What it counts by; Workload: the controller that owns the pods.', [
            'Namespace',
            'Node',
            'Taint',
            'Total',
            'Workload',
            'Zone',
          ]),
          name: filledText(
            'Only for the one of this name: a zone as region/zone, a workload as namespace/kind/name.',
            512,
          ),
          nodeSelector: selector('Only pods on nodes with such labels are counted and held.'),
          podsPerSecond: {
            type: 'number',
            description: 'So many evictions begin in a second, on average.',
            minimum: 0,
            exclusiveMinimum: true,
            maximum: 1000000,
          },
          burst: whole(
            'So many may begin at once after a pause; left out: podsPerSecond, at least 1.',
            [1, 1000000],
          ),
          percent: {
            type: 'number',
            description:
              'At most so many percent of the pods may be disrupted within the window; one always may.',
            minimum: 0,
            exclusiveMinimum: true,
            maximum: 100,
          },
          pods: whole('At most so many pods may be disrupted within the window.', [1, 1000000]),
          window: {
            type: 'string',
            description: 'How long an eviction counts for percent and pods; left out: 10m.',
            maxLength: 32,
            rules: [
              {
                cel: "self.matches('^(([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+)$') && duration(self) >= duration('1s')",
                message: 'want a duration of at least 1s, such as 30s, 10m or 1h30m',
                holds: (self: string): boolean =>
                  /^(([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+)$/.test(self) &&
                  (parseDuration(self) ?? 0) >= 1000,
              },
            ],
          },
          onLimit: word(
            'Queue: wait for room. Trip: stop until somebody says kubectl taintmgr resume.',
            ['Queue', 'Trip'],
            'Queue',
          ),
        },
        rules: [
          {
            cel: 'has(self.podsPerSecond) || has(self.percent) || has(self.pods)',
            message: 'want podsPerSecond, percent or pods',
            holds: (self: { podsPerSecond?: number; percent?: number; pods?: number }): boolean =>
              [self.podsPerSecond, self.percent, self.pods].some((part) => part !== undefined),
          },
          {
            cel: '!has(self.burst) || has(self.podsPerSecond)',
            message: 'want none without podsPerSecond',
            fieldPath: '.burst',
            holds: ({
              burst,
              podsPerSecond,
            }: {
              burst?: number;
              podsPerSecond?: number;
            }): boolean => burst === undefined || podsPerSecond !== undefined,
          },
          {
            cel: '!has(self.window) || has(self.percent) || has(self.pods)',
            message: 'want none without percent or pods',
            fieldPath: '.window',
            holds: (self: { window?: string; percent?: number; pods?: number }): boolean =>
              self.window === undefined || self.percent !== undefined || self.pods !== undefined,
          },
          {
            cel: "!has(self.name) || self.per != 'Total'",
            message: 'want none where per is Total',
            fieldPath: '.name',
            holds: ({ name, per }: { name?: string; per: string }): boolean =>
              name === undefined || per !== 'Total',
          },
        ],
      },
    },
  },
  rules: [
    {
      cel: 'has(self.action) || has(self.limits)',
      message: 'want an action, limits, or both',
      holds: ({ action, limits }: { action?: string; limits?: readonly unknown[] }): boolean =>
        action !== undefined || limits !== undefined,
    },
    {
      cel: "!has(self.deleteAfter) || (has(self.action) && self.action == 'EvictThenDelete')",
      message: 'want none but with action EvictThenDelete',
      fieldPath: '.deleteAfter',
      holds: ({ deleteAfter, action }: { deleteAfter?: string; action?: string }): boolean =>
        deleteAfter === undefined || action === 'EvictThenDelete',
    },
    {
      cel: "!has(self.minTaintAge) || (has(self.action) && self.action in ['Delete', 'Evict', 'EvictThenDelete'])",
      message: 'want none but with action Delete, Evict or EvictThenDelete',
      fieldPath: '.minTaintAge',
      holds: ({ minTaintAge, action }: { minTaintAge?: string; action?: string }): boolean =>
        minTaintAge === undefined || ['Delete', 'Evict', 'EvictThenDelete'].includes(action ?? ''),
    },
    {
      cel: "!has(self.gracePeriodSeconds) || (has(self.action) && self.action in ['Delete', 'Evict', 'EvictThenDelete'])",
      message: 'want none but with action Delete, Evict or EvictThenDelete',
      fieldPath: '.gracePeriodSeconds',
      holds: (self: { gracePeriodSeconds?: number; action?: string }): boolean =>
        self.gracePeriodSeconds === undefined ||
        ['Delete', 'Evict', 'EvictThenDelete'].includes(self.action ?? ''),
    },
    {
      cel: "!has(self.defaultTolerationSeconds) || (has(self.action) && self.action in ['Delete', 'Evict', 'EvictThenDelete'])",
      message: 'want none but with action Delete, Evict or EvictThenDelete',
      fieldPath: '.defaultTolerationSeconds',
      holds: (self: { defaultTolerationSeconds?: number; action?: string }): boolean =>
        self.defaultTolerationSeconds === undefined ||
        ['Delete', 'Evict', 'EvictThenDelete'].includes(self.action ?? ''),
    },
  ],
} as const;

export type EvictionPolicySpec = TypeOf<typeof evictionPolicySpec>;

export const evictionPolicyStatus = {
  type: 'object',
  description: 'What the leader says.',
  properties: {
    observedGeneration: { type: 'shared', name: 'observedGeneration' },
    pods: count('Pods on tainted nodes for which the policy counts.'),
    pending: count('Pods that wait for their time.'),
    held: count('Pods that limits or pauses hold, those that its own limits hold too.'),
    blocked: count('Pods whose eviction a PodDisruptionBudget refuses.'),
    conditions: { type: 'shared', name: 'conditions' },
  },
} as const;

type Match = EvictionPolicySpec['match'];
type Limit = NonNullable<EvictionPolicySpec['limits']>[number];

export function evictionPolicyOf(
  { name, uid, generation }: Metadata,
  spec: EvictionPolicySpec,
): EvictionPolicy {
  const { priority, action = null, gracePeriodSeconds = null, limits = [] } = spec;
  return {
    name,
    uid,
    generation,
    priority,
    match: matchOf(spec.match),
    action,
    minTaintAgeMs: durationOf(spec.minTaintAge),
    deleteAfterMs: durationOf(spec.deleteAfter),
    gracePeriodSeconds,
    defaultTolerationSeconds: spec.defaultTolerationSeconds ?? null,
    limits: limits.map(limitOf),
  };
}

function matchOf(match: Match): PolicyMatch {
  const { taints = [], nodeSelector, namespaces, namespaceSelector, podPriority } = match;
  const { min = null, max = null, classNames = [] } = podPriority ?? {};
  return {
    taints,
    nodes: nodeSelector ?? null,
    namespaces:
      namespaces || namespaceSelector
        ? { names: namespaces ?? [], selector: namespaceSelector ?? null }
        : null,
    pods: match.podSelector ?? null,
    podPriority: podPriority ? { min, max, classes: classNames } : null,
  };
}

const scopes: Readonly<Record<Limit['per'], LimitScope>> = {
  Namespace: 'namespace',
  Node: 'node',
  Taint: 'taint',
  Total: 'total',
  Workload: 'workload',
  Zone: 'zone',
};

function limitOf({ per, nodeSelector, window, onLimit, ...others }: Limit): LimitRule {
  const windowMs = durationOf(window);
  return {
    per: scopes[per],
    ...(nodeSelector && { nodes: nodeSelector }),
    ...others,
    ...(windowMs !== null && { windowMs }),
    onLimit: onLimit === 'Trip' ? 'trip' : 'queue',
  };
}

export const evictionPolicyKind: Kind = {
  description: 'Says which pods leave for which taints, on which nodes, and how.',
  plural: 'evictionpolicies',
  shortName: 'evp',
  spec: evictionPolicySpec,
  status: evictionPolicyStatus,
  columns: [
    column('Action', 'string', '.spec.action', 'How pods leave'),
    column('Priority', 'integer', '.spec.priority', 'Higher counts first'),
    column('Taint', 'string', '.spec.match.taints[0].key', 'The first key that it is for'),
    column('Pending', 'integer', '.status.pending', 'Pods that wait for their time'),
    column('Held', 'integer', '.status.held', 'Pods that limits or pauses hold'),
    column('Blocked', 'integer', '.status.blocked', 'Pods whose eviction a budget refuses'),
    column('Pods', 'integer', '.status.pods', 'Pods on tainted nodes for which it counts', 1),
    inForce,
    age,
  ],
};
