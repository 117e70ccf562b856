// The defaults of resource.k8s.io.
import type { KubeObject } from '../objects/kube-object.ts';
import { formatTime } from '../objects/time.ts';

/** A taint of a device, as the API has it. */
interface DeviceTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

function dated(taint: DeviceTaint, now: number): DeviceTaint {
  return taint.timeAdded ? taint : { ...taint, timeAdded: formatTime(now) };
}

/**
 * A DeviceTaintRule whose taint has a time: now, if the taint has none, or if its effect has
 * changed and its time has not.
 */
export function withRuleTime(
  rule: KubeObject,
  _subresource: string,
  previous: KubeObject | null,
  now: number,
): KubeObject {
  const taint = dated(rule.spec.taint, now);
  const before: DeviceTaint | undefined = previous?.spec.taint;
  const isMoved =
    before !== undefined && before.effect !== taint.effect && before.timeAdded === taint.timeAdded;
  const next = isMoved ? { ...taint, timeAdded: formatTime(now) } : taint;
  return next === rule.spec.taint ? rule : { ...rule, spec: { ...rule.spec, taint: next } };
}

interface Device {
  readonly taints?: readonly DeviceTaint[];
}

/** A ResourceSlice whose taints have times: now for those without one. */
export function withSliceTimes(
  slice: KubeObject,
  _subresource: string,
  _previous: KubeObject | null,
  now: number,
): KubeObject {
  const devices: readonly Device[] = slice.spec.devices ?? [];
  const isDated = ({ taints = [] }: Device): boolean => taints.every(({ timeAdded }) => timeAdded);
  if (devices.every(isDated)) return slice;
  const next = devices.map((device) =>
    isDated(device)
      ? device
      : { ...device, taints: device.taints?.map((taint) => dated(taint, now)) },
  );
  return { ...slice, spec: { ...slice.spec, devices: next } };
}

// Claims.

interface Asked {
  readonly allocationMode?: string;
  readonly count?: number;
  readonly tolerations?: readonly Toleration[];
}

interface Toleration {
  readonly operator?: string;
}

interface Request {
  readonly exactly?: Asked;
  readonly firstAvailable?: readonly Asked[];
}

type Spec = KubeObject['spec'];

function withCount(asked: Asked): Asked {
  const allocationMode = asked.allocationMode || 'ExactCount';
  return {
    ...asked,
    allocationMode,
    ...(allocationMode === 'ExactCount' ? { count: asked.count || 1 } : {}),
    ...(asked.tolerations ? { tolerations: asked.tolerations.map(withOperator) } : {}),
  };
}

function withOperator(toleration: Toleration): Toleration {
  return toleration.operator ? toleration : { ...toleration, operator: 'Equal' };
}

function claimSpec(spec: Spec): Spec {
  const { devices = {} } = spec;
  const requests: readonly Request[] | null = devices.requests ?? null;
  if (requests === null) return spec;
  const next = requests.map(({ exactly, firstAvailable, ...request }) => ({
    ...request,
    ...(exactly ? { exactly: withCount(exactly) } : {}),
    ...(firstAvailable ? { firstAvailable: firstAvailable.map(withCount) } : {}),
  }));
  return { ...spec, devices: { ...devices, requests: next } };
}

/** A ResourceClaim that says how many devices it asks for, and of an allocation how it tolerates taints. */
export function withClaimDefaults(claim: KubeObject): KubeObject {
  const results: readonly Asked[] = claim.status?.allocation?.devices?.results ?? [];
  const spec = claimSpec(claim.spec);
  if (!results.some(({ tolerations }) => tolerations)) return { ...claim, spec };
  const { allocation } = claim.status ?? {};
  const written = results.map((result) =>
    result.tolerations ? { ...result, tolerations: result.tolerations.map(withOperator) } : result,
  );
  const devices = { ...allocation.devices, results: written };
  return { ...claim, spec, status: { ...claim.status, allocation: { ...allocation, devices } } };
}

/** A ResourceClaimTemplate that says how many devices its claims ask for. */
export function withTemplateDefaults(template: KubeObject): KubeObject {
  const { spec = {} } = template.spec;
  return { ...template, spec: { ...template.spec, spec: claimSpec(spec) } };
}
