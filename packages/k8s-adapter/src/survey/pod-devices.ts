// The fate of pods for the taints of their devices, where pods that use claims were read.
import type { Decision, Reason } from '@taintmgr/core';
import {
  type DeviceEvent,
  type DeviceReason,
  type Devices,
  type DeviceTaintRule,
  type DeviceVerdict,
  type ResourceClaim,
  reasonOfCause,
} from '@taintmgr/core/devices';
import type { Evictors } from '../evictors/judge.ts';
import { deviceTaintRuleFromJson, resourceClaimFromJson } from '../proto/convert-devices.ts';
import {
  claimPaths,
  type DeviceEvictor,
  deviceEvictor,
  deviceKinds,
  devicePaths,
  devicesFrom,
  namespacesMax,
  readDeviceObjects,
  servedDevices,
} from './devices.ts';
import type { PodFacts } from './facts.ts';
import { type ClusterReader, inTurns } from './reader.ts';
import { unless } from './refusals.ts';
import type { TaintManager } from './taint-managers.ts';

/** The readings that decide about the devices of the pods. */
export class PodDevices {
  /** As the engine takes them. */
  readonly events: readonly DeviceEvent[];
  /**
   * True when taintmgr-controller decides about them, of namespaces that are taken over where it
   * takes over.
   */
  readonly byOurs: boolean;
  /** True when kube-controller-manager evicts for devices; null: unknown. */
  readonly byUpstream: boolean | null;
  readonly #devices: Devices;

  constructor(
    events: readonly DeviceEvent[],
    devices: Devices,
    { ours, upstream }: Pick<DeviceEvictor, 'ours' | 'upstream'>,
  ) {
    this.events = events;
    this.byOurs = ours !== null;
    this.byUpstream = upstream;
    this.#devices = devices;
  }

  /** Every rule that may be read. */
  rules(): Iterable<DeviceTaintRule> {
    return this.#devices.rules();
  }

  /**
   * The verdict on a pod for its devices, by kube-controller-manager: with rules if it was seen to
   * apply them.
   */
  verdictOf({ pod }: PodFacts): DeviceVerdict {
    return this.#devices.verdictOf(pod, { withRules: this.#devices.actsOnRules !== false });
  }

  /**
   * True of a pod that has finished and no longer uses its claims: no taint of their devices makes
   * it leave.
   */
  isReleased(facts: PodFacts): boolean {
    const { phase, claims, deletionTimestamp } = facts.pod;
    if (!claims || deletionTimestamp !== null) return false;
    if (phase !== 'Succeeded' && phase !== 'Failed') return false;
    const verdict = this.verdictOf(facts);
    return verdict.at === null && verdict.because[0].code === 'NotReserved';
  }

  /** The reason if a rule would make it leave, were rules in effect. */
  #unheeded(pod: PodFacts['pod']): Reason | null {
    if (this.#devices.actsOnRules !== false) return null;
    const verdict = this.#devices.verdictOf(pod);
    if (verdict.at === null) return unknownOf(verdict.because[0]);
    const [{ source }] = verdict.causes;
    return { code: 'RulesUnheeded', rule: source.name, deadline: verdict.at };
  }

  /** kube-controller-manager's decision for devices alone; null: it makes none. */
  decisionOn(facts: PodFacts): Decision | null {
    const { pod } = facts;
    if (!pod.claims || pod.deletionTimestamp !== null || this.byUpstream === false) return null;
    const verdict = this.verdictOf(facts);
    if (verdict.at !== null) {
      return { kind: 'evict', deadline: verdict.at, because: verdict.causes.map(reasonOfCause) };
    }
    const [telling] = verdict.because;
    const unknown = unknownOf(telling) ?? this.#unheeded(pod);
    return unknown && { kind: 'keep', because: [unknown] };
  }
}

function unknownOf(reason: DeviceReason): Reason | null {
  return reason.code === 'NotKnown' ? { ...reason, code: 'DevicesUnknown' } : null;
}

/** Null: no pod uses a claim, or the cluster has no devices. */
export async function readPodDevices(
  reader: ClusterReader,
  pods: readonly PodFacts[],
  evictors: Evictors,
  managers: readonly TaintManager[],
): Promise<PodDevices | null> {
  const namespaces = new Set(pods.flatMap(({ pod }) => (pod.claims ? pod.namespace : [])));
  const sight = namespaces.size === 0 ? null : await servedDevices(reader);
  if (!sight) return null;
  const events =
    sight === 'hidden'
      ? [{ kind: 'deviceRights', hidden: deviceKinds } as const]
      : (await readDeviceObjects(reader, sight, [...namespaces])).events;
  const devices = devicesFrom(events);
  const evictor = deviceEvictor(managers, evictors, { devices, at: reader.now() });
  return new PodDevices(events, devices, evictor);
}

