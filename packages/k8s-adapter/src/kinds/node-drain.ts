// NodeDrain: which nodes are drained, with which taint, and how.

import { lifecycleKeys } from '@taintmgr/core/lifecycle';
import type { NodeDrain } from '@taintmgr/core/policy';
import { engineValue, type Metadata, timeOf } from './engine-value.ts';
import {
  duration,
  eitherOf,
  filledCharacters,
  filledList,
  filledText,
  keyText,
  list,
  namespacePattern,
  object,
  pattern,
  selector,
  someOf,
  taintKey,
  taintValue,
  text,
  time,
  truth,
  unchangeable,
  whole,
  wholeOrPercent,
  word,
} from './fields.ts';
import { type NodeDrainStatus, nodeDrainStatus } from './node-drain-status.ts';
import { age, column, type Kind, type Rule, type TypeOf } from './schema.ts';

const objectState = object(
  'An object, and the condition or annotation that it must have.',
  {
    apiVersion: pattern(
      'API version of the object: v1, or group/version.',
      317,
      '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$',
      'want an apiVersion such as v1 or example.com/v1beta1',
    ),
    kind: filledText('Kind of the object.', 63),
    namespace: filledText('Namespace of the object. Must be unset for cluster-scoped objects.', 63),
    name: filledText(
      'Name of the object. In hooks, {node} is replaced by the name of the node.',
      253,
    ),
    condition: object(
      'Condition that the object must have in status.conditions.',
      {
        type: filledText('Type of the condition.', 316),
        status: word('Status of the condition.', ['False', 'True', 'Unknown'], 'True'),
      },
      { required: ['type'] },
    ),
    annotation: object(
      'Annotation that the object must have.',
      {
        key: filledText('Key of the annotation.', 317),
        value: text('Value of the annotation.', 1024),
      },
      { required: ['key', 'value'] },
    ),
  },
  {
    required: ['apiVersion', 'kind', 'name'],
    rules: [eitherOf('condition', 'annotation', 'want a condition or an annotation')],
  },
);

const drainWindow = object(
  'A recurring maintenance window.',
  {
    schedule: pattern(
      'When the window opens, as a cron expression with five fields, such as 0 2 * * SAT.',
      128,
      '^[-0-9A-Za-z*,/]+( +[-0-9A-Za-z*,/]+){4}$',
      'want five fields: minute, hour, day of month, month and day of week',
    ),
    timeZone: {
      type: 'string',
      description: 'Time zone of the schedule, such as Europe/Berlin.',
      minLength: 1,
      maxLength: 64,
      default: 'Etc/UTC',
    },
    duration: {
      ...duration('How long the window stays open. Must be longer than 0.'),
      rules: [
        {
          matches: '^([0-9]{1,6}([.][0-9]{1,6})?(ms|s|m|h))+$',
          message: 'want a duration such as 30s, 10m or 1h30m',
        },
        { matches: '[1-9]', message: 'want a duration longer than 0' },
      ],
    },
  },
  { required: ['schedule', 'duration'] },
);

const drainGate = object(
  'A gate. If its state cannot be read, the gate is closed.',
  {
    name: filledText('Name in the status.', 63),
    object: {
      ...objectState,
      description: 'The gate is open while this object has the condition or annotation.',
    },
    noAlerts: object(
      'The gate is open while this Prometheus query returns no result.',
      {
        url: pattern(
          'URL of the Prometheus HTTP API, such as http://prometheus.monitoring:9090.',
          512,
          '^https?://[^/?#@ ]+(/[^?# ]*)?$',
          'want http://HOST or https://HOST, with a port and a path if need be',
        ),
        query: filledText(
          'Query in PromQL, such as ALERTS{alertstate="firing",severity="critical"}.',
          2048,
        ),
        timeout: { ...duration('Timeout of the query.'), default: '5s' },
      },
      { required: ['url', 'query'] },
    ),
  },
  {
    required: ['name'],
    rules: [eitherOf('object', 'noAlerts', 'want an object or noAlerts')],
  },
);

const drainHook = object(
  'A step that another program takes. The step is done when the object has the condition or annotation.',
  {
    name: filledText('Name in the status.', 63),
    object: objectState,
    timeout: duration('How long the node waits for the step. Defaults to no timeout.'),
    onTimeout: word(
      'What happens after the timeout. Fail: the drain of the node fails. GoOn: the drain of the node continues.',
      ['Fail', 'GoOn'],
      'Fail',
    ),
  },
  { required: ['name', 'object'] },
);

