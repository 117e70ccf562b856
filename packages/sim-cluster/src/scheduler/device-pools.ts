// The devices that drivers publish in ResourceSlices, and what taints them.
import { entry } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { type Taint, type Toleration, untolerated } from '../objects/tolerations.ts';
import { matchesTerms, type NodeTerm } from './node-affinity.ts';
import type { Objects } from './volume-claims.ts';

/** A device as expressions see it. */
export interface PublishedDevice {
  /** The name of the driver, such as `gpu.example.com`. */
  readonly driver: string;
  /** By their names: `DOMAIN/ID`, or ID alone in the domain of the driver. */
  readonly attributes: Readonly<Record<string, Json>>;
  /** Quantities by their names, in the form of those of attributes. */
  readonly capacity: Readonly<Record<string, Json>>;
  /** True if several claims may share the device. */
  readonly allowMultipleAllocations: boolean;
}

/** Reads a CEL expression: true if it selects the device; an error if that is unknown. */
export type SelectsDevice = (
  expression: string,
  device: PublishedDevice,
) => boolean | { readonly error: string };

/**
 * The nodes on which a device can be used: one node, nodes that a selector matches, or all (null).
 */
export interface Reach {
  readonly nodeName?: string;
  readonly nodeSelector?: { readonly nodeSelectorTerms: readonly NodeTerm[] | null };
}

export interface Device {
  /** `DRIVER/POOL/DEVICE`. */
  readonly id: string;
  readonly pool: string;
  readonly name: string;
  readonly facts: PublishedDevice;
  readonly reach: Reach;
  readonly taints: readonly Taint[];
  /** The property of the device that is unknown here and decides about it; null for none. */
  readonly unknown: string | null;
}

/** The slices of one generation of a pool. */
export interface Pool {
  /** `DRIVER/POOL`. */
  readonly id: string;
  readonly devices: readonly Device[];
  /** True if all slices of the pool are stored. */
  readonly isWhole: boolean;
  /** The nodes on which its slices can be used, for requests of all devices. */
  readonly reaches: readonly Reach[];
}

interface SliceDevice extends Reach {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, Json>>;
  readonly capacity?: Readonly<Record<string, Json>>;
  readonly taints?: readonly Taint[];
  readonly allNodes?: boolean;
  readonly consumesCounters?: readonly object[];
  readonly bindingConditions?: readonly string[];
  readonly allowMultipleAllocations?: boolean;
}

/** The pools of all drivers, by their names; of each the highest generation. */
export function devicePools(objects: Objects): readonly Pool[] {
  const slices = new Map<string, KubeObject[]>();
  for (const slice of objects.list('resourceslices')) {
    const id = `${slice.spec.driver}/${slice.spec.pool.name}`;
    const [known] = slices.get(id) ?? [];
    const newer = (known?.spec.pool.generation ?? 0) - slice.spec.pool.generation;
    if (!known || newer < 0) slices.set(id, [slice]);
    else if (newer === 0) slices.get(id)?.push(slice);
  }
  const rules = objects.list('devicetaintrules');
  return [...slices]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([id, all]) => ({
      id,
      devices: all.flatMap((slice) => devicesOf(slice, id, rules)),
      isWhole: all.every(({ spec }) => spec.pool.resourceSliceCount === all.length),
      reaches: all.map(({ spec }) => spec),
    }));
}

function devicesOf(
  { spec }: KubeObject,
  poolId: string,
  rules: readonly KubeObject[],
): readonly Device[] {
  const devices: readonly SliceDevice[] = spec.devices ?? [];
  const driver: string = spec.driver;
  const pool: string = spec.pool.name;
  return devices.map((device) => ({
    id: `${poolId}/${device.name}`,
    pool,
    name: device.name,
    facts: {
      driver,
      attributes: device.attributes ?? {},
      capacity: device.capacity ?? {},
      allowMultipleAllocations: device.allowMultipleAllocations ?? false,
    },
    reach: reachOf(spec.perDeviceNodeSelection ? device : spec),
    taints: [
      ...(device.taints ?? []),
      ...rules.flatMap((rule) => taintBy(rule, driver, pool, device.name)),
    ],
    unknown: unknownOf(device),
  }));
}

function reachOf({ nodeName, nodeSelector }: Reach): Reach {
  if (nodeName !== undefined) return { nodeName };
  return nodeSelector === undefined ? {} : { nodeSelector };
}

/** Up to Kubernetes 1.37 a rule without a selector taints all devices for the scheduler. */
function taintBy({ spec }: KubeObject, ...names: readonly string[]): readonly Taint[] {
  const { driver, pool, device } = spec.deviceSelector ?? {};
  const wanted: readonly (string | undefined)[] = [driver, pool, device];
  const isMeant = wanted.every((name, at) => name === undefined || name === names[at]);
  return isMeant ? [spec.taint] : [];
}

function unknownOf(device: SliceDevice): string | null {
  if (device.consumesCounters) return 'share counters';
  if (device.bindingConditions) return 'have binding conditions';
  return device.allowMultipleAllocations ? 'can be allocated several times' : null;
}

/** True if the devices can be used on a node. */
export function reachesNode({ nodeName, nodeSelector }: Reach, node: KubeObject): boolean {
  if (nodeName !== undefined) return nodeName === node.metadata.name;
  return !nodeSelector || matchesTerms(nodeSelector.nodeSelectorTerms ?? [], node);
}

const keepingOut = ['NoSchedule', 'NoExecute'];

/**
 * True if a request with these tolerations may have the device. As for pods, a toleration without
 * an effect covers all effects.
 */
export function isTolerated({ taints }: Device, tolerations: readonly Toleration[]): boolean {
  return untolerated(taints, tolerations, keepingOut) === null;
}

/** An attribute of a device by its full name, `DOMAIN/ID`, as a text that is equal where it is; null: none. */
export function attributeOf({ facts }: Device, name: string): string | null {
  const [domain = '', id = ''] = name.split('/');
  const value =
    entry(facts.attributes, name) ??
    (domain === facts.driver ? entry(facts.attributes, id) : undefined);
  return value === undefined ? null : JSON.stringify(value);
}

const byDriver = /^\s*device\.driver\s*==\s*(["'])([^"'\\]*)\1\s*$/;

/**
 * Reads the expression that most DeviceClasses have, `device.driver == "gpu.example.com"`, and no other: for
 * clusters whose API server knows no CEL.
 */
export const selectsByDriver: SelectsDevice = (expression, { driver }) => {
  const [, , wanted] = byDriver.exec(expression) ?? [];
  return wanted === undefined
    ? { error: 'such expressions are not supported here' }
    : wanted === driver;
};
