// The demands of pods that the scheduler cannot judge, for programs that show its results.
import { claimNameOf, podClaimsOf } from '../controllers/device-claims.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { alternativesOf, constraintsOf, requestsOf } from './device-allocation.ts';
import { devicePools, type SelectsDevice, selectsByDriver } from './device-pools.ts';
import type { Objects } from './volume-claims.ts';

/** The scheduler whose rules are played. */
export const ownSchedulerName = 'default-scheduler';

/** The rule by which a pod would be placed, and that is not simulated. */
export type UnknownRule =
  /** Another scheduler places the pod, and it stays pending. */
  | { readonly rule: 'schedulerName'; readonly schedulerName: string }
  /** The pod claims devices, and `why` says what is missing or not simulated. */
  | { readonly rule: 'devices'; readonly why: string };

/** The rules for the placement of a pod that are not simulated, given the other stored objects. */
export function unknownRulesOf(
  pod: KubeObject,
  objects: Objects,
  selects: SelectsDevice = selectsByDriver,
): readonly UnknownRule[] {
  const { schedulerName = ownSchedulerName } = pod.spec;
  const why = unknownDevices(pod, objects, selects);
  return [
    ...(schedulerName === ownSchedulerName
      ? []
      : [{ rule: 'schedulerName', schedulerName } as const]),
    ...(why === null ? [] : [{ rule: 'devices', why } as const]),
  ];
}

function unknownDevices(pod: KubeObject, objects: Objects, selects: SelectsDevice): string | null {
  const extended = extendedResource(pod, objects);
  if (extended !== null) return `${extended} is a device in a cluster with DRAExtendedResource`;
  const { namespace = '' } = pod.metadata;
  for (const claim of podClaimsOf(pod)) {
    const { resourceClaimTemplateName: template } = claim;
    const name = claimNameOf(pod, claim);
    const made = name ? objects.get('resourceclaims', namespace, name) : null;
    if (name && !made) return `ResourceClaim ${name} is not there`;
    const origin = template
      ? objects.get('resourceclaimtemplates', namespace, template)?.spec
      : made;
    if (!origin) return `ResourceClaimTemplate ${template} is not there`;
    const why = unknownOfClaim(origin, objects, selects);
    if (why !== null) return why;
  }
  return null;
}

interface Container {
  readonly resources?: { readonly requests?: object; readonly limits?: object };
}

/** A resource of a pod that a DeviceClass stands for. */
function extendedResource({ spec }: KubeObject, objects: Objects): string | null {
  const classes = objects.list('deviceclasses');
  if (classes.length === 0) return null;
  const containers: readonly Container[] = [
    ...(spec.containers ?? []),
    ...(spec.initContainers ?? []),
  ];
  const asked = containers.flatMap(({ resources }) =>
    Object.keys({ ...resources?.limits, ...resources?.requests }),
  );
  const names = classes.flatMap(({ metadata, spec: { extendedResourceName } }) => [
    `deviceclass.resource.kubernetes.io/${metadata.name}`,
    ...(extendedResourceName ? [extendedResourceName] : []),
  ]);
  return asked.find((name) => names.includes(name)) ?? null;
}

/** The claim, or the spec of its template. */
function unknownOfClaim(
  claim: KubeObject,
  objects: Objects,
  selects: SelectsDevice,
): string | null {
  if (constraintsOf(claim).some(({ matchAttribute }) => matchAttribute === undefined)) {
    return 'distinctAttribute is not played';
  }
  for (const { asked } of requestsOf(claim).flatMap(alternativesOf)) {
    const { deviceClassName, capacity, selectors = [] } = asked;
    const deviceClass = objects.get('deviceclasses', '', deviceClassName);
    if (!deviceClass) return `DeviceClass ${deviceClassName} is not there`;
    if (capacity) return 'shares of capacities are not played';
    const all = [...(deviceClass.spec.selectors ?? []), ...selectors];
    const why = unknownOfDevices(all, deviceClassName, objects, selects);
    if (why !== null) return why;
  }
  return null;
}

interface Selector {
  readonly cel?: { readonly expression: string };
}

function unknownOfDevices(
  selectors: readonly Selector[],
  className: string,
  objects: Objects,
  selects: SelectsDevice,
): string | null {
  let isThere = false;
  for (const { facts, unknown } of devicePools(objects).flatMap(({ devices }) => devices)) {
    const isSelected = selectors.every(({ cel }) => {
      const selected = selects(cel?.expression ?? '', facts);
      // An unreadable selector might select it.
      return typeof selected === 'boolean' ? selected : true;
    });
    if (!isSelected) continue;
    isThere = true;
    const unread = selectors.find(
      ({ cel }) => typeof selects(cel?.expression ?? '', facts) !== 'boolean',
    );
    if (unread) return `an expression cannot be read: ${unread.cel?.expression}`;
    if (unknown !== null) return `devices of class ${className} ${unknown}`;
  }
  return isThere ? null : `no ResourceSlice has a device of class ${className}`;
}
