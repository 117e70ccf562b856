// TaintManager: what the leader says of itself; it has a status and no spec.

import { heldNodesMax, heldZonesMax } from '@taintmgr/core/lifecycle';
import {
  characters,
  conditions,
  count,
  entry,
  keyedList,
  list,
  natural,
  object,
  text,
  time,
} from './fields.ts';
import { age, column, type Kind, type TypeOf } from './schema.ts';

/** The counts of pods by taintmgr's hypothetical action. */
const shadowCounts = {
  same: count('Number of pods that both would evict at the same time.'),
  earlier: count(
    'Number of pods that taintmgr would have evicted earlier than kube-controller-manager.',
  ),
  later: count(
    'Number of pods that taintmgr would have evicted later than kube-controller-manager.',
  ),
  kept: count('Number of pods that kube-controller-manager deleted and taintmgr would have kept.'),
  onlyTaintmgr: count(
    'Number of pods that taintmgr would have evicted and kube-controller-manager did not evict.',
  ),
  budgetsAsked: count(
    'Number of pods among same, earlier and later that taintmgr would have evicted through the Eviction API, which checks PodDisruptionBudgets.',
  ),
} as const;

const shadowSeconds = {
  type: 'object',
  properties: {
    mean: { type: 'number', description: 'Mean difference in seconds.', minimum: 0 },
    most: { type: 'number', description: 'Largest difference in seconds.', minimum: 0 },
  },
} as const;

const shadowRow = entry(['name'], {
  name: text(
    'Name of the row. (none) stands for pods without one; (others) stands for rows that do not fit.',
    317,
  ),
  ...shadowCounts,
});

/** The shadow report that a controller in a dry run publishes. */
const shadowReport = object(
  'Comparison of the evictions of kube-controller-manager with those that taintmgr would have made.',
  {
    since: time('When the counts began.'),
    ...shadowCounts,
    earlierSeconds: {
      ...shadowSeconds,
      description: 'How much earlier taintmgr would have evicted, in seconds.',
    },
    laterSeconds: {
      ...shadowSeconds,
      description: 'How much later taintmgr would have evicted, in seconds, where known.',
    },
    following: count('Number of pods without a verdict yet.'),
    notDeleted: count(
      'Number of pods that were marked for deletion because of a taint and were not deleted.',
    ),
    leftOtherwise: count(
      'Number of pods that taintmgr would have evicted, but that left earlier for another reason than a taint.',
    ),
    givenUp: count('Number of pods without a verdict because too many were followed at once.'),
    taints: keyedList('Counts by the key of the taint that decided.', 21, shadowRow),
    namespaces: keyedList('Counts by namespace.', 21, shadowRow),
    policies: keyedList('Counts by the EvictionPolicy that applied.', 21, shadowRow),
    reasons: list(
      'Reasons why pods would have left later or stayed.',
      32,
      entry(['verdict', 'reason'], {
        verdict: text('Verdict: later or kept.', 63),
        reason: text('Reason, such as KeptByPolicy.', 63),
        pods: count('Number of pods with this reason.'),
      }),
    ),
    recent: list(
      'Latest verdicts, newest first.',
      20,
      entry(['verdict'], {
        at: time('When the verdict was given.'),
        verdict: text('Name of the count: same, earlier, later, kept or onlyTaintmgr.', 63),
        namespace: text('Namespace of the pod.', 63),
        pod: text('Name of the pod.', 253),
        node: text('Node of the pod.', 253),
        seconds: {
          type: 'number',
          description: 'How many seconds later taintmgr would have evicted. Negative if earlier.',
        },
        budgetsAsked: {
          type: 'boolean',
          description: 'True if taintmgr would have checked PodDisruptionBudgets.',
        },
        taint: text('Key of the taint.', 317),
        policy: text('EvictionPolicy that applied.', 253),
        reason: text('Reason, as in reasons.', 63),
        message: text('Human-readable form of the reason.', 1024),
      }),
    ),
  },
);

/** Pods that kube-controller-manager was refused, and what became of them. */
const sparedCounts = {
  spared: natural('Number of pods whose deletion by kube-controller-manager was refused.'),
  held: natural('Number of spared pods that still exist because they are not due or are held.'),
  evicted: natural('Number of spared pods that taintmgr evicted.'),
  letThrough: natural('Number of pods that kube-controller-manager deleted despite the takeover.'),
} as const;

