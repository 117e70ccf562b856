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
  same: count('Pods that both evict in the same instant.'),
  earlier: count('Pods that taintmgr would have evicted before kube-controller-manager.'),
  later: count('Pods that taintmgr would have evicted after kube-controller-manager.'),
  kept: count('Pods that kube-controller-manager deleted and taintmgr would have kept.'),
  onlyTaintmgr: count('Pods that taintmgr would have evicted and kube-controller-manager did not.'),
  budgetsAsked: count(
    'Of same, earlier and later: pods that taintmgr would have asked disruption budgets about.',
  ),
} as const;

const shadowSeconds = {
  type: 'object',
  properties: {
    mean: { type: 'number', description: 'In the mean.', minimum: 0 },
    most: { type: 'number', description: 'At most.', minimum: 0 },
  },
} as const;

const shadowRow = entry(['name'], {
  name: text('Its name; (none): without one; (others): those there was no room for.', 317),
  ...shadowCounts,
});

/** The shadow report that a controller in a dry run publishes. */
const shadowReport = object(
  'What kube-controller-manager evicted, held against what taintmgr would have done.',
  {
    since: time('Since when this is counted.'),
    ...shadowCounts,
    earlierSeconds: { ...shadowSeconds, description: 'How much earlier.' },
    laterSeconds: { ...shadowSeconds, description: 'How much later, where that can be said.' },
    following: count('Pods without a verdict so far.'),
    notDeleted: count('Pods that were marked for deletion for a taint and were not deleted.'),
    leftOtherwise: count(
      'Pods that taintmgr would have evicted and that left before, but not for a taint.',
    ),
    givenUp: count('Pods without a verdict, as too many were followed at once.'),
    taints: keyedList('By the key of the taint that decided.', 21, shadowRow),
    namespaces: keyedList('By namespace.', 21, shadowRow),
    policies: keyedList('By the EvictionPolicy that counted.', 21, shadowRow),
    reasons: list(
      'Why pods would have left later or not at all.',
      32,
      entry(['verdict', 'reason'], {
        verdict: text('later or kept.', 63),
        reason: text('Such as KeptByPolicy.', 63),
        pods: count('Pods.'),
      }),
    ),
    recent: list(
      'The latest verdicts, the latest first.',
      20,
      entry(['verdict'], {
        at: time('When the verdict was given.'),
        verdict: text('As the counts are called.', 63),
        namespace: text('Of the pod.', 63),
        pod: text('Its name.', 253),
        node: text('Its node.', 253),
        seconds: {
          type: 'number',
          description: 'How much later taintmgr would have been; negative: earlier.',
        },
        budgetsAsked: { type: 'boolean', description: 'Whether budgets would have been asked.' },
        taint: text('The key of the taint.', 317),
        policy: text('The policy that counted.', 253),
        reason: text('As in reasons.', 63),
        message: text('The same in words.', 1024),
      }),
    ),
  },
);

/** Pods that kube-controller-manager was refused, and what became of them. */
const sparedCounts = {
  spared: natural('Pods that kube-controller-manager was refused.'),
  held: natural('Those of them that are there still: not due, or held.'),
  evicted: natural('Those of them that taintmgr evicted.'),
  letThrough: natural('Pods that it deleted nevertheless.'),
} as const;