const drainHeeds = object('Requests of other programs that the drain respects.', {
  podAnnotations: list(
    'Annotations that hold a pod: safe-to-evict with the value "false", do-not-disrupt with the value "true".',
    2,
    {
      type: 'string',
      enum: ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'karpenter.sh/do-not-disrupt'],
    },
  ),
  nodeAnnotations: list(
    'Annotations that hold a node like pauseLabel does: do-not-disrupt with the value "true".',
    1,
    { type: 'string', enum: ['karpenter.sh/do-not-disrupt'] },
  ),
  pauseLabel: keyText(
    'Key of a label that holds a node, whatever its value. The drain of such a node does not start, and no further pod leaves the node.',
    'want the key of a label such as example.com/keep',
  ),
});

/** The fields of a spec for the waits of a drain, and for the programs that it respects. */
const waitFields = {
  heeds: { ...drainHeeds, default: {} },
  nodeConditions: word(
    'How the node conditions of KEP-5683 are treated. Heed: if another program has set DrainInProgress to True, the drain of the node does not start before the node is Drained. Publish: like Heed; the drain also sets MaintenancePlanned, DrainInProgress and Drained on its nodes. Ignore: the conditions are neither read nor set.',
    ['Heed', 'Ignore', 'Publish'],
    'Heed',
  ),
  windows: list(
    'When the drain of a node may start. One open window is enough. Defaults to any time.',
    16,
    drainWindow,
  ),
  gates: list('Gates that must all be open for the drain of a node to start.', 16, drainGate),
  whileClosed: word(
    'What happens to nodes whose drain has started when all windows or a gate close. FinishNodes: the drain of these nodes continues to its end. HoldPods: no further pod leaves until windows and gates are open. RollBack: the taint and the cordon of nodes that still have pods are removed, and the drain of these nodes starts over.',
    ['FinishNodes', 'HoldPods', 'RollBack'],
    'FinishNodes',
  ),
  beforeNode: list(
    'Steps that a node waits for after it is cordoned and tainted, before its pods leave.',
    16,
    drainHook,
  ),
  afterNode: list(
    'Steps that a node waits for after its pods are gone, before it counts as drained.',
    16,
    drainHook,
  ),
} as const;

const lifecycleKeyNames: readonly string[] = [
  ...new Set([...lifecycleKeys.NoExecute, ...lifecycleKeys.NoSchedule]),
];

const nodeFields = {
  nodes: filledList(
    'Names of the nodes, in the order in which they are drained.',
    1000,
    filledCharacters(253),
  ),
  nodeSelector: selector(
    'Selects the nodes by their labels. They are drained in the order of their names. If it selects more than 1000 nodes, the drain does not start.',
  ),
  taint: object(
    'Taint that the drain adds to the nodes. This field is immutable.',
    {
      key: taintKey,
      value: { ...taintValue, default: '' },
      effect: word(
        'Effect of the taint. NoSchedule: no other controller evicts pods for the taint. NoExecute: also keeps out pods that tolerate the taint for a limited time; use it only if no other controller evicts without checking PodDisruptionBudgets.',
        ['NoExecute', 'NoSchedule'],
        'NoSchedule',
      ),
    },
    {
      required: ['key'],
      rules: [
        unchangeable,
        {
          cel: "!(self.key.startsWith('node.kubernetes.io/') && self.key.substring(19) in ['not-ready', 'unreachable', 'memory-pressure', 'disk-pressure', 'network-unavailable', 'pid-pressure', 'unschedulable'])",
          message:
            'want a key of your own: node lifecycle controllers put this taint on and take it off as the state of the node has it',
          holds: ({ key }: { key: string }): boolean => !lifecycleKeyNames.includes(key),
        },
      ],
    },
  ),
  paused: truth(
    'Pauses the drain: no further node starts and no further pod is evicted. Evictions in progress finish. Timeouts keep running.',
    false,
  ),
  laterNodes: word(
    'What happens to nodes that match the nodeSelector only after the drain started. Drain: they are drained too. Leave: they are not drained.',
    ['Drain', 'Leave'],
    'Leave',
  ),
  maintenancePlanned: word(
    'Require: of the nodes that nodeSelector selects, only those with the condition MaintenancePlanned (KEP-5683) set to True are drained. Ignore: all are drained.',
    ['Ignore', 'Require'],
    'Ignore',
  ),
  cordon: word(
    'When nodes are cordoned. AtTurn: when the drain of the node starts. AtStart: all nodes when the drain starts. Never: nodes are tainted only.',
    ['AtStart', 'AtTurn', 'Never'],
    'AtTurn',
  ),
} as const;

