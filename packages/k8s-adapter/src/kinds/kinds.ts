// The kinds of taintmgr.dev/v1alpha1: names, schemas, and the columns that kubectl get shows.

import { evictionPauseSpec, evictionPauseStatus } from './eviction-pause.ts';
import { evictionPolicySpec, evictionPolicyStatus } from './eviction-policy.ts';
import { type Fitted, fitted } from './fit.ts';
import { nodeDrainSpec } from './node-drain.ts';
import { nodeDrainStatus } from './node-drain-status.ts';
import { nodeTaintRuleSpec, nodeTaintRuleStatus } from './node-taint-rule.ts';
import type { ObjectSchema, TypeOf } from './schema.ts';
import { taintManagerStatus } from './taint-manager.ts';

export const policyGroup = 'taintmgr.dev';
export const policyVersion = 'v1alpha1';
/** What manifests say as their apiVersion. */
export const policyApiVersion = 'taintmgr.dev/v1alpha1';

export type KindName =
  | 'EvictionPolicy'
  | 'NodeTaintRule'
  | 'EvictionPause'
  | 'NodeDrain'
  | 'TaintManager';

interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** Above 0: only kubectl get -o wide shows it. */
  readonly priority?: 1;
}

/** One kind, as its CustomResourceDefinition has it. */
export interface Kind {
  readonly description: string;
  readonly plural: string;
  readonly shortName: string;
  /** Null: it has none. */
  readonly spec: ObjectSchema | null;
  readonly status: ObjectSchema;
  readonly columns: readonly Column[];
}

/** Whether the controller goes by an object. */
const inForce: Column = {
  name: 'In Force',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="InForce")].status',
  description: 'Whether the controller goes by it',
};

const age: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'When it was made',
};

function column(
  name: string,
  type: Column['type'],
  jsonPath: string,
  description: string,
  priority?: 1,
): Column {
  return { name, type, jsonPath, description, ...(priority && { priority }) };
}

export const policyKinds: Readonly<Record<KindName, Kind>> = {
  EvictionPolicy: {
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
  },
  NodeTaintRule: {
    description: 'Says which condition of a node becomes which taint.',
    plural: 'nodetaintrules',
    shortName: 'ntr',
    spec: nodeTaintRuleSpec,
    status: nodeTaintRuleStatus,
    columns: [
      column('Condition', 'string', '.spec.condition.type', 'The condition of a node'),
      column('Status', 'string', '.spec.condition.status', 'Its status', 1),
      column('Taint', 'string', '.spec.taint.key', 'The key of the taint'),
      column('Effect', 'string', '.spec.taint.effect', 'The effect of the taint'),
      column('Max', 'string', '.spec.maxNodes', 'At most so many nodes'),
      column('Tainted', 'integer', '.status.nodesTainted', 'Nodes that it has tainted'),
      column('Nodes', 'integer', '.status.nodesSelected', 'Nodes that it is for', 1),
      column('Dry Run', 'boolean', '.spec.dryRun', 'It only tells', 1),
      inForce,
      age,
    ],
  },
  EvictionPause: {
    description: 'Holds evictions until it is deleted, or over.',
    plural: 'evictionpauses',
    shortName: 'epause',
    spec: evictionPauseSpec,
    status: evictionPauseStatus,
    columns: [
      column('Reason', 'string', '.spec.reason', 'Why'),
      column('Until', 'string', '.spec.until', 'When it ends by itself'),
      column(
        'Pods',
        'integer',
        '.status.pods',
        'Pods whose evictions for NoExecute taints it holds',
      ),
      column('Since', 'date', '.status.since', 'Since when it holds', 1),
      column('Given Back', 'string', '.status.timeGivenBack', 'So much more time pods have', 1),
      column('Readiness', 'boolean', '.spec.readiness', 'It holds node health too', 1),
      inForce,
      age,
    ],
  },
  NodeDrain: {
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
  },
  TaintManager: {
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
  },
};

export const kindNames: readonly KindName[] = [
  'EvictionPolicy',
  'NodeTaintRule',
  'EvictionPause',
  'NodeDrain',
  'TaintManager',
];

/** What the status of each kind says. */
export interface StatusOf {
  readonly EvictionPolicy: TypeOf<typeof evictionPolicyStatus>;
  readonly NodeTaintRule: TypeOf<typeof nodeTaintRuleStatus>;
  readonly EvictionPause: TypeOf<typeof evictionPauseStatus>;
  readonly NodeDrain: TypeOf<typeof nodeDrainStatus>;
  readonly TaintManager: TypeOf<typeof taintManagerStatus>;
}

/** A status cut to what the API server takes. */
export function fittedStatus<K extends KindName>(kind: K, status: StatusOf[K]): Fitted {
  return fitted(policyKinds[kind].status, status);
}
