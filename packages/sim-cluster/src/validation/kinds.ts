// The validation of every kind without a separate file here.
import type { Cause } from '../objects/errors.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { labelNameErrors } from '../objects/names.ts';
import { notNegativeMessage, validateAmount } from './amounts.ts';
import {
  forbiddenValue,
  immutableMessage,
  invalidValue,
  notSupported,
  required,
} from './causes.ts';
import { validateMetadata } from './metadata.ts';
import { validateSelector } from './selector.ts';
import { validateTaints } from './taints.ts';

/** The rules for a namespace: its name is a DNS label. */
export function validateNamespace(namespace: KubeObject): readonly Cause[] {
  return validateMetadata(namespace, labelNameErrors);
}

/** The rules for a node. */
export function validateNode(node: KubeObject): readonly Cause[] {
  return [...validateMetadata(node), ...validateTaints(node.spec.taints ?? [])];
}

/** Fields of a node that are set once. */
export function validateNodeUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const causes: Cause[] = [];
  const cidrs: readonly string[] = previous.spec.podCIDRs ?? [];
  if (cidrs.length > 0 && !equal(next.spec.podCIDRs ?? [], cidrs)) {
    const text = 'node updates may not change podCIDR except from "" to valid';
    causes.push(forbiddenValue('spec.podCIDRs', text));
  }
  const provider: string = previous.spec.providerID ?? '';
  if (provider !== '' && next.spec.providerID !== provider) {
    const text = 'node updates may not change providerID except from "" to valid';
    causes.push(forbiddenValue('spec.providerID', text));
  }
  return causes;
}

/** The rules for a lease. */
export function validateLease(lease: KubeObject): readonly Cause[] {
  const causes = [...validateMetadata(lease)];
  const { leaseDurationSeconds, leaseTransitions } = lease.spec;
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    const field = 'spec.leaseDurationSeconds';
    causes.push(invalidValue(field, leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    causes.push(invalidValue('spec.leaseTransitions', leaseTransitions, notNegativeMessage));
  }
  return causes;
}

const unhealthyPolicies = ['AlwaysAllow', 'IfHealthyBudget'] as const;
const budgetCounts = [
  'disruptionsAllowed',
  'currentHealthy',
  'desiredHealthy',
  'expectedPods',
] as const;

/** The rules for a PodDisruptionBudget, its status included. */
export function validateBudget(budget: KubeObject): readonly Cause[] {
  const causes = [...validateMetadata(budget)];
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = budget.spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const value = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy ?? null,
    };
    const text = 'minAvailable and maxUnavailable cannot be both set';
    causes.push(invalidValue('spec', value, text));
  }
  if (selector) causes.push(...validateSelector(selector, 'spec.selector'));
  causes.push(...validateAmount(minAvailable, 'spec.minAvailable'));
  causes.push(...validateAmount(maxUnavailable, 'spec.maxUnavailable'));
  const known = unhealthyPolicies.some((policy) => policy === unhealthyPodEvictionPolicy);
  if (unhealthyPodEvictionPolicy !== undefined && !known) {
    const field = 'spec.unhealthyPodEvictionPolicy';
    causes.push(notSupported(field, unhealthyPodEvictionPolicy, unhealthyPolicies));
  }
  for (const member of budgetCounts) {
    const value: number = budget.status?.[member] ?? 0;
    if (value < 0) causes.push(invalidValue(`status.${member}`, value, notNegativeMessage));
  }
  return causes;
}

/** The rules for a ControllerRevision. */
export function validateRevision(revision: KubeObject): readonly Cause[] {
  const causes = [...validateMetadata(revision)];
  if (revision.data === undefined) causes.push(required('data', 'data is mandatory'));
  if (revision.revision < 0) {
    causes.push(invalidValue('revision', revision.revision, notNegativeMessage));
  }
  return causes;
}

/** The faults of an update of a ControllerRevision, whose data is immutable. */
export function validateRevisionUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  return equal(next.data, previous.data) ? [] : [invalidValue('data', next.data, immutableMessage)];
}