const podFields = {
  tolerations: word(
    'How tolerations of the taint are treated. Respect: a pod stays as long as it tolerates the taint. NoWait: only pods that tolerate the taint forever stay. Ignore: all pods leave at once.',
    ['Ignore', 'NoWait', 'Respect'],
    'Respect',
  ),
  pods: object(
    'Which pods may be evicted, and how. The drain of a node with other pods does not start.',
    {
      withoutController: truth('Allows the eviction of pods that no controller recreates.', false),
      withEmptyDir: truth(
        'Allows the eviction of pods with emptyDir volumes, whose data is lost.',
        false,
      ),
      order: word(
        'Order of the pods of a node. Together: all pods leave as soon as they are due. ByPriority: pods with a lower priority are gone before pods with a higher priority are evicted.',
        ['ByPriority', 'Together'],
        'Together',
      ),
      singleReplicas: word(
        'How the only pod of a Deployment leaves. Evict: by eviction, like other pods. RolloutRestart: the Deployment is restarted like kubectl rollout restart does, so that a new pod is ready before the old one leaves; the node must be cordoned. If that is not possible, or takes longer than timeouts.rollout, the pod is evicted.',
        ['Evict', 'RolloutRestart'],
        'Evict',
      ),
      evictBy: {
        type: 'string',
        description:
          'How pods are evicted. EvictionAPI: by pods/eviction. EvictionRequest: if the cluster has lifecycle.k8s.io/v1alpha1, an EvictionRequest asks the responders of a pod to move it within timeouts.evictionRequest; otherwise and afterwards by pods/eviction. This field is immutable.',
        enum: ['EvictionAPI', 'EvictionRequest'],
        default: 'EvictionAPI',
        rules: [unchangeable],
      },
      waitCompleted: object(
        'Pods that may complete before they are evicted. Completed pods are not evicted.',
        {
          podSelector: selector('Selects pods by their labels. Defaults to the pods of Jobs.'),
          timeout: duration(
            'How long the pods may take, from the start of the drain of their node.',
          ),
        },
        { required: ['timeout'] },
      ),
      waitDetached: object(
        'Evicts the pods of a StatefulSet one after another: the next pod is evicted when the volumes of the previous pod that come from its own claims are detached from its node.',
        {
          timeout: duration('How long to wait for the volumes, from the time their pod is gone.'),
          onTimeout: word(
            'What happens after the timeout. Hold: the next pod stays. GoOn: the next pod is evicted.',
            ['GoOn', 'Hold'],
            'Hold',
          ),
        },
        { required: ['timeout'] },
      ),
      last: filledList(
        'Groups of pods that leave after all other pods of their node, one group after another. A pod in several groups belongs to the last of them.',
        16,
        object(
          'A group of pods. All fields that are set must match.',
          {
            namespaces: filledList(
              'Names of namespaces, in which * matches any characters. Defaults to all namespaces.',
              32,
              namespacePattern,
            ),
            podSelector: selector('Selects pods by their labels. Defaults to all pods.'),
          },
          {
            rules: [
              someOf(['namespaces', 'podSelector'], 'want namespaces, a podSelector, or both'),
            ],
          },
        ),
      ),
      gracePeriodSeconds: whole(
        'Grace period of the pods in seconds. Defaults to the grace period of each pod.',
        [0, 2147483647],
      ),
    },
    { default: {} },
  ),
  budgets: object(
    'How PodDisruptionBudgets are treated.',
    {
      policy: word(
        'Respect: retry the eviction until the budgets allow it. DeleteAfter: retry for the time in deleteAfter, then delete the pod. Ignore: delete the pod at once.',
        ['DeleteAfter', 'Ignore', 'Respect'],
        'Respect',
      ),
      deleteAfter: duration(
        'For DeleteAfter: how long the eviction is retried. Required with DeleteAfter; must be unset otherwise.',
      ),
    },
    {
      default: {},
      rules: [
        {
          cel: "(self.policy == 'DeleteAfter') == has(self.deleteAfter)",
          message: 'want deleteAfter with policy DeleteAfter, and only there',
          holds: ({ policy, deleteAfter }: { policy: string; deleteAfter?: string }): boolean =>
            (policy === 'DeleteAfter') === (deleteAfter !== undefined),
        },
      ],
    },
  ),
} as const;

