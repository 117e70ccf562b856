// Readings of pods, and of objects with names, that several controllers take.
import type { KubeObject, OwnerReference } from '../objects/kube-object.ts';

/** `namespace/name`, or the bare name of a cluster-scoped object. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/** The two halves of a key; the namespace is '' when there is none. */
export function splitKey(key: string): readonly [namespace: string, name: string] {
  const slash = key.indexOf('/');
  return slash < 0 ? ['', key] : [key.slice(0, slash), key.slice(slash + 1)];
}

/** The reference to the object that controls this one, or null. */
export function controllerOf(object: KubeObject): OwnerReference | null {
  return object.metadata.ownerReferences?.find((owner) => owner.controller) ?? null;
}

/** An entry of status.conditions, as pods, nodes, workloads and budgets have it. */
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
  readonly [field: string]: string | number | undefined;
}

/** The condition of that type, or null. */
export function conditionOf(object: KubeObject, type: string): Condition | null {
  const conditions: readonly Condition[] = object.status?.conditions ?? [];
  return conditions.find((condition) => condition.type === type) ?? null;
}

/**
 * The conditions with `condition` in the place of the one of its type. The lastTransitionTime
 * stays as long as the status does; `now` is in the format of that field.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  now: string,
): readonly Condition[] {
  const old = conditions?.find(({ type }) => type === condition.type);
  const same = old?.status === condition.status ? old.lastTransitionTime : undefined;
  const next = { ...condition, lastTransitionTime: same ?? now };
  return old
    ? (conditions ?? []).map((entry) => (entry === old ? next : entry))
    : [...(conditions ?? []), next];
}

/** True if the Ready condition of a pod or node is True. */
export function isReady(object: KubeObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}

/** True if the pod has run to its end, well or badly. */
export function isTerminal(pod: KubeObject): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** True if deletion has begun. */
export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** True if a controller counts the pod as one of its replicas: neither ended nor ending. */
export function isActive(pod: KubeObject): boolean {
  return !isTerminal(pod) && !isTerminating(pod);
}

/** True if the pod is being deleted and has not run to its end. */
export function isEnding(pod: KubeObject): boolean {
  return isTerminating(pod) && !isTerminal(pod);
}
