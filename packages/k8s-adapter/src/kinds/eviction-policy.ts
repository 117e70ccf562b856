// EvictionPolicy: which pods leave for which taints, on which nodes, and how.

import type { EvictionPolicy, LimitRule, LimitScope, PolicyMatch } from '@taintmgr/core/policy';
import { parseDuration } from '@taintmgr/core/time';
import { durationOf, type Metadata } from './engine-value.ts';
import {
  conditions,
  count,
  duration,
  filledCharacters,
  filledList,
  filledText,
  namespacePattern,
  object,
  observedGeneration,
  onlyBeside,
  pattern,
  selector,
  someOf,
  whole,
  word,
} from './fields.ts';
import { age, column, inForce, type Kind, type Rule, type TypeOf } from './schema.ts';
import { isRecord } from './validation.ts';

const disruptive = ['Delete', 'Evict', 'EvictThenDelete', 'Request'];

/** A member that means nothing with another action. */
function onlyWith(member: string, actions: readonly string[]): Rule {
  const [one, ...others] = actions;
  const isOne =
    others.length === 0
      ? `self.action == '${one}'`
      : `self.action in [${actions.map((each) => `'${each}'`).join(', ')}]`;
  const names = [actions.slice(0, -1).join(', '), ...actions.slice(-1)].filter(Boolean);
  return {
    cel: `!has(self.${member}) || (has(self.action) && ${isOne})`,
    message: `want none but with action ${names.join(' or ')}`,
    fieldPath: `.${member}`,
    holds: (self: Readonly<Record<string, unknown>>) =>
      self[member] === undefined || actions.some((each) => each === self.action),
  };
}