/**
 * The nodes of pods that taints of their devices make go, or may: where what decides may not be read, of all
 * that use claims. `namespace`: of its pods alone, where no others may be read.
 */
export async function nodesOfTaintedDevices(
  reader: ClusterReader,
  namespace?: string,
): Promise<ReadonlySet<string>> {
  const paths = await servedDevices(reader);
  if (paths === 'hidden') return nodesOf(await readClaiming(reader, namespace ?? null));
  const claims = await readClaims(reader, paths?.resourceclaims ?? null, namespace);
  // Only the pods tell which claims they use.
  if (claims === null) return nodesOf(await readClaiming(reader, namespace ?? null));
  const users = claims.flatMap((claim) => usersOf(claim));
  if (!paths || users.length === 0) return new Set();
  const namespaces = [...new Set(users.map((one) => one.namespace))];
  const { events, hidden } = await readDeviceObjects(reader, paths, namespaces);
  const devices = devicesFrom(events);
  const isTainted = (claim: ResourceClaim): boolean =>
    (claim.allocated ?? []).some((id) =>
      devices.taintsOf(id).some(({ taint }) => taint.effect === 'NoExecute'),
    );
  const asked = users.filter(({ claim }) => hidden.length > 0 || isTainted(claim));
  return nodesOf(await readUsers(reader, asked));
}

function nodesOf(pods: readonly PodFacts[]): ReadonlySet<string> {
  return new Set(pods.flatMap(({ pod }) => (pod.nodeName === '' ? [] : pod.nodeName)));
}

/** The pods that use claims, of a namespace alone or of all. */
async function readClaiming(
  reader: ClusterReader,
  namespace: string | null,
): Promise<readonly PodFacts[]> {
  const pods = await unless(403, () => reader.podsOf(namespace), null);
  return (pods ?? []).filter(({ pod }) => pod.claims);
}

/** The rules, with all that shows whom they reach among these pods; null: there are none, or we may not see them. */
export async function readDeviceRules(
  reader: ClusterReader,
  pods: readonly PodFacts[],
): Promise<{ readonly rules: readonly DeviceTaintRule[]; readonly devices: Devices } | null> {
  const paths = await devicePaths(reader);
  const path = paths?.devicetaintrules ?? null;
  const found = path === null ? null : await unless(403, () => reader.objectsIfServed(path), null);
  if (!paths || !found || found.length === 0) return null;
  const { events } = await readDeviceObjects(reader, paths, null);
  return { rules: found.map(deviceTaintRuleFromJson), devices: devicesFrom(events, pods) };
}

/** A pod for which a claim is reserved. */
interface ClaimUser {
  readonly namespace: string;
  readonly name: string;
  readonly claim: ResourceClaim;
}

interface ClaimObject {
  readonly status?: {
    readonly reservedFor?: readonly { readonly resource?: string; readonly name?: string }[];
  };
}

function usersOf(object: unknown): readonly ClaimUser[] {
  const { status } = object as ClaimObject;
  const claim = resourceClaimFromJson(object);
  if (claim.allocated === null) return [];
  return (status?.reservedFor ?? []).flatMap(({ resource, name }) => {
    return resource === 'pods' && name ? [{ namespace: claim.namespace, name, claim }] : [];
  });
}

async function readUsers(
  reader: ClusterReader,
  users: readonly ClaimUser[],
): Promise<readonly PodFacts[]> {
  const names = new Set(users.map(({ namespace, name }) => `${namespace}/${name}`));
  const isUser = ({ pod }: PodFacts): boolean => names.has(`${pod.namespace}/${pod.name}`);
  const namespaces = [...new Set(users.map(({ namespace }) => namespace))];
  const read = namespaces.length > namespacesMax ? [null] : namespaces;
  const lists = await inTurns(read, (one) => reader.ifAllowed(() => reader.podsOf(one)));
  return lists.flatMap((list) => list ?? []).filter(isUser);
}

/** All of them; without the right to read all, those of `namespace`; null without that one either. */
async function readClaims(
  reader: ClusterReader,
  path: string | null,
  namespace?: string,
): Promise<readonly unknown[] | null> {
  if (path === null) return [];
  const read = async (from: string): Promise<readonly unknown[] | null> =>
    await unless(403, () => reader.objectsIfServed(from).then((found) => found ?? []), null);
  const all = await read(path);
  if (all || namespace === undefined) return all;
  return await read(claimPaths(path, [namespace]).join(''));
}
