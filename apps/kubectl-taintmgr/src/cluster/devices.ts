// Devices of the cluster, the rules that taint them, the claims that hold them, and the pods: read for one answer.

import { type DeviceResource, Devices } from '@taintmgr/core/devices';
import type { Budget } from '@taintmgr/core/drain';
import type { Instant } from '@taintmgr/core/time';
import {
  type DevicePaths,
  deviceGroupPath,
  devicePathsOf,
  deviceTaintRuleFromJson,
  deviceVersions,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '@taintmgr/k8s-adapter/client';
import { UsageError } from '../usage-error.ts';
import type { Condition, ObjectMeta, PodFacts } from './facts.ts';
import type { ClusterReader } from './reader.ts';

export const deviceKinds: readonly DeviceResource[] = [
  'resourceslices',
  'resourceclaims',
  'devicetaintrules',
];

/** Null: the cluster serves none of them, or we may not see what it serves. */
export async function devicePaths(reader: ClusterReader): Promise<DevicePaths | null> {
  const sight = await lookForDevices(reader);
  return sight === 'hidden' ? null : sight;
}

const sights = new WeakMap<ClusterReader, Promise<DevicePaths | 'hidden' | null>>();

/** Null: the cluster serves none of them. `hidden`: what it serves may not be seen. Asked once by each reader. */
export function lookForDevices(reader: ClusterReader): Promise<DevicePaths | 'hidden' | null> {
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
  // Of a kind that one version has nobody knows whether another has it too.
  if (asked === null) return 'hidden';
  const paths = devicePathsOf(asked);
  return deviceKinds.every((kind) => paths[kind] === null) ? null : paths;
}

/** A DeviceTaintRule as the API server has it. */
export interface RuleObject {
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta & { readonly uid: string };
  readonly spec: {
    readonly deviceSelector?: object | null;
    readonly taint: {
      readonly key: string;
      readonly value?: string;
      readonly effect: string;
      readonly timeAdded?: string;
    };
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** A ResourceSlice as the API server has it. */
interface SliceObject {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly nodeName?: string; readonly driver: string };
}

/** What was read of devices, as of about one moment. */
export interface DeviceSurvey {
  readonly at: Instant;
  readonly paths: DevicePaths;
  readonly devices: Devices;
  /** Those that may be read, by name. */
  readonly rules: ReadonlyMap<string, RuleObject>;
  readonly slices: ReadonlyMap<string, SliceObject>;
  /** ResourceClaims as the API server has them. */
  readonly claims: readonly unknown[];
  /** The pods that use claims, by uid. */
  readonly pods: ReadonlyMap<string, PodFacts>;
  /** Null: we may not see them. */
  readonly budgets: readonly Budget[] | null;
  /** What may not be read: an answer without it would be a guess. */
  readonly hidden: readonly (DeviceResource | 'pods')[];
}

/** Reads everything that decides about pods on tainted devices. */
export async function surveyDevices(
  reader: ClusterReader,
  paths: DevicePaths,
): Promise<DeviceSurvey> {
  const read = async (kind: DeviceResource): Promise<readonly unknown[] | null> => {
    const path = paths[kind];
    if (path === null) return [];
    return await reader.ifAllowed(async () => (await reader.objectsIfServed(path)) ?? []);
  };
  const [slices, claims, rules, pods, budgets] = await Promise.all([
    read('resourceslices'),
    read('resourceclaims'),
    read('devicetaintrules'),
    reader.ifAllowed(() => reader.pods()),
    reader.budgets(),
  ]);
  const lists = { resourceslices: slices, resourceclaims: claims, devicetaintrules: rules };
  const hidden = deviceKinds.filter((kind) => lists[kind] === null);
  const devices = new Devices();
  for (const slice of slices ?? []) {
    devices.handle({ kind: 'resourceSliceUpsert', slice: resourceSliceFromJson(slice) });
  }
  for (const claim of claims ?? []) {
    devices.handle({ kind: 'resourceClaimUpsert', claim: resourceClaimFromJson(claim) });
  }
  for (const rule of rules ?? []) {
    devices.handle({ kind: 'deviceTaintRuleUpsert', rule: deviceTaintRuleFromJson(rule) });
  }
  const claiming = (pods ?? []).filter(({ pod }) => pod.claims);
  for (const { pod } of claiming) devices.handle({ kind: 'podUpsert', pod });
  devices.handle({ kind: 'deviceRights', hidden });
  return {
    at: reader.now(),
    paths,
    devices,
    rules: byName(rules as readonly RuleObject[] | null),
    slices: byName(slices as readonly SliceObject[] | null),
    claims: claims ?? [],
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

export const noDevicesText =
  'this cluster serves no kind of resource.k8s.io: no devices are allocated here';

/** Where DeviceTaintRules are. Throws UsageError where there are none. */
export function rulesPathOf(paths: DevicePaths | null): string {
  const path = paths?.devicetaintrules ?? null;
  if (path !== null) return path;
  throw new UsageError(
    'this cluster does not serve DeviceTaintRules: Kubernetes has them since 1.33, by default since 1.37; before that kube-apiserver needs --runtime-config=resource.k8s.io/v1beta2=true (1.36) and the feature gate DRADeviceTaintRules',
  );
}

/** `you may not list resourceslices and devicetaintrules` */
export function hiddenText(hidden: readonly string[]): string {
  const last = hidden.at(-1) ?? '';
  const others = hidden.slice(0, -1).join(', ');
  return `you may not list ${others === '' ? last : `${others} and ${last}`}`;
}
