// Where a cluster serves the kinds of resource.k8s.io, and the requests for one object of them.
import type { DeviceResource, DeviceTaintSource } from '@taintmgr/core/devices';
import { asList, asRecord, asText } from './json.ts';
import { type ApiRequest, getRequest } from './requests.ts';

/**
 * The path of each kind of resource.k8s.io, in the newest version that serves it; null: none does.
 */
export type DevicePaths = Readonly<Record<DeviceResource, string | null>>;

/** The group of devices in discovery. */
export const deviceGroupPath = '/apis/resource.k8s.io';

const kinds: readonly DeviceResource[] = ['resourceslices', 'resourceclaims', 'devicetaintrules'];
/** The versions that can be read, preferred first; v1alpha3 has DeviceTaintRules alone. */
const versions: readonly string[] = ['v1', 'v1beta2', 'v1beta1', 'v1alpha3'];

/** The versions of the group to ask about, of an APIGroup; empty: none can be read. */
export function deviceVersions(group: unknown): readonly string[] {
  const served = asList(asRecord(group).versions).map((one) => asText(asRecord(one).version));
  return versions.filter((version) => served.includes(version));
}

/** Of the APIResourceLists of those versions, in their order. */
export function devicePathsOf(lists: readonly unknown[]): DevicePaths {
  const paths = lists.flatMap((list) => {
    const { groupVersion, resources } = asRecord(list);
    const names = asList(resources).map((one) => asText(asRecord(one).name));
    return names.map((name) => [name, `/apis/${asText(groupVersion)}/${name}`] as const);
  });
  const pathOf = (kind: DeviceResource): string | null =>
    paths.find(([name]) => name === kind)?.[1] ?? null;
  return {
    resourceslices: pathOf('resourceslices'),
    resourceclaims: pathOf('resourceclaims'),
    devicetaintrules: pathOf('devicetaintrules'),
  };
}

/** True where claims and slices are served: nothing evicts for devices without. */
export function servesDevices({ resourceclaims, resourceslices }: DevicePaths): boolean {
  return resourceclaims !== null && resourceslices !== null;
}

/** The kinds that are served. */
export function servedKinds(paths: DevicePaths): readonly (readonly [DeviceResource, string])[] {
  return kinds.flatMap((kind) => {
    const path = paths[kind];
    return path === null ? [] : [[kind, path] as const];
  });
}

/** Returns the path of the ResourceClaims of a namespace; null: they are not served. */
export function claimsPath({ resourceclaims }: DevicePaths, namespace: string): string | null {
  const at = resourceclaims?.lastIndexOf('/') ?? -1;
  if (resourceclaims === null || at < 0) return null;
  const [before, plural] = [resourceclaims.slice(0, at), resourceclaims.slice(at)];
  return `${before}/namespaces/${encodeURIComponent(namespace)}${plural}`;
}

/** Where one ResourceClaim is; null: claims are not served. */
export function claimPath(paths: DevicePaths, namespace: string, name: string): string | null {
  const all = claimsPath(paths, namespace);
  return all === null ? null : `${all}/${encodeURIComponent(name)}`;
}

/** GET of the rule or the slice that has put a taint on; null: its kind is not served. */
export function getTaintSourceRequest(
  paths: DevicePaths,
  { kind, name }: DeviceTaintSource,
): ApiRequest | null {
  const path = kind === 'rule' ? paths.devicetaintrules : paths.resourceslices;
  return path === null ? null : getRequest(`${path}/${encodeURIComponent(name)}`);
}