export const taintManagerStatus = object('Status and heartbeat of the leader.', {
  renewTime: time('When the leader last wrote this; it does so every few seconds.'),
  leader: text('Who leads.', 253),
  version: text('The version of the leader.', 64),
  startedAt: time('When the leader began to lead.'),
  settings: {
    type: 'map',
    description: 'The settings in force, by the names of their flags.',
    maxProperties: 128,
    values: characters(1024),
  },
  policies: keyedList(
    'The policies and pauses of its --policy files, which the cluster does not have.',
    128,
    entry(['kind', 'name'], {
      kind: text('Such as EvictionPolicy.', 63),
      name: text('As the file calls it.', 253),
      spec: text('What it says, as JSON; left out: there is no room for it.', 8192),
      since: time('Since when a pause holds.'),
    }),
    ['kind', 'name'],
  ),
  controllers: list('The controllers that run.', 16, characters(63)),
  features: list(
    'What other programs may count on: drain-marks, that pods are left to drains; last-replica, that the last ready replica of the controller stays.',
    16,
    characters(63),
  ),
  zones: keyedList(
    'The zones of the cluster.',
    64,
    entry(['name'], {
      name: text('As region/zone.', 127),
      state: text('How it is.', 63),
      nodes: count('Its nodes.'),
      notReady: count('Those that are not ready.'),
      rate: { type: 'number', description: 'Nodes that are tainted in a second.', minimum: 0 },
      heldSince: time('Since when its pods stay, as all of its nodes are down and it is held.'),
    }),
  ),
  counts: object('How many there are.', {
    nodes: count('Nodes.'),
    tainted: count('Nodes with NoExecute taints.'),
    pods: count('Pods.'),
    pending: count('Pods that wait for their time.'),
    held: count('Pods that limits or pauses hold.'),
    blocked: count('Pods whose eviction a PodDisruptionBudget refuses.'),
    evicted: count('Pods evicted since startedAt.'),
  }),
  trippedLimits: keyedList(
    'Limits that are shut until you run kubectl taintmgr resume.',
    64,
    entry(['name'], {
      name: text('As it is resumed.', 1024),
      since: time('Since when.'),
    }),
  ),
  rates: keyedList(
    'Limits with a rate that is in use: those who wait go one by one.',
    64,
    entry(['name', 'oneAt'], {
      name: text('As limits are called.', 1024),
      oneAt: time('When it lets one pod go, or could have.'),
    }),
  ),
  pauses: list('The EvictionPauses in force.', 64, characters(253)),
  pauseRecords: keyedList(
    'What holds deadlines now. A leader that starts after the end of a hold extends deadlines by its length.',
    64,
    entry(['name'], {
      name: text('The name of the pause.', 316),
      uid: text('Left out: that of a file.', 128),
      since: time('Since when it holds; left out: unknown.'),
      until: time('When it ends by itself.'),
      scope: text('What it holds, as JSON; left out: everything, for all we know.', 4096),
    }),
  ),
  evictors: keyedList(
    'Who else evicts here.',
    16,
    entry(['name'], {
      name: text('Such as kube-controller-manager.', 253),
      work: text('What it does of our work.', 253),
      evidence: text('What that is known by.', 1024),
    }),
  ),
  takeover: object('Where the leader decides in the place of kube-controller-manager.', {
    enabled: {
      type: 'boolean',
      description: 'Whether it does so; while it does not, the admission policies refuse nothing.',
    },
    deviceTaints: {
      type: 'boolean',
      description:
        'Whether it decides about taints of devices too; left out, they are left to kube-controller-manager.',
    },
    policyVersion: text('The version of the admission policies that it keeps installed.', 64),
    drift: list(
      'How the installed policies differ from those of the controller.',
      32,
      characters(1024),
    ),
    namespaces: natural('Namespaces with the label.'),
    ...sparedCounts,
    byNamespace: keyedList(
      'The same counts for each namespace.',
      128,
      entry(['name'], {
        name: text('The namespace.', 63),
        ...sparedCounts,
      }),
    ),
    holdReadiness: object(
      'While it is here, only kubelets mark these pods not ready.',
      {
        reason: text('Why.', 1024),
        all: { type: 'boolean', description: 'The pods of every node.' },
        zones: list(
          'The pods of these zones, by their labels (Kubernetes 1.35), as region/zone.',
          heldZonesMax,
          characters(127),
        ),
        nodes: list('The pods of these nodes.', heldNodesMax, characters(253)),
      },
      { required: ['reason'] },
    ),
  }),
  shadow: shadowReport,
  conditions,
});

/** In `features`: the pods of a drain's taint are left to the drain while that lives. */
export const drainMarksFeature = 'drain-marks';

/** In `features`: the leader knows its own pod, and keeps the last ready replica. */
export const lastReplicaFeature = 'last-replica';

/** The evictions of kube-controller-manager, compared with those that taintmgr would have made. */
export type PublishedShadow = NonNullable<TaintManagerStatus['shadow']>;

/** The status of a TaintManager: what a leader says of itself. */
export type TaintManagerStatus = TypeOf<typeof taintManagerStatus>;

export const taintManagerKind: Kind = {
  description: 'Status and heartbeat of the leader of an installation.',
  plural: 'taintmanagers',
  shortName: 'tmgr',
  spec: null,
  status: taintManagerStatus,
  columns: [
    column('Leader', 'string', '.status.leader', 'Who leads'),
    column('Version', 'string', '.status.version', 'Its version'),
    column('Renewed', 'date', '.status.renewTime', 'When it last said so'),
    column('Nodes', 'integer', '.status.counts.nodes', 'Nodes of the cluster', 1),
    column('Tainted', 'integer', '.status.counts.tainted', 'Nodes with NoExecute taints'),
    column('Pending', 'integer', '.status.counts.pending', 'Pods that wait for their time'),
    column('Held', 'integer', '.status.counts.held', 'Pods that limits or pauses hold'),
    column('Blocked', 'integer', '.status.counts.blocked', 'Pods whose eviction is refused'),
    column('Evicted', 'integer', '.status.counts.evicted', 'Pods evicted since it leads', 1),
    age,
  ],
};
