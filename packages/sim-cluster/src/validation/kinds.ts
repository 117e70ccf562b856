// The validation of every kind that has no file of its own here.
import type { Cause } from '../objects/errors.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { labelNameErrors } from '../objects/names.ts';
import { forbiddenValue, invalidValue, notSupported, required } from './causes.ts';
import { validateLabels, validateMetadata } from './metadata.ts';
import { validatePodSpec } from './pod.ts';
import { validateTaints } from './taints.ts';

const notNegativeMessage = 'must be greater than or equal to 0';
const immutableMessage = 'field is immutable';

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

/** A count or a percentage. */
function validateAmount(value: number | string | undefined, field: string): readonly Cause[] {
  if (value === undefined) return [];
  if (typeof value === 'number')
    return value < 0 ? [invalidValue(field, value, notNegativeMessage)] : [];
  if (!/^\d+%$/.test(value)) {
    const text =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    return [invalidValue(field, value, text)];
  }
  const text = 'must not be greater than 100%';
  return Number.parseInt(value, 10) > 100 ? [invalidValue(field, value, text)] : [];
}

/** The rules for a workload: a selector that picks its own template's pods. */
export function validateWorkload(workload: KubeObject): readonly Cause[] {
  const causes = [...validateMetadata(workload)];
  const { selector, template, replicas } = workload.spec;
  if (typeof replicas === 'number' && replicas < 0) {
    causes.push(invalidValue('spec.replicas', replicas, notNegativeMessage));
  }
  const labels: Readonly<Record<string, string>> = template?.metadata?.labels ?? {};
  const wanted: Readonly<Record<string, string>> = selector?.matchLabels ?? {};
  if (!selector) causes.push(required('spec.selector'));
  else if (Object.entries(wanted).some(([key, value]) => labels[key] !== value)) {
    const text = '`selector` does not match template `labels`';
    causes.push(invalidValue('spec.template.metadata.labels', labels, text));
  }
  causes.push(...validateLabels(labels, 'spec.template.labels'));
  causes.push(...validatePodSpec(template?.spec ?? {}, 'spec.template.spec'));
  return causes;
}

/** A workload's selector never changes. */
export function validateWorkloadUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  if (equal(next.spec.selector, previous.spec.selector)) return [];
  return [invalidValue('spec.selector', next.spec.selector, immutableMessage)];
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

/** What a ControllerRevision holds never changes. */
export function validateRevisionUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  return equal(next.data, previous.data) ? [] : [invalidValue('data', next.data, immutableMessage)];
}