export const taintManagerStatus = object('Status and heartbeat of the leader.', {
  renewTime: time(
    'When the leader last updated this status. The leader updates it every few seconds.',
  ),
  leader: text('Identity of the leader.', 253),
  version: text('Version of the leader.', 64),
  startedAt: time('When the leader was elected.'),
  settings: {
    type: 'map',
    description: 'Effective settings, by the names of their flags.',
    maxProperties: 128,
    values: characters(1024),
  },
  policies: keyedList(
    'Policies and pauses from --policy files of the leader. They are not objects of the cluster.',
    128,
    entry(['kind', 'name'], {
      kind: text('Kind, such as EvictionPolicy.', 63),
      name: text('Name in the file.', 253),
      spec: text('Spec as JSON. Unset if it is too long.', 8192),
      since: time('When the pause took effect.'),
    }),
    ['kind', 'name'],
  ),
  controllers: list('Controllers that run.', 16, characters(63)),
  features: list(
    'Features that other programs can rely on. drain-marks: the controller leaves pods to the drain that marks their taint. last-replica: the controller does not evict its own last ready replica.',
    16,
    characters(63),
  ),
  zones: keyedList(
    'Zones of the cluster.',
    64,
    entry(['name'], {
      name: text('Name of the zone, in the form region/zone.', 127),
      state: text('State of the zone.', 63),
      nodes: count('Number of nodes in the zone.'),
      notReady: count('Number of nodes that are not ready.'),
      rate: {
        type: 'number',
        description: 'Number of nodes that are tainted per second.',
        minimum: 0,
      },
      heldSince: time('When the pods of the zone were held because all of its nodes are down.'),
    }),
  ),
  counts: object('Counts of nodes and pods.', {
    nodes: count('Number of nodes.'),
    tainted: count('Number of nodes with NoExecute taints.'),
    pods: count('Number of pods.'),
    pending: count('Number of pods whose deadline has not passed.'),
    held: count('Number of pods that limits or pauses hold.'),
    blocked: count('Number of pods whose eviction a PodDisruptionBudget refuses.'),
    evicted: count('Number of pods evicted since startedAt.'),
  }),
  trippedLimits: keyedList(
    'Limits that have tripped. They stop evictions until an operator runs kubectl taintmgr resume.',
    64,
    entry(['name'], {
      name: text('Name of the limit, as kubectl taintmgr resume takes it.', 1024),
      since: time('When the limit tripped.'),
    }),
  ),
  rates: keyedList(
    'Limits whose rate is in use. Waiting pods are evicted one after another.',
    64,
    entry(['name', 'oneAt'], {
      name: text('Name of the limit.', 1024),
      oneAt: time('When the limit allows the next eviction; in the past if it is already allowed.'),
    }),
  ),
  pauses: list('Names of the EvictionPauses in force.', 64, characters(253)),
  pauseRecords: keyedList(
    'Pauses that hold deadlines now. A leader that starts after the end of a pause extends deadlines by its length.',
    64,
    entry(['name'], {
      name: text('Name of the pause.', 316),
      uid: text('UID of the pause. Unset for a pause from a file.', 128),
      since: time('When the pause took effect. Unset if unknown.'),
      until: time('When the pause ends.'),
      scope: text(
        'Scope of the pause, as JSON. If unset, the scope is unknown and the whole cluster is assumed.',
        4096,
      ),
    }),
  ),
  evictors: keyedList(
    'Other programs that evict pods in this cluster.',
    16,
    entry(['name'], {
      name: text('Name of the program, such as kube-controller-manager.', 253),
      work: text('Work of the controller that the program does too.', 253),
      evidence: text('Evidence for this.', 1024),
    }),
  ),
  takeover: object(
    'State of the takeover, in which the leader decides instead of kube-controller-manager.',
    {
      enabled: {
        type: 'boolean',
        description:
          'True if the takeover is enabled. While it is disabled, the admission policies refuse nothing.',
      },
      deviceTaints: {
        type: 'boolean',
        description:
          'True if the takeover includes device taints. Otherwise kube-controller-manager handles them.',
      },
      policyVersion: text('Version of the admission policies that the leader keeps installed.', 64),
      drift: list(
        'Differences between the installed admission policies and those of the leader.',
        32,
        characters(1024),
      ),
      namespaces: natural('Number of namespaces with the label of the takeover.'),
      ...sparedCounts,
      byNamespace: keyedList(
        'Counts for each namespace.',
        128,
        entry(['name'], {
          name: text('Name of the namespace.', 63),
          ...sparedCounts,
        }),
      ),
      holdReadiness: object(
        'While set, only their kubelets mark these pods as not ready.',
        {
          reason: text('Human-readable reason.', 1024),
          all: { type: 'boolean', description: 'True if the pods of all nodes are included.' },
          zones: list(
            'Zones whose pods are included, in the form region/zone. Pods need zone labels (Kubernetes 1.35).',
            heldZonesMax,
            characters(127),
          ),
          nodes: list('Nodes whose pods are included.', heldNodesMax, characters(253)),
        },
        { required: ['reason'] },
      ),
    },
  ),
  shadow: shadowReport,
  conditions,
});

/**
 * A member of `features`: the pods of a drain's taint are left to the drain while that is at work.
 */
export const drainMarksFeature = 'drain-marks';

/** A member of `features`: the leader knows its own pod, and keeps the last ready replica. */
export const lastReplicaFeature = 'last-replica';

/** The evictions of kube-controller-manager, compared with those that taintmgr would have made. */
export type PublishedShadow = NonNullable<TaintManagerStatus['shadow']>;

/** The status of a TaintManager: what a leader says of itself. */
export type TaintManagerStatus = TypeOf<typeof taintManagerStatus>;

export const taintManagerKind: Kind = {
  description: 'TaintManager is the status and heartbeat of the leader of an installation.',
  plural: 'taintmanagers',
  shortName: 'tmgr',
  spec: null,
  status: taintManagerStatus,
  columns: [
    column('Leader', 'string', '.status.leader', 'Identity of the leader'),
    column('Version', 'string', '.status.version', 'Version of the leader'),
    column('Renewed', 'date', '.status.renewTime', 'When the leader last updated the status'),
    column('Nodes', 'integer', '.status.counts.nodes', 'Nodes of the cluster', 1),
    column('Tainted', 'integer', '.status.counts.tainted', 'Nodes with NoExecute taints'),
    column('Pending', 'integer', '.status.counts.pending', 'Pods whose deadline has not passed'),
    column('Held', 'integer', '.status.counts.held', 'Pods that limits or pauses hold'),
    column('Blocked', 'integer', '.status.counts.blocked', 'Pods whose eviction is refused'),
    column(
      'Evicted',
      'integer',
      '.status.counts.evicted',
      'Pods evicted since the leader was elected',
      1,
    ),
    age,
  ],
};