export const evictionPolicySpec = object(
  'Which pods leave for which taints, and how.',
  {
    priority: whole(
      'Of the policies that match a pod and its taint and have an action, the one with the highest priority counts; with equal priority the first by name.',
      [-1000000, 1000000],
      0,
    ),
    match: object(
      'What the policy is for; everything given must match.',
      {
        taints: filledList(
          'One of them must match; left out: every NoExecute taint.',
          32,
          object(
            'A pattern, in which * stands for any characters.',
            {
              key: pattern(
                'Pattern of the key; left out: every key.',
                317,
                '^[-A-Za-z0-9_./*]+$',
                'want the key of a taint, in which * stands for any characters',
              ),
              value: pattern(
                'Pattern of the value; left out: every value.',
                63,
                '^[-A-Za-z0-9_.*]*$',
                'want the value of a taint, in which * stands for any characters',
              ),
              effect: word('Left out: every effect.', [
                'NoExecute',
                'NoSchedule',
                'PreferNoSchedule',
              ]),
            },
            {
              rules: [someOf(['key', 'value', 'effect'], 'want a key, a value or an effect')],
            },
          ),
        ),
        nodeSelector: selector('By the labels of nodes; left out: all nodes.'),
        namespaces: filledList(
          'Names, in which * stands for any characters; left out: all namespaces.',
          128,
          namespacePattern,
        ),
        namespaceSelector: selector('By the labels of namespaces; left out: all namespaces.'),
        podSelector: selector('By the labels of pods; left out: all pods.'),
        podPriority: object(
          'By the priority of pods; left out: every priority.',
          {
            min: whole('The least priority.', [-2147483648, 2147483647]),
            max: whole('The highest priority.', [-2147483648, 2147483647]),
            classNames: filledList(
              'PriorityClasses, of which the pod must have one.',
              32,
              filledCharacters(253),
            ),
          },
          {
            rules: [
              {
                cel: '!has(self.min) || !has(self.max) || self.min <= self.max',
                message: 'want a min that is not above the max',
                holds: ({ min, max }: { min?: number; max?: number }): boolean =>
                  min === undefined || max === undefined || min <= max,
              },
            ],
          },
        ),
      },
      { default: {} },
    ),
    action: word(
      'Delete: DELETE, ignoring PodDisruptionBudgets. Evict: the Eviction API, without a time limit. EvictThenDelete: the Eviction API, and DELETE after deleteAfter. Keep: the pods stay. Request: the controller registered for a pod is asked to move it by an EvictionRequest (lifecycle.k8s.io/v1alpha1); by the Eviction API where the cluster has none, it is refused, nobody answers within a minute, or the pod is still there after an hour. KubeControllerManager: as kube-controller-manager does. Upstream: the earlier name of KubeControllerManager. Left out: the policy only limits.',
      [
        'Delete',
        'Evict',
        'EvictThenDelete',
        'Keep',
        'KubeControllerManager',
        'Request',
        'Upstream',
      ],
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
      'A pod without a toleration stays for this long.',
      [0, 2147483647],
    ),
    limits: filledList(
      'Limits of what the policy matches. The limits of every policy that matches hold, whichever counts.',
      16,
      object(
        'A limit on evictions; each scope has a count of its own.',
        {
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
          window: duration('How long an eviction counts for percent and pods; left out: 10m.', [
            {
              cel: "self.matches('^(([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+)$') && duration(self) >= duration('1s')",
              message: 'want a duration of at least 1s, such as 30s, 10m or 1h30m',
              holds: (self: string): boolean =>
                /^(([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+)$/.test(self) &&
                (parseDuration(self) ?? 0) >= 1000,
            },
          ]),
          onLimit: word(
            'Queue: wait for room. Trip: stop until you run kubectl taintmgr resume.',
            ['Queue', 'Trip'],
            'Queue',
          ),
        },
        {
          required: ['per'],
          rules: [
            someOf(['podsPerSecond', 'percent', 'pods'], 'want podsPerSecond, percent or pods'),
            onlyBeside('burst', ['podsPerSecond']),
            onlyBeside('window', ['percent', 'pods']),
            {
              cel: "!has(self.name) || self.per != 'Total'",
              message: 'want none where per is Total',
              fieldPath: '.name',
              holds: ({ name, per }: { name?: string; per: string }): boolean =>
                name === undefined || per !== 'Total',
            },
          ],
        },
      ),
    ),
  },
  {
    rules: [
      someOf(['action', 'limits'], 'want an action, limits, or both'),
      onlyWith('deleteAfter', ['EvictThenDelete']),
      onlyWith('minTaintAge', disruptive),
      onlyWith('gracePeriodSeconds', disruptive),
      onlyWith('defaultTolerationSeconds', disruptive),
    ],
  },
);

/** The spec of an EvictionPolicy, with its defaults. */
export type EvictionPolicySpec = TypeOf<typeof evictionPolicySpec>;

export const evictionPolicyStatus = object('What the leader says.', {
  observedGeneration,
  pods: count('Pods on tainted nodes for which the policy counts.'),
  pending: count('Pods that wait for their time.'),
  held: count('Pods that limits or pauses hold, those that its own limits hold too.'),
  blocked: count('Pods whose eviction a PodDisruptionBudget refuses.'),
  conditions,
});

/** The one action with an earlier name, which stored policies may still have. */
const earlierAction = { name: 'Upstream', now: 'KubeControllerManager' } as const;

/** The hint at an earlier name of the action in a manifest; null: it has none. */
export function actionHint(manifest: unknown): string | null {
  const { spec = null } = isRecord(manifest) ? manifest : {};
  if (!isRecord(spec) || spec.action !== earlierAction.name) return null;
  return `spec.action: write ${earlierAction.now} instead of ${earlierAction.name}`;
}

type Match = EvictionPolicySpec['match'];
type Limit = NonNullable<EvictionPolicySpec['limits']>[number];

export function evictionPolicyOf(
  { name, uid, generation }: Metadata,
  spec: EvictionPolicySpec,
): EvictionPolicy {
  const { priority, gracePeriodSeconds = null, limits = [] } = spec;
  return {
    name,
    uid,
    generation,
    priority,
    match: matchOf(spec.match),
    action: spec.action === 'Upstream' ? earlierAction.now : (spec.action ?? null),
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