const paceFields = {
  order: word(
    'Order of the nodes. Listed: the order of nodes, or of names with nodeSelector. ByZone: within a wave, one zone is finished before the next starts.',
    ['ByZone', 'Listed'],
    'Listed',
  ),
  waves: {
    ...filledList(
      'Waves of nodes. A wave is finished before the next starts; after a failed wave, no other starts. A node belongs to the first wave that selects it. Nodes that no wave selects come last.',
      32,
      object(
        'A wave of nodes.',
        {
          name: filledText('Name of the wave in the status. Must be unique.', 63),
          nodeSelector: selector('Selects the nodes of the wave.'),
          nodesAtOnce: whole(
            'Overrides limits.nodesAtOnce for this wave. 0 means no limit.',
            [0, 10000],
          ),
        },
        { required: ['name', 'nodeSelector'] },
      ),
    ),
    rules: [
      {
        cel: 'self.all(one, self.exists_one(other, other.name == one.name))',
        message: 'want each name once',
        holds: (self: readonly { name: string }[]): boolean =>
          new Set(self.map(({ name }) => name)).size === self.length,
      },
    ],
  },
  limits: object(
    'Limits on the pace of the drain.',
    {
      nodesAtOnce: {
        ...wholeOrPercent(
          'Maximum number or percentage (such as 10%) of nodes that are drained at the same time. A percentage is of the nodes of the wave, rounded down, but at least one node. 0 means no limit.',
          [0, 10000],
          '[1-9][0-9]?',
        ),
        default: 1,
      },
      heldUpNodes: whole(
        'Maximum number of stuck nodes that nodesAtOnce does not count. A node is stuck after a minute with only pods that budgets refuse, that are held, or that do not terminate.',
        [0, 10000],
        1,
      ),
      maxUnavailable: wholeOrPercent(
        'Maximum number or percentage (such as 25%) of the pods of a workload (the controller that owns them) that may be unavailable at the same time, across all drains. A percentage is rounded down, but at least one pod. Defaults to no limit.',
        [1, 10000],
        '[1-9][0-9]?',
      ),
      podsAtOnce: whole(
        'Maximum number of pods that are leaving at the same time. 0 means no limit.',
        [0, 100000],
        0,
      ),
    },
    { default: {} },
  ),
  timeouts: object(
    'Timeouts of the drain.',
    {
      evictionRequest: {
        ...duration(
          'How long the responders of a pod may take to move it after an EvictionRequest of this drain or another program. If no responder answers, the drain waits one minute.',
        ),
        default: '1h',
      },
      node: duration(
        'How long the drain of a node may take, from its start. 0 or unset means no timeout.',
      ),
      rollout: {
        ...duration('How long to wait for a restarted Deployment to have its new pod ready.'),
        default: '10m',
      },
      terminatingPods: duration('How long to wait for a terminating pod. Defaults to no timeout.'),
    },
    { default: {} },
  ),
  onFailure: word(
    'What happens to the taint of a node whose drain failed.',
    ['KeepTaint', 'RollBack'],
    'KeepTaint',
  ),
  until: time('When the drain is given up. Defaults to never.'),
  ttlSecondsAfterFinished: whole(
    'Seconds between the end of the drain (Drained, Failed or TimedOut) and its deletion. 0 means at once; if unset, the drain is not deleted. Deletion removes the taint and the cordon that the drain set, unless another program has changed them since. Must be unset with laterNodes Drain.',
    [0, 2147483647],
  ),
} as const;

/** Where a word is another, a member has to be there, or must not be. */
function onlyIf(
  member: string,
  plain: string,
  other: string,
  isThere: boolean,
  message: string,
): Rule {
  return {
    cel: `self.${member} == '${plain}' || ${isThere ? '' : '!'}has(self.${other})`,
    message,
    holds: (self: Readonly<Record<string, unknown>>) =>
      self[member] === plain || (self[other] !== undefined) === isThere,
  };
}

