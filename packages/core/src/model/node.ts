import type { Instant } from '../kernel/time.ts';
import type { Labels } from './selector.ts';
import type { Taint } from './taint.ts';
import type { DrainMarkName, WorkingDrain } from './working-drain.ts';

/** status.conditions[] of a node. */
export interface NodeCondition {
  /** Type of the condition: `Ready`, `MemoryPressure`. */
  readonly type: string;
  /** 'True', 'False' or 'Unknown' in any object the API server accepted. */
  readonly status: string;
  /** Reason as a CamelCase word, for programs. */
  readonly reason: string;
  /** Message for people. */
  readonly message: string;
  /** lastHeartbeatTime, by the writer's clock. */
  readonly heartbeatAt: Instant | null;
  /** lastTransitionTime, by the writer's clock. */
  readonly transitionAt: Instant | null;
}

/** Names one node, this very node and not another of the same name. */
export interface NodeRef {
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid. */
  readonly uid: string;
}

/** A node's Lease in kube-node-lease, which its kubelet renews as a sign of life. */
export interface Lease {
  /** Name of the node, which is the name of the Lease. */
  readonly nodeName: string;
  /** spec.renewTime by the kubelet's clock; null where it is not set. */
  readonly renewedAt: Instant | null;
}

/** The part of a Node that decisions need. */
export interface Node extends NodeRef {
  /** spec.taints. */
  readonly taints: readonly Taint[];
  /** Left out: none. */
  readonly labels?: Labels;
  /** spec.unschedulable; left out: false. */
  readonly unschedulable?: boolean;
  /** metadata.creationTimestamp; null or left out: not known. */
  readonly createdAt?: Instant | null;
  /** Left out: none. */
  readonly conditions?: readonly NodeCondition[];
  /** Taints that a condition rule of ours put on, by `key:effect`, with the rule's name. */
  readonly ownedTaints?: Readonly<Record<string, string>>;
  /** `region/zone` of its topology labels; left out or '': none. */
  readonly zone?: string;
  /**
   * Since when taints count, as an earlier run wrote it down: by `key=value:effect`. Empty where
   * something is written down that is not to be believed, left out where nothing is.
   */
  readonly taintStarts?: Readonly<Record<string, Instant>>;
  /** The pauses that are gone and moved deadlines of its pods, as an earlier run wrote them down. */
  readonly pastPauses?: readonly PastPause[];
  /**
   * When spec.taints was written last, as the API server keeps it: every taint was there at the end
   * of that second. Null: it keeps no such time, so that knowledge from before a gap does not hold
   * after it; left out: the source of the node sees every change of it.
   */
  readonly taintsWrittenAt?: Instant | null;
  /** The program that wrote them then, by managedFields; left out: unknown, or there are none. */
  readonly taintsWrittenBy?: string;
  /**
   * The time at which the machine itself goes, e.g. a spot instance; null or left out: not
   * announced.
   */
  readonly deadline?: Instant | null;
  /** Its annotation karpenter.sh/do-not-disrupt is "true"; left out: it is not. */
  readonly doNotDisrupt?: boolean;
  /** The drains that evict its pods, one for each taint at most; left out: none. */
  readonly drains?: readonly WorkingDrain[];
  /** The drains that have set something on it, at work or not; left out: none. */
  readonly drainMarks?: readonly DrainMarkName[];
}

/** The name of a node alone, without its known state. */
export function nodeRef({ name, uid }: NodeRef): NodeRef {
  return { name, uid };
}

/** The condition Ready of a node; null where it has none. */
export function readyOf(conditions: readonly NodeCondition[] | undefined): NodeCondition | null {
  return conditions?.find(({ type }) => type === 'Ready') ?? null;
}

/** Its status; null where there is no such condition, or no node. */
export function readyStatus(node: Node | null): string | null {
  return readyOf(node?.conditions)?.status ?? null;
}

/** The conditions by which others say that a node is drained or maintained (KEP-5683, alpha in 1.37), in its order. */
const maintenanceTypes: readonly string[] = [
  'MaintenancePlanned',
  'DrainInProgress',
  'Drained',
  'MaintenanceInProgress',
  'GracefulNodeShutdownInProgress',
];

/** The maintenance conditions that are True. */
export function maintenanceOf({
  conditions = [],
}: Pick<Node, 'conditions'>): readonly NodeCondition[] {
  return maintenanceTypes.flatMap((type) => {
    const found = conditions.find((one) => one.type === type);
    return found?.status === 'True' ? [found] : [];
  });
}

/** True when the kubelet ends its pods because the machine goes down (graceful node shutdown). */
export function isShuttingDown({ conditions }: Pick<Node, 'conditions'>): boolean {
  const isSaid = conditions?.some(
    ({ type, status }) => type === 'GracefulNodeShutdownInProgress' && status === 'True',
  );
  if (isSaid) return true;
  const ready = readyOf(conditions);
  if (ready?.status !== 'False') return false;
  return ready.reason === 'NodeShutdown' || ready.message.includes('node is shutting down');
}

/** The conditions with some of them in a new state; new types are appended. */
export function mergeConditions(
  conditions: readonly NodeCondition[],
  changed: readonly NodeCondition[],
): readonly NodeCondition[] {
  const merged = conditions.map(
    (condition) => changed.find(({ type }) => type === condition.type) ?? condition,
  );
  const isNew = ({ type }: NodeCondition): boolean =>
    !conditions.some((condition) => condition.type === type);
  return [...merged, ...changed.filter(isNew)];
}

/** True when two states of a node, or of none, have the same labels. */
export function hasSameLabels(one: Node | null, other: Node | null): boolean {
  if (one?.labels === other?.labels) return true;
  return JSON.stringify(one?.labels) === JSON.stringify(other?.labels);
}

/** A time for which deadlines stood still on a node, by the cluster's clock. */
export interface PastPause {
  /** Start of the pause. */
  readonly from: Instant;
  /** End of the pause. */
  readonly to: Instant;
  /** Patterns; empty: for all taints. */
  readonly taintKeys: readonly string[];
  /** Patterns; empty: for pods of all namespaces. */
  readonly namespaces: readonly string[];
  /** The pause's uid, or the name of one of a file; empty: unknown, or several. */
  readonly pause: string;
}

const betaZone = 'failure-domain.beta.kubernetes.io/zone';
const betaRegion = 'failure-domain.beta.kubernetes.io/region';
const zoneLabel = 'topology.kubernetes.io/zone';
const regionLabel = 'topology.kubernetes.io/region';

/**
 * Region and zone of a node by its labels, or '': an old label that is there
 * (failure-domain.beta.kubernetes.io) counts before the new one (topology.kubernetes.io).
 */
export function nodePlace(labels: Labels): readonly [region: string, zone: string] {
  return [
    labels[betaRegion] ?? labels[regionLabel] ?? '',
    labels[betaZone] ?? labels[zoneLabel] ?? '',
  ];
}

/** `region/zone`, or what there is of it: the zone of a node for people. */
export function zoneName(labels: Labels): string {
  return nodePlace(labels)
    .filter((part) => part !== '')
    .join('/');
}

/** The zone as kube-controller-manager's metrics have it: `region:\0:zone`, or empty. */
export function zoneKey(labels: Labels): string {
  const [region, zone] = nodePlace(labels);
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}
