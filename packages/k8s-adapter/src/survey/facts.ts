// API objects as the API server sends them, and facts of nodes and pods that people want to know.
import type { Labels, Node, Pod } from '@taintmgr/core';
import { nodePlace, zoneName } from '@taintmgr/core/model';
import { type Instant, parseTime } from '@taintmgr/core/time';
import { nodeFromJson, podFromJson } from '../proto/convert.ts';
import { lastWriteOf } from '../proto/managed-fields.ts';

/** A node, and what people want to know of it. */
export interface NodeFacts {
  /** The node as the engine takes it. */
  readonly node: Node;
  /** As a label has it, without its region; '' where there is no such label. */
  readonly zone: string;
  /** True: `spec.unschedulable` is set. */
  readonly cordoned: boolean;
  /** The last write of its cordon; left out: there is none, or managedFields do not say. */
  readonly cordonWritten?: { readonly by: string; readonly at: Instant };
  /** Its condition Ready. */
  readonly ready: Readiness;
  /** The last write of its taints; null: managedFields do not say. */
  readonly taintsWritten: { readonly by: string; readonly at: Instant } | null;
  /** The annotations of the Node. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The machine as its cloud names it, spec.providerID; left out: it does not say. */
  readonly providerId?: string;
  /** The version that was read; '' where it has none. */
  readonly version: string;
}

/** The condition Ready of a node. */
export interface Readiness {
  /** `Unknown` also where the node has no such condition. */
  readonly status: 'True' | 'False' | 'Unknown';
  readonly since: Instant | null;
  readonly reason: string;
}

/** A pod, and what people want to know of it. */
export interface PodFacts {
  /** The pod as the engine takes it. */
  readonly pod: Pod;
  /** The finalizers of the pod. */
  readonly finalizers: readonly string[];
  /** `status.qosClass`; '' where it has none. */
  readonly qosClass: string;
  /** `spec.priority`; 0 where it has none. */
  readonly priority: number;
  /** The last write of its tolerations; null: managedFields do not say. */
  readonly tolerationsWritten: { readonly by: string; readonly at: Instant } | null;
  /** The PersistentVolumeClaims that it mounts; left out: none. */
  readonly volumeClaims?: readonly string[];
  /** When it was created; null: it does not say. */
  readonly createdAt: Instant | null;
  /**
   * The reason why it has no node yet, by its condition PodScheduled; left out: it has one, or the
   * reason is unknown.
   */
  readonly unscheduled?: Unscheduled;
  /**
   * The time at which a mark for removal was taken back, as the pod did not leave; null: none was.
   */
  readonly unmarkedAt: Instant | null;
  /** As `kubectl apply` wrote it last, before others changed it; null: it never did. */
  readonly lastApplied: string | null;
  /** The version that was read; '' where it has none. */
  readonly version: string;
}

/** The report of a scheduler on a pod that has no node. */
interface Unscheduled {
  readonly since: Instant | null;
  readonly reason: string;
  readonly message: string;
}

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
/** The label that names the zone of a node. */
export const zoneLabel = 'topology.kubernetes.io/zone';
/** The labels by which nodes of a zone are selected: an old one counts too. */
export const zoneLabels = [zoneLabel, 'failure-domain.beta.kubernetes.io/zone'] as const;

/** Reads a v1 Node. */
export function nodeFacts(object: unknown): NodeFacts {
  const { metadata, spec, status } = object as NodeObject;
  const { labels = {}, annotations = {} } = metadata;
  const cordonWritten = spec?.unschedulable ? lastWriteOf('f:unschedulable', metadata) : null;
  return {
    node: nodeFromJson(object),
    zone: nodePlace(labels)[1],
    cordoned: spec?.unschedulable === true,
    ...(cordonWritten && { cordonWritten }),
    ready: readiness(status?.conditions ?? []),
    taintsWritten: lastWriteOf('f:taints', metadata),
    annotations,
    ...(spec?.providerID && { providerId: spec.providerID }),
    version: metadata.resourceVersion ?? '',
  };
}