export const nodeDrainSpec = object(
  'Specification of the drain: the nodes, the pods, and the pace.',
  { ...nodeFields, ...podFields, ...paceFields, ...waitFields },
  {
    required: ['taint'],
    rules: [
      eitherOf('nodes', 'nodeSelector', 'want nodes or a nodeSelector'),
      onlyIf(
        'maintenancePlanned',
        'Ignore',
        'nodeSelector',
        true,
        'want maintenancePlanned Require only with a nodeSelector',
      ),
      onlyIf(
        'laterNodes',
        'Leave',
        'nodeSelector',
        true,
        'want laterNodes Drain only with a nodeSelector',
      ),
      onlyIf(
        'laterNodes',
        'Leave',
        'ttlSecondsAfterFinished',
        false,
        'want ttlSecondsAfterFinished only with laterNodes Leave: the drain has no end otherwise',
      ),
    ],
  },
);

export type NodeDrainSpec = TypeOf<typeof nodeDrainSpec>;

export const nodeDrainKind: Kind = {
  description: 'NodeDrain drains nodes with a taint.',
  plural: 'nodedrains',
  shortName: 'ndrain',
  spec: nodeDrainSpec,
  status: nodeDrainStatus,
  columns: [
    column('Phase', 'string', '.status.phase', 'Phase of the drain'),
    column('Nodes', 'integer', '.status.nodes', 'Nodes in the drain'),
    column('Drained', 'integer', '.status.nodesDrained', 'Nodes that are drained'),
    column('Pods Left', 'integer', '.status.podsLeft', 'Pods that have not left'),
    column('Pods Staying', 'integer', '.status.podsStaying', 'Pods that stay there'),
    column('Taint', 'string', '.spec.taint.key', 'Key of the taint', 1),
    column('Wave', 'string', '.status.wave', 'The current wave', 1),
    age,
  ],
};

/** The finalizer that keeps a deleted NodeDrain until its changes of nodes are undone. */
export const drainFinalizer = 'taintmgr.dev/undo-drain';

/** The drain for the engine; `status` is the engine's own earlier status of it. */
export function nodeDrainOf(
  { name, uid, generation, created, isDeleted, finalizers }: Metadata,
  spec: NodeDrainSpec,
  status: NodeDrainStatus | null,
): NodeDrain {
  const { phase = 'Pending', observedGeneration = null } = status ?? {};
  const hasEnded = ['Drained', 'Failed', 'TimedOut'].includes(phase);
  return {
    ...{ name, uid, generation, created, isDeleted },
    isGuarded: finalizers.includes(drainFinalizer),
    spec: engineValue(nodeDrainSpec, spec),
    known: (status?.nodeStates ?? []).map(knownNode),
    podsLeft: (status?.pods ?? []).flatMap(({ node, uid: pod }) => {
      return pod === undefined ? [] : [{ node, uid: pod }];
    }),
    podsGoneBefore: goneBefore(status),
    knowsAll: (status?.nodes ?? 0) <= (status?.nodeStates ?? []).length,
    volumeWaits: (status?.volumeWaits ?? []).flatMap(({ statefulSet, since }) => {
      const at = timeOf(since);
      return at === null ? [] : [{ statefulSet, since: at }];
    }),
    notReplaced: (status?.notReplaced ?? []).flatMap(
      ({ workload, uid: pod, since, others = [] }) => {
        const at = timeOf(since);
        return at === null ? [] : [{ workload, uid: pod, since: at, others }];
      },
    ),
    startedAt: timeOf(status?.startedAt),
    observedGeneration,
    observedSelector: status?.observedSelector ?? null,
    isOver: hasEnded && observedGeneration === generation && spec.laterNodes === 'Leave',
  };
}

type NodeState = NonNullable<NodeDrainStatus['nodeStates']>[number];

/** Pods that the whole counts and none of its nodes does. */
function goneBefore(status: NodeDrainStatus | null): number {
  const { podsGone: all = 0, nodeStates = [] } = status ?? {};
  const listed = nodeStates.reduce((sum, { podsGone = 0 }) => sum + podsGone, 0);
  return Math.max(0, all - listed);
}

function knownNode({
  name,
  phase,
  reason,
  message,
  startedAt,
  waitsSince,
  endedAt,
  podsGone = 0,
  podsLeft = 0,
}: NodeState): NodeDrain['known'][number] {
  return {
    ...{ name, phase, reason: reason ?? '', message: message ?? '', podsGone, podsLeft },
    startedAt: timeOf(startedAt),
    waitsSince: timeOf(waitsSince),
    endedAt: timeOf(endedAt),
  };
}
