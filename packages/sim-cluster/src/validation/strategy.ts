// The validation of how workloads replace their pods.
import type { Cause } from '../objects/errors.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { numberIn, validateAmount, validateCount, validateShare } from './amounts.ts';
import { forbiddenValue, invalidValue, notSupported, required } from './causes.ts';

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: Rolling | null;
}

interface Rolling {
  readonly maxUnavailable?: number | string;
  readonly maxSurge?: number | string;
  readonly partition?: number;
}

/** The rules for the strategy of a kind that has one. */
export function validateStrategy(kind: string, spec: KubeObject['spec']): readonly Cause[] {
  switch (kind) {
    case 'Deployment':
      return [...ofDeployment(spec.strategy ?? {}, 'spec.strategy'), ...validateDeadline(spec)];
    case 'DaemonSet':
      return ofDaemonSet(spec.updateStrategy ?? {}, 'spec.updateStrategy');
    case 'StatefulSet':
      return ofStatefulSet(spec, 'spec.updateStrategy');
    default:
      return [];
  }
}

function ofDeployment(strategy: Strategy, field: string): readonly Cause[] {
  const { type, rollingUpdate } = strategy;
  if (type === 'RollingUpdate') return ofRolling(rollingUpdate ?? {}, `${field}.rollingUpdate`);
  if (type !== 'Recreate') {
    return [notSupported(field, inGo(strategy), ['Recreate', 'RollingUpdate'])];
  }
  const text = "may not be specified when strategy `type` is 'Recreate'";
  return rollingUpdate ? [forbiddenValue(`${field}.rollingUpdate`, text)] : [];
}

function ofRolling({ maxUnavailable, maxSurge }: Rolling, field: string): readonly Cause[] {
  const isStill = numberIn(maxUnavailable) === 0 && numberIn(maxSurge) === 0;
  const text = 'may not be 0 when `maxSurge` is 0';
  return [
    ...validateAmount(maxUnavailable, `${field}.maxUnavailable`),
    ...validateShare(maxSurge, `${field}.maxSurge`),
    ...(isStill ? [invalidValue(`${field}.maxUnavailable`, maxUnavailable, text)] : []),
  ];
}

function validateDeadline(spec: KubeObject['spec']): readonly Cause[] {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  if (typeof deadline !== 'number' || deadline > minReadySeconds) return [];
  const text = 'must be greater than minReadySeconds';
  return [invalidValue('spec.progressDeadlineSeconds', deadline, text)];
}

function ofDaemonSet(strategy: Strategy, field: string): readonly Cause[] {
  if (strategy.type === 'OnDelete') return [];
  if (strategy.type !== 'RollingUpdate') {
    return [notSupported(field, inGo(strategy), ['RollingUpdate', 'OnDelete'])];
  }
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {};
  const [unavailable, surge] = [numberIn(maxUnavailable) !== 0, numberIn(maxSurge) !== 0];
  const rolling = `${field}.rollingUpdate`;
  const causes = [
    ...validateAmount(maxUnavailable, `${rolling}.maxUnavailable`),
    ...validateAmount(maxSurge, `${rolling}.maxSurge`),
  ];
  if (unavailable && surge) {
    const text = 'may not be set when `maxUnavailable` is non-zero';
    causes.push(invalidValue(`${rolling}.maxSurge`, maxSurge, text));
  }
  if (!unavailable && !surge) {
    causes.push(required(`${rolling}.maxUnavailable`, 'cannot be 0 when `maxSurge` is 0'));
  }
  return causes;
}

function ofStatefulSet(spec: KubeObject['spec'], field: string): readonly Cause[] {
  const strategy: Strategy = spec.updateStrategy ?? {};
  const { type, rollingUpdate } = strategy;
  const causes: Cause[] = [];
  const policy: string = spec.podManagementPolicy ?? '';
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    const text = "must be 'OrderedReady' or 'Parallel'";
    causes.push(invalidValue('spec.podManagementPolicy', policy, text));
  }
  if (type !== 'RollingUpdate' && type !== 'OnDelete') {
    causes.push(invalidValue(field, inGo(strategy), "must be 'RollingUpdate' or 'OnDelete'"));
  }
  if (type === 'OnDelete' && rollingUpdate) {
    const text = "only allowed for updateStrategy 'RollingUpdate'";
    causes.push(invalidValue(`${field}.rollingUpdate`, inGo(rollingUpdate), text));
  }
  const partition = type === 'RollingUpdate' ? rollingUpdate?.partition : undefined;
  return [...causes, ...validateCount(partition, `${field}.rollingUpdate.partition`)];
}

/** A strategy under the names of Go's fields, as the real server shows it. */
function inGo({ type, rollingUpdate, ...rolling }: Strategy & Rolling): object {
  if (type !== undefined)
    return { Type: type, RollingUpdate: rollingUpdate ? inGo(rollingUpdate) : null };
  const { maxUnavailable, maxSurge, partition } = rolling;
  return { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge, Partition: partition };
}
