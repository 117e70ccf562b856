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
  'Specification of the policy: the pods, the taints, and the action.',
  {
    priority: whole(
      'Among the policies with an action that match a pod and its taint, the one with the highest priority applies. Of policies with equal priority, the first by name applies.',
      [-1000000, 1000000],
      0,
    ),
    match: object(
      'Taints, nodes and pods that the policy applies to. All fields that are set must match.',
      {
        taints: filledList(
          'Taints to match; one of them must match. Defaults to every NoExecute taint.',
          32,
          object(
            'A pattern for taints, in which * matches any characters.',
            {
              key: pattern(
                'Pattern of the taint key. If unset, every key matches.',
                317,
                '^[-A-Za-z0-9_./*]+$',
                'want the key of a taint, in which * stands for any characters',
              ),
              value: pattern(
                'Pattern of the taint value. If unset, every value matches.',
                63,
                '^[-A-Za-z0-9_.*]*$',
                'want the value of a taint, in which * stands for any characters',
              ),
              effect: word('Effect of the taint. If unset, every effect matches.', [
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
        nodeSelector: selector('Selects nodes by their labels. Defaults to all nodes.'),
        namespaces: filledList(
          'Names of namespaces, in which * matches any characters. Defaults to all namespaces.',
          128,
          namespacePattern,
        ),
        namespaceSelector: selector(
          'Selects namespaces by their labels. Defaults to all namespaces.',
        ),
        podSelector: selector('Selects pods by their labels. Defaults to all pods.'),
        podPriority: object(
          'Selects pods by their priority. Defaults to every priority.',
          {
            min: whole('The lowest priority that matches.', [-2147483648, 2147483647]),
            max: whole('The highest priority that matches.', [-2147483648, 2147483647]),
            classNames: filledList(
              'Names of PriorityClasses; the pod must have one of them.',
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
      'How pods leave. Delete: the pod is deleted without regard to PodDisruptionBudgets. Evict: the Eviction API is called until it succeeds. EvictThenDelete: the Eviction API is called; the pod is deleted after deleteAfter. Keep: the pods stay. Request: an EvictionRequest (lifecycle.k8s.io/v1alpha1) asks the responders of the pod to move it; the Eviction API is called if the cluster has no EvictionRequests, the request is refused, no responder answers within a minute, or the pod still exists after an hour. KubeControllerManager: the rules of kube-controller-manager. Upstream: the earlier name of KubeControllerManager. If unset, the policy only sets limits.',
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
      'Minimum age of a taint before the action applies. Defaults to the setting of the controller.',
    ),
    deleteAfter: duration(
      'For EvictThenDelete: the time between the deadline of a pod and its deletion. Defaults to the setting of the controller.',
    ),
    gracePeriodSeconds: whole(
      "Overrides the pod's own grace period. Defaults to the setting of the controller.",
      [1, 2147483647],
    ),
    defaultTolerationSeconds: whole(
      'How long a pod that does not tolerate the taint stays, in seconds.',
      [0, 2147483647],
    ),
    limits: filledList(
      'Limits on the evictions that the policy matches. The limits of all matching policies apply, not only those of the policy whose action applies.',
      16,
      object(
        'A limit on evictions. Evictions are counted separately for each scope.',
        {
          per: word('Scope of the count. Workload means the controller that owns the pods.', [
            'Namespace',
            'Node',
            'Taint',
            'Total',
            'Workload',
            'Zone',
          ]),
          name: filledText(
            'Restricts the limit to the scope with this name: region/zone for a zone, namespace/kind/name for a workload.',
            512,
          ),
          nodeSelector: selector('Restricts the limit to pods on nodes with these labels.'),
          podsPerSecond: {
            type: 'number',
            description: 'Maximum number of evictions that start per second, on average.',
            minimum: 0,
            exclusiveMinimum: true,
            maximum: 1000000,
          },
          burst: whole(
            'Maximum number of evictions that start at once after a quiet period. Defaults to podsPerSecond, but at least 1.',
            [1, 1000000],
          ),
          percent: {
            type: 'number',
            description:
              'Maximum percentage of the pods that may be disrupted within the window. One pod is always allowed.',
            minimum: 0,
            exclusiveMinimum: true,
            maximum: 100,
          },
          pods: whole(
            'Maximum number of pods that may be disrupted within the window.',
            [1, 1000000],
          ),
          window: duration(
            'How long an eviction counts towards percent and pods. Must be at least 1s. Defaults to 10m.',
            [
              {
                cel: "self.matches('^(([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+)$') && duration(self) >= duration('1s')",
                message: 'want a duration of at least 1s, such as 30s, 10m or 1h30m',
                holds: (self: string): boolean =>
                  /^(([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+)$/.test(self) &&
                  (parseDuration(self) ?? 0) >= 1000,
              },
            ],
          ),
          onLimit: word(
            'What happens when the limit is reached. Queue: evictions wait. Trip: evictions stop until an operator runs kubectl taintmgr resume.',
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

export const evictionPolicyStatus = object(
  'Status of the policy, as the leader last observed it.',
  {
    observedGeneration,
    pods: count('Number of pods on tainted nodes to which the policy applies.'),
    pending: count('Number of pods whose deadline has not passed.'),
    held: count('Number of pods that limits or pauses hold, including the limits of this policy.'),
    blocked: count('Number of pods whose eviction a PodDisruptionBudget refuses.'),
    conditions,
  },
);

/** The one action with an earlier name, which stored policies may still have. */
const earlierAction = { name: 'Upstream', now: 'KubeControllerManager' } as const;

/** Returns a hint if a manifest names its action by an earlier word; null: it does not. */
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
  description:
    'EvictionPolicy defines which pods are evicted for which taints, on which nodes, and how.',
  plural: 'evictionpolicies',
  shortName: 'evp',
  spec: evictionPolicySpec,
  status: evictionPolicyStatus,
  columns: [
    column('Action', 'string', '.spec.action', 'How pods leave'),
    column('Priority', 'integer', '.spec.priority', 'The highest priority applies'),
    column('Taint', 'string', '.spec.match.taints[0].key', 'The first taint key that it matches'),
    column('Pending', 'integer', '.status.pending', 'Pods whose deadline has not passed'),
    column('Held', 'integer', '.status.held', 'Pods that limits or pauses hold'),
    column('Blocked', 'integer', '.status.blocked', 'Pods whose eviction a budget refuses'),
    column('Pods', 'integer', '.status.pods', 'Pods on tainted nodes to which it applies', 1),
    inForce,
    age,
  ],
};
