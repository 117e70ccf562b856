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
  'An object, and what it has to say.',
  {
    apiVersion: pattern(
      'Its group and version: v1, or group/version.',
      317,
      '^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$',
      'want an apiVersion such as v1 or example.com/v1beta1',
    ),
    kind: filledText('Its kind.', 63),
    namespace: filledText('Where it is, unless it belongs to the cluster.', 63),
    name: filledText('Its name; {node} in it stands for the name of the node, in hooks.', 253),
    condition: object(
      'It has this condition in status.conditions.',
      {
        type: filledText('Its type.', 316),
        status: word('Its status.', ['False', 'True', 'Unknown'], 'True'),
      },
      { required: ['type'] },
    ),
    annotation: object(
      'It has this annotation.',
      {
        key: filledText('Its key.', 317),
        value: text('Its value.', 1024),
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
  'A time that comes again and again.',
  {
    schedule: pattern(
      'When it opens, in five fields of cron: 0 2 * * SAT.',
      128,
      '^[-0-9A-Za-z*,/]+( +[-0-9A-Za-z*,/]+){4}$',
      'want five fields: minute, hour, day of month, month and day of week',
    ),
    timeZone: {
      type: 'string',
      description: 'By whose clocks, such as Europe/Berlin.',
      minLength: 1,
      maxLength: 64,
      default: 'Etc/UTC',
    },
    duration: {
      ...duration('How long it stays open.'),
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
  'One that cannot be asked is closed.',
  {
    name: filledText('What it is called in the status.', 63),
    object: { ...objectState, description: 'It is open while this object says so.' },
    noAlerts: object(
      'It is open while this query of Prometheus answers nothing.',
      {
        url: pattern(
          'Where its HTTP API is: http://prometheus.monitoring:9090.',
          512,
          '^https?://[^/?#@ ]+(/[^?# ]*)?$',
          'want http://HOST or https://HOST, with a port and a path if need be',
        ),
        query: filledText('In PromQL: ALERTS{alertstate="firing",severity="critical"}.', 2048),
        timeout: { ...duration('How long an answer is waited for.'), default: '5s' },
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
  'A step of another program, which is done when an object says so.',
  {
    name: filledText('What it is called in the status.', 63),
    object: objectState,
    timeout: duration('How long the node waits for it; left out: without limit.'),
    onTimeout: word(
      'Fail: the node has failed. GoOn: as though the step were done.',
      ['Fail', 'GoOn'],
      'Fail',
    ),
  },
  { required: ['name', 'object'] },
);

const drainHeeds = object('What others ask for.', {
  podAnnotations: list(
    'Annotations that hold a pod: safe-to-evict where it is "false", do-not-disrupt where it is "true".',
    2,
    {
      type: 'string',
      enum: ['cluster-autoscaler.kubernetes.io/safe-to-evict', 'karpenter.sh/do-not-disrupt'],
    },
  ),
  nodeAnnotations: list(
    'Annotations that hold a node as the pauseLabel does: do-not-disrupt where it is "true".',
    1,
    { type: 'string', enum: ['karpenter.sh/do-not-disrupt'] },
  ),
  pauseLabel: keyText(
    'The key of a label: a node that has it, whatever its value, is not begun, and no further pod of it leaves.',
    'want the key of a label such as example.com/keep',
  ),
});

/** The fields of a spec for the waits of a drain, and for the programs that it respects. */
const waitFields = {
  heeds: { ...drainHeeds, default: {} },
  nodeConditions: word(
    'Heed: a node whose condition DrainInProgress (KEP-5683) another program has set True is not begun before it is Drained. Publish: the same, and MaintenancePlanned, DrainInProgress and Drained of its nodes say how far it is. Ignore: neither.',
    ['Heed', 'Ignore', 'Publish'],
    'Heed',
  ),
  windows: list(
    'When nodes may begin; left out: at all times. One window that is open is enough.',
    16,
    drainWindow,
  ),
  gates: list('Nodes begin only while all of these are open.', 16, drainGate),
  whileClosed: word(
    'What becomes of nodes that have begun when all windows close, or a gate does. FinishNodes: they are finished. HoldPods: no further pod leaves until they open. RollBack: the taint and cordon of nodes that still have pods are taken back, and they begin anew.',
    ['FinishNodes', 'HoldPods', 'RollBack'],
    'FinishNodes',
  ),
  beforeNode: list(
    'What a node waits for when it is cordoned and tainted, before its pods leave.',
    16,
    drainHook,
  ),
  afterNode: list(
    'What it waits for when they are gone, before it counts as drained.',
    16,
    drainHook,
  ),
} as const;

const lifecycleKeyNames: readonly string[] = [
  ...new Set([...lifecycleKeys.NoExecute, ...lifecycleKeys.NoSchedule]),
];

const nodeFields = {
  nodes: filledList(
    'The names of the nodes, in the order in which they are drained.',
    1000,
    filledCharacters(253),
  ),
  nodeSelector: selector(
    'The nodes by their labels, in the order of their names. A drain of more than 1000 begins none.',
  ),
  taint: object(
    'The taint that the nodes get. It cannot be changed.',
    {
      key: taintKey,
      value: { ...taintValue, default: '' },
      effect: word(
        'NoSchedule: no other controller evicts for it. NoExecute: also keeps off pods that tolerate it for a while, and only where no controller evicts without asking budgets.',
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
    'No further node is begun and no further pod is asked to go; what is under way ends. Time-outs go on.',
    false,
  ),
  laterNodes: word(
    'Nodes that come to match the nodeSelector after the drain began.',
    ['Drain', 'Leave'],
    'Leave',
  ),
  maintenancePlanned: word(
    'Require: of the nodes of the nodeSelector only those whose condition MaintenancePlanned (KEP-5683) is True.',
    ['Ignore', 'Require'],
    'Ignore',
  ),
  cordon: word(
    'AtTurn: a node is cordoned when its turn comes. AtStart: all are at once. Never: the taint alone.',
    ['AtStart', 'AtTurn', 'Never'],
    'AtTurn',
  ),
} as const;

const podFields = {
  tolerations: word(
    'Respect: a pod stays for as long as it tolerates the taint. NoWait: only those that tolerate it without limit stay. Ignore: all are evicted at once.',
    ['Ignore', 'NoWait', 'Respect'],
    'Respect',
  ),
  pods: object(
    'Which pods may go. A node with others is not begun.',
    {
      withoutController: truth('Pods without a controller that would recreate them.', false),
      withEmptyDir: truth('Pods with emptyDir volumes, whose data is lost with them.', false),
      order: word(
        'Together: all pods of a node go as soon as they are due. ByPriority: those of a lower priority are gone before those of a higher one begin.',
        ['ByPriority', 'Together'],
        'Together',
      ),
      singleReplicas: word(
        'Evict: as all pods. RolloutRestart: a Deployment of one pod on a cordoned node is restarted as by kubectl rollout restart, so that another pod is ready before this one goes; where that cannot be, or takes longer than timeouts.rollout, it is evicted.',
        ['Evict', 'RolloutRestart'],
        'Evict',
      ),
      evictBy: {
        type: 'string',
        description:
          'EvictionAPI: by pods/eviction. EvictionRequest: where the cluster has lifecycle.k8s.io/v1alpha1, the controller registered for a pod is asked to move it, for as long as timeouts.evictionRequest says; else by pods/eviction. It cannot be changed.',
        enum: ['EvictionAPI', 'EvictionRequest'],
        default: 'EvictionAPI',
        rules: [unchangeable],
      },
      waitCompleted: object(
        'Pods that may finish before they are evicted; those that have are left where they are.',
        {
          podSelector: selector('By the labels of pods; left out: the pods of Jobs.'),
          timeout: duration('How long they may take, from the start of their node.'),
        },
        { required: ['timeout'] },
      ),
      waitDetached: object(
        'Pods of a StatefulSet go one after the other: the next one when the volumes of the one before, of claims of its own, are detached from its node.',
        {
          timeout: duration('How long volumes are waited for, from when their pod is gone.'),
          onTimeout: word(
            'Hold: the next one stays. GoOn: it is evicted anyway.',
            ['GoOn', 'Hold'],
            'Hold',
          ),
        },
        { required: ['timeout'] },
      ),
      last: filledList(
        'Groups of pods that begin when all others of their node are gone, one group after the other; a pod of several is in the last of them.',
        16,
        object(
          'A group of pods; everything given must match.',
          {
            namespaces: filledList(
              'Names, in which * stands for any characters; left out: all.',
              32,
              namespacePattern,
            ),
            podSelector: selector('By the labels of pods; left out: all pods.'),
          },
          {
            rules: [
              someOf(['namespaces', 'podSelector'], 'want namespaces, a podSelector, or both'),
            ],
          },
        ),
      ),
      gracePeriodSeconds: whole(
        'How long they may take to stop, in seconds; left out: as each pod says.',
        [0, 2147483647],
      ),
    },
    { default: {} },
  ),
  budgets: object(
    'What is done about PodDisruptionBudgets.',
    {
      policy: word(
        'Respect: retry until they allow the eviction. DeleteAfter: retry for this time, then delete. Ignore: delete at once.',
        ['DeleteAfter', 'Ignore', 'Respect'],
        'Respect',
      ),
      deleteAfter: duration('For DeleteAfter: how long they are asked.'),
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
    'Listed: as listed. ByZone: one zone, within its wave, is finished before the next begins.',
    ['ByZone', 'Listed'],
    'Listed',
  ),
  waves: {
    ...filledList(
      'One wave is finished before the next begins, and none begins after one that failed. A node is in the first wave that selects it; nodes that none selects come last.',
      32,
      object(
        'A wave of nodes.',
        {
          name: filledText('What the status calls it.', 63),
          nodeSelector: selector('Which of the nodes are in it.'),
          nodesAtOnce: whole('Instead of limits.nodesAtOnce; 0: no limit.', [0, 10000]),
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
    'How much happens at one time.',
    {
      nodesAtOnce: {
        ...wholeOrPercent(
          'Nodes that are drained at one time, as a number or, such as 10%, as a part of those of their wave (rounded down, at least one); 0: no limit.',
          [0, 10000],
          '[1-9][0-9]?',
        ),
        default: 1,
      },
      heldUpNodes: whole(
        'So many nodes do not count in nodesAtOnce on which, for a minute, nothing is left but pods that budgets refuse, that are held, or that do not end.',
        [0, 10000],
        1,
      ),
      maxUnavailable: wholeOrPercent(
        'Pods of one workload (the controller that owns them) that may be unavailable at one time, over all drains, as a number or, such as 25%, as a part of its pods (rounded down, at least one); left out: no limit.',
        [1, 10000],
        '[1-9][0-9]?',
      ),
      podsAtOnce: whole('Pods that are on their way out at one time; 0: no limit.', [0, 100000], 0),
    },
    { default: {} },
  ),
  timeouts: object(
    'How long is waited.',
    {
      evictionRequest: {
        ...duration(
          'How long the controller registered for a pod has to move it, after an EvictionRequest of this drain or another client. Without an answer: one minute.',
        ),
        default: '1h',
      },
      node: duration('How long one node may take, from its start; 0 or left out: without limit.'),
      rollout: {
        ...duration('How long a Deployment of one pod is waited for to start another one.'),
        default: '10m',
      },
      terminatingPods: duration(
        'Pods that terminate for longer are not waited for; left out: all are.',
      ),
    },
    { default: {} },
  ),
  onFailure: word(
    'What becomes of the taint of a node that could not be drained.',
    ['KeepTaint', 'RollBack'],
    'KeepTaint',
  ),
  until: time('When the drain is given up; left out: never.'),
  ttlSecondsAfterFinished: whole(
    'Seconds after which the drain is deleted once it has ended as Drained, Failed or TimedOut; 0: at once; left out: never. Deleting it takes back the taint and the cordon that it has set, where nobody else has changed them since. It needs laterNodes: Leave.',
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
  'Which nodes are drained, and how.',
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
  description: 'Drains nodes by a taint.',
  plural: 'nodedrains',
  shortName: 'ndrain',
  spec: nodeDrainSpec,
  status: nodeDrainStatus,
  columns: [
    column('Phase', 'string', '.status.phase', 'Where it stands'),
    column('Nodes', 'integer', '.status.nodes', 'Nodes that it is for'),
    column('Drained', 'integer', '.status.nodesDrained', 'Nodes that are drained'),
    column('Pods Left', 'integer', '.status.podsLeft', 'Pods that have still to leave'),
    column('Pods Staying', 'integer', '.status.podsStaying', 'Pods that stay there'),
    column('Taint', 'string', '.spec.taint.key', 'The key of the taint', 1),
    column('Wave', 'string', '.status.wave', 'The wave that it is at', 1),
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
