// Devices of the cluster, the rules that taint them, the claims that hold them, and the pods: read for one answer.

import { type DeviceEvent, type DeviceResource, Devices } from '@taintmgr/core/devices';
import type { Budget } from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import { type Evictors, isFresh } from '../evictors/judge.ts';
import {
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '../proto/convert-devices.ts';
import {
  type DevicePaths,
  deviceGroupPath,
  devicePathsOf,
  deviceVersions,
} from '../proto/device-requests.ts';
import { UsageError } from '../text/usage-error.ts';
import type { Condition, ObjectMeta, PodFacts } from './facts.ts';
import type { ClusterReader } from './reader.ts';
import type { TaintManager } from './taint-managers.ts';

export const deviceKinds: readonly DeviceResource[] = [
  'resourceslices',
  'resourceclaims',
  'devicetaintrules',
];

/**
 * Returns the paths of the kinds of resource.k8s.io; null: the cluster serves none, or its kinds
 * may not be read.
 */
export async function devicePaths(reader: ClusterReader): Promise<DevicePaths | null> {
  const sight = await servedDevices(reader);
  return sight === 'hidden' ? null : sight;
}

const sights = new WeakMap<ClusterReader, Promise<DevicePaths | 'hidden' | null>>();

/**
 * Null: the cluster serves none of them. `hidden`: its served kinds may not be seen. Asked once by
 * each reader.
 */
export function servedDevices(reader: ClusterReader): Promise<DevicePaths | 'hidden' | null> {
  const known = sights.get(reader) ?? look(reader);
  sights.set(reader, known);
  return known;
}

async function look(reader: ClusterReader): Promise<DevicePaths | 'hidden' | null> {
  const asked = await reader.ifAllowed(async () => {
    const versions = deviceVersions(await reader.deviceGroup());
    return await Promise.all(
      versions.map((version) => reader.objectIfThere(`${deviceGroupPath}/${version}`)),
    );
  });
  // For a kind that one version has it is unknown if another has it too.
  if (asked === null) return 'hidden';
  const paths = devicePathsOf(asked);
  return deviceKinds.every((kind) => paths[kind] === null) ? null : paths;
}

/** A DeviceTaintRule as the API server has it. */
export interface RuleObject {
  /** Such as `resource.k8s.io/v1`. */
  readonly apiVersion?: string;
  /** Name, UID and other metadata. */
  readonly metadata: ObjectMeta & { readonly uid: string };
  /** The devices that are meant, and their taint. */
  readonly spec: {
    readonly deviceSelector?: object | null;
    readonly taint: {
      readonly key: string;
      readonly value?: string;
      readonly effect: string;
      readonly timeAdded?: string;
    };
  };
  /** The conditions of the rule. */
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** A ResourceSlice as the API server has it. */
interface SliceObject {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly nodeName?: string; readonly driver: string };
}

/** The reading of devices, as of about one moment. */
export interface DeviceSurvey {
  /** When the cluster was read. */
  readonly at: Instant;
  /** The paths of the kinds that the cluster serves. */
  readonly paths: DevicePaths;
  /** The devices, claims and rules as the engine has them. */
  readonly devices: Devices;
  /** The rules that may be read, by name. */
  readonly rules: ReadonlyMap<string, RuleObject>;
  /** The ResourceSlices that may be read, by name. */
  readonly slices: ReadonlyMap<string, SliceObject>;
  /** ResourceClaims as the API server has them. */
  readonly claims: readonly unknown[];
  /** The pods that use claims, by uid. */
  readonly pods: ReadonlyMap<string, PodFacts>;
  /** Null: we may not see them. */
  readonly budgets: readonly Budget[] | null;
  /** The unreadable resources: an answer without these would be a guess. */
  readonly hidden: readonly (DeviceResource | 'pods')[];
}

/** The objects that decide about devices, and the kinds of them that may not be read. */
interface DeviceObjects {
  /** Null: they may not be read. */
  readonly lists: Readonly<Record<DeviceResource, readonly unknown[] | null>>;
  readonly hidden: readonly DeviceResource[];
  /** The same as the engine takes them. */
  readonly events: readonly DeviceEvent[];
}

/** The number of namespaces whose claims are read one by one; of more, those of all. */
export const namespacesMax = 8;

/** Reads slices, rules and claims, of these namespaces alone or (null) of all. */
export async function readDeviceObjects(
  reader: ClusterReader,
  paths: DevicePaths,
  namespaces: readonly string[] | null,
): Promise<DeviceObjects> {
  const read = async (path: string | null): Promise<readonly unknown[] | null> => {
    if (path === null) return [];
    return await reader.ifAllowed(async () => (await reader.objectsIfServed(path)) ?? []);
  };
  const [slices, rules, ...claims] = await Promise.all([
    read(paths.resourceslices),
    read(paths.devicetaintrules),
    ...claimPaths(paths.resourceclaims, namespaces).map(read),
  ]);
  const resourceclaims = claims.includes(null) ? null : claims.flatMap((list) => list ?? []);
  const lists = { resourceslices: slices ?? null, devicetaintrules: rules ?? null, resourceclaims };
  const hidden = deviceKinds.filter((kind) => lists[kind] === null);
  const events: readonly DeviceEvent[] = [
    ...(slices ?? []).map((one) => {
      return { kind: 'resourceSliceUpsert', slice: resourceSliceFromJson(one) } as const;
    }),
    ...(rules ?? []).map((one) => {
      return { kind: 'deviceTaintRuleUpsert', rule: deviceTaintRuleFromJson(one) } as const;
    }),
    ...(resourceclaims ?? []).map((one) => {
      return { kind: 'resourceClaimUpsert', claim: resourceClaimFromJson(one) } as const;
    }),
    { kind: 'deviceRights', hidden },
  ];
  return { lists, hidden, events };
}

/** Where the claims of these namespaces are; null: of all. */
export function claimPaths(
  path: string | null,
  namespaces: readonly string[] | null,
): readonly string[] {
  if (path === null) return [];
  if (namespaces === null || namespaces.length > namespacesMax) return [path];
  const at = path.lastIndexOf('/');
  return namespaces.map((namespace) => {
    return `${path.slice(0, at)}/namespaces/${encodeURIComponent(namespace)}${path.slice(at)}`;
  });
}

/** The devices of which these events tell, with the pods that use them. */
export function devicesFrom(
  events: readonly DeviceEvent[],
  pods: readonly PodFacts[] = [],
): Devices {
  const devices = new Devices();
  for (const event of events) devices.handle(event);
  for (const { pod } of pods) if (pod.claims) devices.handle({ kind: 'podUpsert', pod });
  return devices;
}

/** Reads everything that decides about pods on tainted devices. */
export async function surveyDevices(
  reader: ClusterReader,
  paths: DevicePaths,
): Promise<DeviceSurvey> {
  const [{ lists, hidden, events }, pods, budgets] = await Promise.all([
    readDeviceObjects(reader, paths, null),
    reader.ifAllowed(() => reader.pods()),
    reader.budgets(),
  ]);
  const claiming = (pods ?? []).filter(({ pod }) => pod.claims);
  return {
    at: reader.now(),
    paths,
    devices: devicesFrom(events, claiming),
    rules: byName(lists.devicetaintrules as readonly RuleObject[] | null),
    slices: byName(lists.resourceslices as readonly SliceObject[] | null),
    claims: lists.resourceclaims ?? [],
    pods: new Map(claiming.map((facts) => [facts.pod.uid, facts] as const)),
    budgets,
    hidden: [...hidden, ...(pods === null ? (['pods'] as const) : [])],
  };
}

function byName<T extends { readonly metadata: ObjectMeta }>(
  objects: readonly T[] | null,
): ReadonlyMap<string, T> {
  return new Map((objects ?? []).map((one) => [one.metadata.name, one] as const));
}

/** Who evicts for taints of devices. */
export interface DeviceEvictor {
  /** Where taintmgr-controller decides about them; null: nowhere. */
  readonly ours: 'everywhere' | 'where taken over' | null;
  /** True when kube-controller-manager does; null: unknown. */
  readonly upstream: boolean | null;
  /** True when kube-controller-manager was seen to act on rules; null: nothing shows it. */
  readonly actsOnRules: boolean | null;
}

/** The controller of kube-controller-manager that evicts for taints of devices. */
export const deviceDuty = 'device-taint-eviction-controller';

/**
 * Tells who evicts for taints of devices: by the statuses of leaders, by evidence about
 * kube-controller-manager, and by the conditions of rules.
 */
export function deviceEvictor(
  managers: readonly TaintManager[],
  { upstream }: Pick<Evictors, 'upstream'>,
  { devices, at }: Pick<DeviceSurvey, 'devices' | 'at'>,
): DeviceEvictor {
  const acting = managers.filter((one) => isFresh(one, at) && one.shadow === null);
  const isTakingOver = acting.some(({ takeover }) => takeover?.enabled && takeover.deviceTaints);
  const isEverywhere = acting.some(({ takeover, controllers }) => {
    return !takeover?.enabled && controllers.includes(deviceDuty);
  });
  const { actsOnRules } = devices;
  const { kind } = upstream[deviceDuty];
  return {
    ours: isTakingOver ? 'where taken over' : isEverywhere ? 'everywhere' : null,
    // A status of its own is proof.
    upstream: kind === 'acts' || actsOnRules ? true : kind === 'unknown' ? null : false,
    actsOnRules,
  };
}

/** Answers questions about devices in a cluster that serves none. */
export const noDevicesText =
  'this cluster serves no kind of resource.k8s.io: no devices are allocated here';

/** Returns the path of DeviceTaintRules. Throws UsageError where they are not served. */
export function rulesPathOf(paths: DevicePaths | null): string {
  const path = paths?.devicetaintrules ?? null;
  if (path !== null) return path;
  throw new UsageError(
    'this cluster does not serve DeviceTaintRules: Kubernetes serves them by default since 1.37; kube-apiserver 1.36 needs --runtime-config=resource.k8s.io/v1beta2=true and the feature gate DRADeviceTaintRules, 1.35 the same with v1alpha3, 1.33 and 1.34 v1alpha3 and the gate DRADeviceTaints',
  );
}

/**
 * Says which resources may not be listed: `you may not list resourceslices and devicetaintrules`.
 */
export function hiddenText(hidden: readonly string[]): string {
  const last = hidden.at(-1) ?? '';
  const others = hidden.slice(0, -1).join(', ');
  return `you may not list ${others === '' ? last : `${others} and ${last}`}`;
}
