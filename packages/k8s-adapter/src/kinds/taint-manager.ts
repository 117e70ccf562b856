// TaintManager: what the leader says of itself; it has a status and no spec.

import { heldNodesMax, heldZonesMax } from '@taintmgr/core/lifecycle';
import { age, column, type Kind, type TypeOf } from './schema.ts';

/** What a controller in a dry run publishes of its shadow. */
export const shadowReport = {
  type: 'object',
  description: 'What kube-controller-manager evicted, held against what taintmgr would have done.',
  properties: {
    since: { type: 'shared', name: 'time', description: 'Since when this is counted.' },
    same: {
      type: 'shared',
      name: 'count',
      description: 'Pods that both evict in the same instant.',
    },
    earlier: {
      type: 'shared',
      name: 'count',
      description: 'Pods that taintmgr would have evicted before kube-controller-manager.',
    },
    later: {
      type: 'shared',
      name: 'count',
      description: 'Pods that taintmgr would have evicted after kube-controller-manager.',
    },
    kept: {
      type: 'shared',
      name: 'count',
      description: 'Pods that kube-controller-manager deleted and taintmgr would have kept.',
    },
    onlyTaintmgr: {
      type: 'shared',
      name: 'count',
      description: 'Pods that taintmgr would have evicted and kube-controller-manager did not.',
    },
    budgetsAsked: {
      type: 'shared',
      name: 'count',
      description:
        'Of same, earlier and later: pods that taintmgr would have asked disruption budgets about.',
    },
    earlierSeconds: { type: 'shared', name: 'shadowSeconds', description: 'How much earlier.' },
    laterSeconds: {
      type: 'shared',
      name: 'shadowSeconds',
      description: 'How much later, where that can be said.',
    },
    following: {
      type: 'shared',
      name: 'count',
      description: 'Pods on whom there is no verdict yet.',
    },
    notDeleted: {
      type: 'shared',
      name: 'count',
      description: 'Pods that were marked for deletion for a taint and were not deleted.',
    },
    leftOtherwise: {
      type: 'shared',
      name: 'count',
      description:
        'Pods that taintmgr would have evicted and that left before, but not for a taint.',
    },
    givenUp: {
      type: 'shared',
      name: 'count',
      description: 'Pods without a verdict, as too many were followed at once.',
    },
    taints: {
      type: 'array',
      description: 'By the key of the taint that decided.',
      maxItems: 21,
      mapKeys: ['name'],
      items: { type: 'shared', name: 'shadowRow' },
    },
    namespaces: {
      type: 'array',
      description: 'By namespace.',
      maxItems: 21,
      mapKeys: ['name'],
      items: { type: 'shared', name: 'shadowRow' },
    },
    policies: {
      type: 'array',
      description: 'By the EvictionPolicy that counted.',
      maxItems: 21,
      mapKeys: ['name'],
      items: { type: 'shared', name: 'shadowRow' },
    },
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
          pods: { type: 'shared', name: 'count', description: 'Pods.' },
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

export const taintManagerStatus = {
  type: 'object',
  description: 'What the leader says of itself.',
  properties: {
    renewTime: {
      type: 'shared',
      name: 'time',
      description: 'When the leader last wrote this; it does so every few seconds.',
    },
    leader: { type: 'string', description: 'Who leads.', maxLength: 253 },
    version: { type: 'string', description: 'The version of the leader.', maxLength: 64 },
    startedAt: { type: 'shared', name: 'time', description: 'When the leader began to lead.' },
    settings: {
      type: 'map',
      description: 'The settings in force, by the names of their flags.',
      maxProperties: 128,
      values: { type: 'string', maxLength: 1024 },
    },
    policies: {
      type: 'array',
      description:
        'The policies and pauses of its --policy files, which the cluster does not have.',
      maxItems: 128,
      mapKeys: ['kind', 'name'],
      items: {
        type: 'object',
        required: ['kind', 'name'],
        properties: {
          kind: { type: 'string', description: 'Such as EvictionPolicy.', maxLength: 63 },
          name: { type: 'string', description: 'As the file calls it.', maxLength: 253 },
          spec: {
            type: 'string',
            description: 'What it says, as JSON; left out: there is no room for it.',
            maxLength: 8192,
          },
          since: { type: 'shared', name: 'time', description: 'Since when a pause holds.' },
        },
      },
    },
    controllers: {
      type: 'array',
      description: 'The controllers that run.',
      maxItems: 16,
      items: { type: 'string', maxLength: 63 },
    },
    features: {
      type: 'array',
      description:
        'What other programs may count on: drain-marks, that pods are left to drains; last-replica, that the last ready replica of the controller stays.',
      maxItems: 16,
      items: { type: 'string', maxLength: 63 },
    },
    zones: {
      type: 'array',
      description: 'The zones of the cluster.',
      maxItems: 64,
      mapKeys: ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'As region/zone.', maxLength: 127 },
          state: { type: 'string', description: 'How it is.', maxLength: 63 },
          nodes: { type: 'shared', name: 'count', description: 'Its nodes.' },
          notReady: { type: 'shared', name: 'count', description: 'Those that are not ready.' },
          rate: { type: 'number', description: 'Nodes that are tainted in a second.', minimum: 0 },
          heldSince: {
            type: 'shared',
            name: 'time',
            description: 'Since when its pods stay, as all of its nodes are down and it is held.',
          },
        },
      },
    },
    counts: {
      type: 'object',
      description: 'How many there are.',
      properties: {
        nodes: { type: 'shared', name: 'count', description: 'Nodes.' },
        tainted: { type: 'shared', name: 'count', description: 'Nodes with NoExecute taints.' },
        pods: { type: 'shared', name: 'count', description: 'Pods.' },
        pending: { type: 'shared', name: 'count', description: 'Pods that wait for their time.' },
        held: { type: 'shared', name: 'count', description: 'Pods that limits or pauses hold.' },
        blocked: {
          type: 'shared',
          name: 'count',
          description: 'Pods whose eviction a PodDisruptionBudget refuses.',
        },
        evicted: { type: 'shared', name: 'count', description: 'Pods evicted since startedAt.' },
      },
    },
    trippedLimits: {
      type: 'array',
      description: 'Limits that are shut until somebody says kubectl taintmgr resume.',
      maxItems: 64,
      mapKeys: ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'As it is resumed.', maxLength: 1024 },
          since: { type: 'shared', name: 'time', description: 'Since when.' },
        },
      },
    },
    rates: {
      type: 'array',
      description: 'Limits with a rate that is in use: those who wait go one by one.',
      maxItems: 64,
      mapKeys: ['name'],
      items: {
        type: 'object',
        required: ['name', 'oneAt'],
        properties: {
          name: { type: 'string', description: 'As limits are called.', maxLength: 1024 },
          oneAt: {
            type: 'shared',
            name: 'time',
            description: 'When it lets one pod go, or could have.',
          },
        },
      },
    },
    pauses: {
      type: 'array',
      description: 'The EvictionPauses in force.',
      maxItems: 64,
      items: { type: 'string', maxLength: 253 },
    },
    pauseRecords: {
      type: 'array',
      description:
        'What holds deadlines now: whoever starts when it is gone gives back the time that it took.',
      maxItems: 64,
      mapKeys: ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'The name of the pause.', maxLength: 316 },
          uid: { type: 'string', description: 'Left out: that of a file.', maxLength: 128 },
          since: {
            type: 'shared',
            name: 'time',
            description: 'Since when it holds; left out: nobody knows.',
          },
          until: { type: 'shared', name: 'time', description: 'When it ends by itself.' },
          scope: {
            type: 'string',
            description: 'What it holds, as JSON; left out: everything, for all we know.',
            maxLength: 4096,
          },
        },
      },
    },
    evictors: {
      type: 'array',
      description: 'Who else evicts here.',
      maxItems: 16,
      mapKeys: ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'Such as kube-controller-manager.', maxLength: 253 },
          work: { type: 'string', description: 'What it does of our work.', maxLength: 253 },
          evidence: { type: 'string', description: 'What that is known by.', maxLength: 1024 },
        },
      },
    },
    takeover: {
      type: 'object',
      description: 'Where the leader decides in the place of kube-controller-manager.',
      properties: {
        enabled: {
          type: 'boolean',
          description:
            'Whether it does so; while it does not, the admission policies refuse nothing.',
        },
        policyVersion: {
          type: 'string',
          description: 'The version of the admission policies that it keeps installed.',
          maxLength: 64,
        },
        drift: {
          type: 'array',
          description: 'In what the installed policies are not as they should be.',
          maxItems: 32,
          items: { type: 'string', maxLength: 1024 },
        },
        namespaces: { type: 'integer', description: 'Namespaces with the label.', minimum: 0 },
        spared: {
          type: 'integer',
          description: 'Pods that kube-controller-manager was refused.',
          minimum: 0,
        },
        held: {
          type: 'integer',
          description: 'Those of them that are there still: not due, or held.',
          minimum: 0,
        },
        evicted: {
          type: 'integer',
          description: 'Those of them that taintmgr evicted.',
          minimum: 0,
        },
        letThrough: {
          type: 'integer',
          description: 'Pods that it deleted all the same.',
          minimum: 0,
        },
        byNamespace: {
          type: 'array',
          description: 'The same counts for each namespace.',
          maxItems: 128,
          mapKeys: ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string', description: 'The namespace.', maxLength: 63 },
              spared: {
                type: 'integer',
                description: 'Pods that kube-controller-manager was refused.',
                minimum: 0,
              },
              held: {
                type: 'integer',
                description: 'Those of them that are there still: not due, or held.',
                minimum: 0,
              },
              evicted: {
                type: 'integer',
                description: 'Those of them that taintmgr evicted.',
                minimum: 0,
              },
              letThrough: {
                type: 'integer',
                description: 'Pods that it deleted all the same.',
                minimum: 0,
              },
            },
          },
        },
        holdReadiness: {
          type: 'object',
          description: 'While it is here, nobody marks these pods not ready but their kubelets.',
          required: ['reason'],
          properties: {
            reason: { type: 'string', description: 'Why.', maxLength: 1024 },
            all: { type: 'boolean', description: 'The pods of every node.' },
            zones: {
              type: 'array',
              description:
                'The pods of these zones, by their labels (Kubernetes 1.35), as region/zone.',
              maxItems: heldZonesMax as typeof heldZonesMax,
              items: { type: 'string', maxLength: 127 },
            },
            nodes: {
              type: 'array',
              description: 'The pods of these nodes.',
              maxItems: heldNodesMax as typeof heldNodesMax,
              items: { type: 'string', maxLength: 253 },
            },
          },
        },
      },
    },
    // Declarations are made file by file: they need its type in words.
    shadow: shadowReport as typeof shadowReport,
    conditions: { type: 'shared', name: 'conditions' },
  },
} as const;

/** In `features`: the pods of a drain's taint are left to the drain while that lives. */
export const drainMarksFeature = 'drain-marks';

/** In `features`: the leader knows its own pod, and keeps the last ready replica. */
export const lastReplicaFeature = 'last-replica';

/** What kube-controller-manager evicted, held against what taintmgr would have done. */
export type PublishedShadow = NonNullable<TaintManagerStatus['shadow']>;

export type TaintManagerStatus = TypeOf<typeof taintManagerStatus>;

export const taintManagerKind: Kind = {
  description: 'What the leader of an installation says of itself.',
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
