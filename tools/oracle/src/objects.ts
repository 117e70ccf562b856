// Reads objects by the oracle's own rules, so that a mistake in the cluster's readers is not
// repeated here.
import type { KubeObject } from '@taintmgr/sim-cluster';

/** `namespace/name`, or the bare name of a cluster-scoped object. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** An entry of status.conditions. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly [field: string]: string | number | undefined;
}

/** The condition of that type; null: there is none. */
export function conditionOf(object: KubeObject, type: string): Condition | null {
  const conditions: readonly Condition[] = object.status?.conditions ?? [];
  return conditions.find((condition) => condition.type === type) ?? null;
}

export function isReady(object: KubeObject): boolean {
  return conditionOf(object, 'Ready')?.status === 'True';
}

export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/**
 * True if a LabelSelector matches an object; no selector, and one with an unknown operator, match
 * nothing.
 */
export function isSelected(selector: KubeObject['selector'], object: KubeObject): boolean {
  if (!selector) return false;
  const labels = new Map<string, string>(Object.entries(object.metadata.labels ?? {}));
  const equal = Object.entries(selector.matchLabels ?? {}).every(
    ([key, value]) => labels.get(key) === value,
  );
  const expressions: readonly Expression[] = selector.matchExpressions ?? [];
  return equal && expressions.every((expression) => meets(labels.get(expression.key), expression));
}

function meets(label: string | undefined, { operator, values = [] }: Expression): boolean {
  switch (operator) {
    case 'In':
      return label !== undefined && values.includes(label);
    case 'NotIn':
      return label === undefined || !values.includes(label);
    case 'Exists':
      return label !== undefined;
    default:
      return operator === 'DoesNotExist' && label === undefined;
  }
}

/**
 * True if the client decides about the pods of this namespace; false for a namespace that is gone.
 */
export function isHandedOver(namespace: KubeObject | null): boolean {
  return namespace?.metadata.labels?.['taintmgr.dev/takeover'] === 'enabled';
}

/** A pod as evidence names it. */
export function nameOf({ metadata: { namespace, name, uid } }: KubeObject): string {
  return `pod ${namespace}/${name} (${uid?.slice(0, 8)})`;
}