/** The names by which people know the zone of a node: as it is printed, `region/zone`, and its label. */
export function zoneNames(labels: Labels): readonly string[] {
  return [zoneName(labels), nodePlace(labels)[1]].filter((name) => name !== '');
}

/** True when pods have to leave the node: no pod leaves a node without NoExecute taints. */
export function evictsPods({ node }: NodeFacts): boolean {
  return node.taints.some(({ effect }) => effect === 'NoExecute');
}

/** Reads a v1 Pod. */
export function podFacts(object: unknown): PodFacts {
  const { metadata, spec, status } = object as PodObject;
  const { labels = {}, finalizers = [], annotations = {} } = metadata;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? null;
  const mark = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  const volumeClaims = volumeClaimsIn(spec?.volumes ?? []);
  const unscheduled = spec?.nodeName ? null : unscheduledIn(status?.conditions ?? []);
  return {
    pod: { ...podFromJson(object), labels, ready },
    finalizers,
    qosClass: status?.qosClass ?? '',
    priority: spec?.priority ?? 0,
    tolerationsWritten: lastWriteOf('f:tolerations', metadata),
    createdAt: parseTime(metadata.creationTimestamp ?? ''),
    ...(volumeClaims.length > 0 && { volumeClaims }),
    ...(unscheduled && { unscheduled }),
    unmarkedAt: mark?.status === 'False' ? parseTime(mark.lastTransitionTime ?? '') : null,
    lastApplied: annotations[lastAppliedAnnotation] ?? null,
    version: metadata.resourceVersion ?? '',
  };
}

function volumeClaimsIn(volumes: NonNullable<PodSpec['volumes']>): readonly string[] {
  return volumes.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
}

function unscheduledIn(conditions: readonly Condition[]): Unscheduled | null {
  const found = conditions.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  if (!found) return null;
  const { reason = '', message = '', lastTransitionTime = '' } = found;
  return { since: parseTime(lastTransitionTime), reason, message };
}

function readiness(conditions: readonly Condition[]): Readiness {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const status = ready?.status === 'True' || ready?.status === 'False' ? ready.status : 'Unknown';
  const since = parseTime(ready?.lastTransitionTime ?? '');
  return { status, since, reason: ready?.reason ?? '' };
}

/** The metadata of an object. */
export interface ObjectMeta {
  /** The name of the object. */
  readonly name: string;
  /** Left out for cluster-scoped kinds. */
  readonly namespace?: string;
  /** The UID of the object. */
  readonly uid?: string;
  /** The version that was read. */
  readonly resourceVersion?: string;
  /** Counts the changes of the spec. */
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  /** The labels of the object. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The annotations of the object. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** The finalizers of the object. */
  readonly finalizers?: readonly string[];
  /** The writers of its fields; left out: they were not asked for. */
  readonly managedFields?: readonly ManagedFields[];
  /** The owners of the object. */
  readonly ownerReferences?: readonly OwnerReference[];
}

interface OwnerReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly controller?: boolean;
}

/** Who wrote which fields last. */
interface ManagedFields {
  readonly manager?: string;
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: { readonly 'f:spec'?: Readonly<Record<string, unknown>> };
}

/** A condition in the status of an object. */
export interface Condition {
  /** Such as `Ready`. */
  readonly type: string;
  /** `True`, `False` or `Unknown`. */
  readonly status: string;
  /** One word in CamelCase, for programs. */
  readonly reason?: string;
  /** Text for people. */
  readonly message?: string;
  /** When the status last changed, RFC 3339. */
  readonly lastTransitionTime?: string;
}

interface NodeObject {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly unschedulable?: boolean; readonly providerID?: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface PodSpec {
  readonly priority?: number;
  readonly nodeName?: string;
  readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[];
}

interface PodObject {
  readonly metadata: ObjectMeta;
  readonly spec?: PodSpec;
  readonly status?: { readonly qosClass?: string; readonly conditions?: readonly Condition[] };
}

export interface LeaseObject {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly renewTime?: string;
    readonly leaseDurationSeconds?: number;
  };
}
