// The validation of Pods.
import type { Cause } from '../objects/errors.ts';
import { equal, isObject } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { subdomainErrors } from '../objects/names.ts';
import type { TimedToleration } from '../objects/tolerations.ts';
import { forbiddenValue, invalidValue, notSupported, required } from './causes.ts';
import { type Container, memberOf, validateContainers, validateVolumes } from './containers.ts';
import { validateMetadata } from './metadata.ts';
import { validateTolerations } from './taints.ts';

/** A PodSpec as far as the rules below look into it. */
interface PodSpec {
  readonly containers?: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Json[];
  readonly dnsPolicy?: string;
  readonly restartPolicy?: string;
  readonly nodeName?: string;
  readonly tolerations?: readonly TimedToleration[];
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly activeDeadlineSeconds?: number;
  readonly terminationGracePeriodSeconds?: number;
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const dnsPolicies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] as const;
const restartPolicies = ['Always', 'OnFailure', 'Never'] as const;

/** The rules for a new or changed pod; where its status alone is written, its spec was valid before. */
export function validatePod(
  pod: KubeObject,
  { subresource, previous }: { readonly subresource?: string; readonly previous?: KubeObject } = {},
): readonly Cause[] {
  const metadata = validateMetadata(pod);
  if (subresource === 'status') return metadata;
  const causes = [...metadata, ...validatePodSpec(pod.spec, 'spec', previous?.spec)];
  const mirror = pod.metadata.annotations?.[mirrorAnnotation];
  if (mirror !== undefined && !pod.spec.nodeName) {
    const text = 'must set spec.nodeName if mirror pod annotation is set';
    causes.push(invalidValue(`metadata.annotations[${mirrorAnnotation}]`, mirror, text));
  }
  return causes;
}

/**
 * The rules for a PodSpec at `path`, of a pod or of a template; `before` is the stored one. Its containers may
 * also mount the claims that are made for each pod of a StatefulSet.
 */
export function validatePodSpec(
  spec: PodSpec,
  path: string,
  before: PodSpec = {},
  claims: readonly Json[] = [],
): readonly Cause[] {
  const { volumes = [], initContainers = [], dnsPolicy } = spec;
  const causes = [...validateVolumes(volumes, `${path}.volumes`)];
  const claimed = claims.map((claim) => memberOf(isObject(claim) ? claim.metadata : claim, 'name'));
  const names = new Set([...volumes.map((volume) => memberOf(volume, 'name')), ...claimed]);
  const containers = spec.containers ?? [];
  if (containers.length === 0) causes.push(required(`${path}.containers`));
  causes.push(...validateContainers(initContainers, `${path}.initContainers`, names));
  causes.push(...validateContainers(containers, `${path}.containers`, names));
  if (!restartPolicies.some((policy) => policy === spec.restartPolicy)) {
    causes.push(
      spec.restartPolicy
        ? notSupported(`${path}.restartPolicy`, spec.restartPolicy, restartPolicies)
        : required(`${path}.restartPolicy`),
    );
  }
  if (dnsPolicy !== undefined && !dnsPolicies.some((policy) => policy === dnsPolicy)) {
    causes.push(notSupported(`${path}.dnsPolicy`, dnsPolicy, dnsPolicies));
  }
  for (const error of spec.nodeName ? subdomainErrors(spec.nodeName) : []) {
    causes.push(invalidValue(`${path}.nodeName`, spec.nodeName, error));
  }
  const { tolerations = [] } = spec;
  causes.push(...validateTolerations(tolerations, `${path}.tolerations`, before.tolerations));
  return causes;
}

const immutableMessage =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** The faults of an update of an existing pod's spec. */
export function validatePodUpdate(next: KubeObject, previous: KubeObject): readonly Cause[] {
  const after: PodSpec = next.spec;
  const before: PodSpec = previous.spec;
  const deadline = validateDeadline(after.activeDeadlineSeconds, before.activeDeadlineSeconds);
  if (deadline.length > 0) return deadline;
  if (!keepsTolerations(after.tolerations ?? [], before.tolerations ?? [])) {
    const text = 'existing toleration can not be modified except its tolerationSeconds';
    return [forbiddenValue('spec.tolerations', text)];
  }
  const gate = addedGate(after, before);
  if (gate !== undefined) {
    const text = `only deletion is allowed, but found new scheduling gate '${gate}'`;
    return [forbiddenValue('spec.schedulingGates', text)];
  }
  const allowed = withAllowedChanges(after, before);
  if (equal(allowed, before)) return [];
  return [forbiddenValue('spec', `${immutableMessage}\n${difference(allowed, before)}`)];
}

function validateDeadline(after: number | undefined, before: number | undefined): readonly Cause[] {
  const field = 'spec.activeDeadlineSeconds';
  if (before === undefined) return [];
  if (after === undefined) {
    const text = 'must not update from a positive integer to nil value';
    return [invalidValue(field, null, text)];
  }
  const text = 'must be less than or equal to previous value';
  return after > before ? [invalidValue(field, after, text)] : [];
}

/** Every old toleration must still be there, whatever its seconds. */
function keepsTolerations(
  after: readonly TimedToleration[],
  before: readonly TimedToleration[],
): boolean {
  const bare = ({ key = '', operator = '', value = '', effect = '' }: TimedToleration): string =>
    JSON.stringify([key, operator, value, effect]);
  const present = new Set(after.map(bare));
  return before.every((toleration) => present.has(bare(toleration)));
}

/** The name of a gate that was not there before. */
function addedGate(after: PodSpec, before: PodSpec): string | undefined {
  const known = before.schedulingGates?.map(({ name }) => name);
  return after.schedulingGates?.find(({ name }) => !known?.includes(name))?.name;
}

/** `after` with the mutable parts reset to those of `before`. */
function withAllowedChanges(after: PodSpec, before: PodSpec): PodSpec {
  const images = (now: readonly Container[] | null | undefined, then: typeof now): typeof now =>
    now?.map((container, index) => {
      const image = then?.[index]?.image;
      return image === undefined ? container : { ...container, image };
    });
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    schedulingGates: _gates,
    ...rest
  } = after;
  const { activeDeadlineSeconds, tolerations, schedulingGates } = before;
  return {
    ...rest,
    ...(schedulingGates === undefined ? {} : { schedulingGates }),
    ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(after.containers ? { containers: images(after.containers, before.containers) } : {}),
    ...(after.initContainers
      ? { initContainers: images(after.initContainers, before.initContainers) }
      : {}),
  } as PodSpec;
}

/** The members that differ, one pair of lines each, with Go's names as the real server shows. */
function difference(after: PodSpec, before: PodSpec): string {
  const then: Readonly<Record<string, unknown>> = { ...before };
  const now: Readonly<Record<string, unknown>> = { ...after };
  const keys = Object.keys({ ...then, ...now }).filter((key) => !equal(now[key], then[key]));
  return keys
    .map((key) => {
      const name = key.charAt(0).toUpperCase() + key.slice(1);
      const line = (value: unknown) => `"${name}": ${JSON.stringify(value ?? null)},`;
      return `- ${line(then[key])}\n+ ${line(now[key])}\n`;
    })
    .join('');
}
