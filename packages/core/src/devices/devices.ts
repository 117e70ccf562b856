// The devices of a cluster, who uses them, and what their taints mean for pods.
import type { Pod, PodClaim } from '../model/pod.ts';
import {
  type ClaimingPodEvent,
  type DeviceEvent,
  type DeviceId,
  type DeviceResource,
  type DeviceSelector,
  type DeviceTaintRule,
  formatDevice,
  type ResourceClaim,
  type ResourceSlice,
  selectsDevice,
} from './device.ts';
import {
  causeOf,
  type DeviceCause,
  type DeviceHit,
  type DeviceReason,
  type DeviceTaint,
  type DeviceVerdict,
  inCauseOrder,
  judgeTaint,
  verdictFrom,
} from './verdict.ts';

/**
 * The devices that a rule selects, and the pods that it evicts if it is alone and its effect is
 * NoExecute.
 */
export interface RuleReach {
  /** Of the slices that count. */
  readonly published: readonly DeviceId[];
  /** A device for each claim that holds one. */
  readonly allocated: readonly DeviceId[];
  /** The pods to evict, with the devices that are the cause. */
  readonly pods: readonly {
    readonly pod: Pod;
    readonly causes: readonly [DeviceCause, ...(readonly DeviceCause[])];
  }[];
}

/** Options of a verdict. */
export interface VerdictOptions {
  /**
   * False: as kube-controller-manager decides when it does not act on DeviceTaintRules. Left out:
   * it does.
   */
  readonly withRules?: boolean;
}

interface Pool {
  readonly slices: Map<string, ResourceSlice>;
  /**
   * The taints of its drivers by the device's name, of slices that count; null: not gathered yet.
   */
  taints: ReadonlyMap<string, readonly DeviceTaint[]> | null;
  /** The keys of the claims that hold a device of it, by the device's name. */
  readonly claims: Map<string, Set<string>>;
}

/**
 * Slices, rules, claims and the pods that use claims: an index from devices to claims to pods.
 * Nothing here is frozen: a verdict is a function of the present knowledge, regardless of earlier
 * events and their order.
 */
export class Devices {
  readonly #slices = new Map<string, ResourceSlice>();
  readonly #rules = new Map<string, DeviceTaintRule>();
  readonly #claims = new Map<string, ResourceClaim>();
  readonly #pools = new Map<string, Pool>();
  /** Pods with claims only, by uid. */
  readonly #pods = new Map<string, Pod>();
  readonly #podsOfClaim = new Map<string, Set<string>>();
  #hidden: readonly DeviceResource[] = [];

  /** Takes in an event; the uids of the pods whose verdict may be another one now. */
  handle(event: DeviceEvent | ClaimingPodEvent): ReadonlySet<string> {
    switch (event.kind) {
      case 'resourceSliceUpsert':
        return this.#putSlice(event.slice.name, event.slice);
      case 'resourceSliceDelete':
        return this.#putSlice(event.name, null);
      case 'deviceTaintRuleUpsert':
        return this.#putRule(event.rule.name, event.rule);
      case 'deviceTaintRuleDelete':
        return this.#putRule(event.name, null);
      case 'resourceClaimUpsert':
        return this.#putClaim(claimKey(event.claim.namespace, event.claim.name), event.claim);
      case 'resourceClaimDelete':
        return this.#putClaim(claimKey(event.namespace, event.name), null);
      case 'podUpsert':
        return this.#putPod(event.pod.uid, event.pod.claims ? event.pod : null);
      case 'podDelete':
        return this.#putPod(event.uid, null);
      case 'deviceRights':
        this.#hidden = event.hidden;
        return new Set(this.#pods.keys());
    }
  }

  /** The slice of this name; null: unknown. */
  slice(name: string): ResourceSlice | null {
    return this.#slices.get(name) ?? null;
  }

  /** All DeviceTaintRules. */
  rules(): Iterable<DeviceTaintRule> {
    return this.#rules.values();
  }

  /** The rule of this name; null: unknown. */
  rule(name: string): DeviceTaintRule | null {
    return this.#rules.get(name) ?? null;
  }

  /** All ResourceClaims. */
  claims(): Iterable<ResourceClaim> {
    return this.#claims.values();
  }

  /** The claim of this name; null: unknown. */
  claim(namespace: string, name: string): ResourceClaim | null {
    return this.#claims.get(claimKey(namespace, name)) ?? null;
  }

  /** The pods that use claims, in any namespace. */
  pods(): Iterable<Pod> {
    return this.#pods.values();
  }

  /** A pod that uses claims; null: it is not there, or uses none. */
  pod(uid: string): Pod | null {
    return this.#pods.get(uid) ?? null;
  }

  /**
   * True when kube-controller-manager has written a status on any rule, false when there are rules and it has on
   * none: then it does not act on them, or has not yet. Null: there is no rule to tell by.
   */
  get actsOnRules(): boolean | null {
    if (this.#rules.size === 0) return null;
    return [...this.#rules.values()].some(({ progress }) => progress !== null);
  }

  /** Pools that are known of; those of which nothing is left are forgotten. */
  get poolCount(): number {
    return this.#pools.size;
  }

  /** The verdict on a pod because of its devices; the pod need not be one of those reported. */
  verdictOf(pod: Pod, { withRules = true }: VerdictOptions = {}): DeviceVerdict {
    if (!pod.claims) return verdictFrom([], [{ code: 'NoClaims' }], []);
    const found = { causes: [] as DeviceCause[], reasons: [] as DeviceReason[] };
    const taintsOf = (id: DeviceId): readonly DeviceTaint[] => this.#taintsOf(id, withRules);
    for (const claim of distinct(pod.claims)) this.#judgeClaim(pod, claim, taintsOf, found);
    const lacks = this.#lacks(pod, withRules);
    if (lacks.length > 0) found.reasons.push({ code: 'NotKnown', lacks });
    const unread = withRules ? this.#unreadRuleOn(pod) : null;
    if (unread) found.reasons.push({ code: 'NotKnown', lacks: [], rule: unread.name });
    if (pod.nodeName !== '') return verdictFrom(found.causes, found.reasons, lacks);
    const causes = found.causes.toSorted(inCauseOrder);
    return verdictFrom([], [{ code: 'NotBound', causes }, ...found.reasons], lacks);
  }

  /** The taints of a device: those of its driver, if it is published, and those of rules. */
  taintsOf(id: DeviceId): readonly DeviceTaint[] {
    return this.#taintsOf(id, true);
  }

  /**
   * The taints of all devices that the pod may use, whatever their effect and however tolerated. Claims of
   * extended resources count here as others do.
   */
  hitsOn(pod: Pod): readonly (DeviceHit & Pick<PodClaim, 'origin'>)[] {
    const taintsOf = (id: DeviceId): readonly DeviceTaint[] => this.#taintsOf(id, true);
    return distinct(pod.claims ?? []).flatMap(({ name, claim: claimName, origin }) => {
      const key = claimName === null ? null : claimKey(pod.namespace, claimName);
      const claim = key === null ? undefined : this.#claims.get(key);
      if (!claim?.reservedFor.includes(pod.uid)) return [];
      if (origin === 'template' && claim.ownerUid !== pod.uid) return [];
      return hitsOf(claim, name, taintsOf).map((hit) => ({ ...hit, origin }));
    });
  }

  /** The resources that may not be read, so that their effect on pods with claims is unknown. */
  get hidden(): readonly DeviceResource[] {
    return this.#hidden;
  }

  /** The slices that publish the device and count. */
  slicesOf({ driver, pool, device }: DeviceId): readonly ResourceSlice[] {
    return this.#current(this.#pools.get(poolKey(driver, pool))).filter(({ devices }) =>
      devices.some(({ name }) => name === device),
    );
  }

  /** All devices of slices that count. */
  published(): readonly DeviceId[] {
    return this.#publishedOf({ driver: null, pool: null, device: null });
  }

  /** The claims that hold the device. */
  claimsOf({ driver, pool, device }: DeviceId): readonly ResourceClaim[] {
    const keys = this.#pools.get(poolKey(driver, pool))?.claims.get(device) ?? [];
    return Array.from(keys).flatMap((key) => this.#claims.get(key) ?? []);
  }

  /** The pods that use a claim that holds the device, reserved for them or not. */
  podsOf(id: DeviceId): readonly Pod[] {
    const uids = new Set(
      this.claimsOf(id).flatMap((claim) => [
        ...(this.#podsOfClaim.get(claimKey(claim.namespace, claim.name)) ?? []),
      ]),
    );
    return Array.from(uids).flatMap((uid) => this.#pods.get(uid) ?? []);
  }

  /** The reach of a rule, which need not be one of those told of; one that reaches nothing has empty lists. */
  reachOf({
    name,
    selector,
    taint,
  }: Pick<DeviceTaintRule, 'name' | 'selector' | 'taint'>): RuleReach {
    const isSelected = (id: DeviceId): boolean => selectsDevice(selector, id);
    const executed: DeviceTaint = {
      taint: { ...taint, effect: 'NoExecute' },
      source: { kind: 'rule', name },
    };
    const taintsOf = (id: DeviceId): readonly DeviceTaint[] => (isSelected(id) ? [executed] : []);
    const users = this.#podsOfClaims([this.#claimsHolding(isSelected)]);
    const pods = Array.from(this.#pods.values()).flatMap((pod) => {
      const found = { causes: [] as DeviceCause[], reasons: [] };
      if (pod.nodeName === '' || !users.has(pod.uid)) return [];
      for (const claim of distinct(pod.claims ?? [])) this.#judgeClaim(pod, claim, taintsOf, found);
      const [first, ...others] = found.causes.sort(inCauseOrder);
      return first ? [{ pod, causes: [first, ...others] as const }] : [];
    });
    const allocated = [...this.#claims.values()].flatMap((claim) => claim.allocated ?? []);
    return {
      published: this.#publishedOf(selector),
      allocated: allocated.filter(isSelected),
      pods,
    };
  }

  /**
   * The selected devices among those; a caller with many rules must not visit every device for
   * each.
   */
  #publishedOf(selector: DeviceSelector | null): readonly DeviceId[] {
    if (selector === null) return [];
    const { device: wanted } = selector;
    const isSelected = ({ driver, pool }: ResourceSlice): boolean =>
      selectsDevice({ ...selector, device: null }, { driver, pool, device: '' });
    return [...this.#pools.values()].flatMap((pool) =>
      this.#current(pool)
        .filter(isSelected)
        .flatMap(({ driver, pool: name, devices }) =>
          devices.flatMap(({ name: device }) =>
            wanted === null || wanted === device ? [{ driver, pool: name, device }] : [],
          ),
        ),
    );
  }

  /** The resources needed to be sure about the pod; claims of extended resources never arrive. */
  #lacks({ claims }: Pod, withRules: boolean): readonly DeviceResource[] {
    if (claims?.every(({ origin }) => origin === 'extended')) return [];
    return this.#hidden.filter((hidden) => withRules || hidden !== 'devicetaintrules');
  }

  /** A rule that evicts, and for which it is unknown whether it selects a device of the pod. */
  #unreadRuleOn(pod: Pod): DeviceTaintRule | null {
    const holds = pod.claims?.some(({ claim, origin }) => {
      const key = claim === null || origin === 'extended' ? null : claimKey(pod.namespace, claim);
      return key !== null && this.#claims.get(key)?.reservedFor.includes(pod.uid);
    });
    if (!holds) return null;
    for (const rule of this.#rules.values()) {
      if (rule.unreadSelection && rule.taint.effect === 'NoExecute') return rule;
    }
    return null;
  }

  #judgeClaim(
    pod: Pod,
    podClaim: PodClaim,
    taintsOf: (id: DeviceId) => readonly DeviceTaint[],
    found: { readonly causes: DeviceCause[]; readonly reasons: DeviceReason[] },
  ): void {
    const { name, claim: claimName, origin } = podClaim;
    if (claimName === null || this.#hidden.includes('resourceclaims')) {
      if (claimName === null) {
        found.reasons.push({ code: 'ClaimMissing', podClaim: name, claim: null });
      }
      return;
    }
    const claim = this.#claims.get(claimKey(pod.namespace, claimName));
    if (!claim?.allocated) {
      const missing = { code: 'ClaimMissing', podClaim: name, claim: claimName } as const;
      found.reasons.push(claim ? { code: 'NotAllocated', claim: claimName } : missing);
      return;
    }
    const hits = hitsOf(claim, name, taintsOf);
    const causes = hits.flatMap((hit) => causeOf(hit) ?? []).sort(inCauseOrder);
    if (origin === 'extended') {
      found.reasons.push({ code: 'ExtendedResource', claim: claimName, causes });
    } else if (origin === 'template' && claim.ownerUid !== pod.uid) {
      found.reasons.push({ code: 'NotItsOwn', claim: claimName, causes });
    } else if (!claim.reservedFor.includes(pod.uid)) {
      found.reasons.push({ code: 'NotReserved', claim: claimName, causes });
    } else {
      found.causes.push(...causes);
      found.reasons.push(...hits.flatMap((hit) => reasonOf(hit) ?? []));
    }
  }

  #taintsOf(id: DeviceId, withRules: boolean): readonly DeviceTaint[] {
    const taints = [...this.#driverTaintsOf(id)];
    if (!withRules) return taints;
    for (const { name, selector, taint } of this.#rules.values()) {
      if (selectsDevice(selector, id)) taints.push({ taint, source: { kind: 'rule', name } });
    }
    return taints;
  }

  #driverTaintsOf({ driver, pool: name, device }: DeviceId): readonly DeviceTaint[] {
    const pool = this.#pools.get(poolKey(driver, name));
    if (!pool) return [];
    pool.taints ??= driverTaints(this.#current(pool));
    return pool.taints.get(device) ?? [];
  }

  /** The slices of the highest generation of their pool. */
  #current(pool: Pool | undefined): readonly ResourceSlice[] {
    if (!pool) return [];
    const slices = [...pool.slices.values()];
    const highest = slices.reduce((most, one) => Math.max(most, one.generation), -Infinity);
    return slices.filter(({ generation }) => generation === highest);
  }

  #putSlice(name: string, slice: ResourceSlice | null): ReadonlySet<string> {
    const previous = this.#slices.get(name) ?? null;
    const pools = new Set([previous, slice].flatMap((one) => (one ? [this.#poolOf(one)] : [])));
    for (const pool of pools) pool.taints = null;
    if (previous) this.#poolOf(previous).slices.delete(name);
    if (slice) this.#poolOf(slice).slices.set(name, slice);
    if (slice) this.#slices.set(name, slice);
    else this.#slices.delete(name);
    const uids = this.#podsOfClaims([...pools].flatMap((pool) => [...pool.claims.values()]));
    if (previous) this.#prune(previous);
    return uids;
  }

  #putRule(name: string, rule: DeviceTaintRule | null): ReadonlySet<string> {
    const previous = this.#rules.get(name) ?? null;
    if (rule) this.#rules.set(name, rule);
    else this.#rules.delete(name);
    if (previous && rule && isSameRule(previous, rule)) return new Set();
    const isTouched = (id: DeviceId): boolean =>
      [previous, rule].some(
        (one) => one && (one.unreadSelection || selectsDevice(one.selector, id)),
      );
    return this.#podsOfClaims([this.#claimsHolding(isTouched)]);
  }

  #putClaim(key: string, claim: ResourceClaim | null): ReadonlySet<string> {
    for (const id of this.#claims.get(key)?.allocated ?? []) {
      const holders = this.#poolOf(id).claims.get(id.device);
      holders?.delete(key);
      if (holders?.size === 0) this.#poolOf(id).claims.delete(id.device);
      this.#prune(id);
    }
    if (claim) this.#claims.set(key, claim);
    else this.#claims.delete(key);
    for (const id of claim?.allocated ?? []) addTo(this.#poolOf(id).claims, id.device, key);
    return this.#podsOfClaims([new Set([key])]);
  }

  #putPod(uid: string, pod: Pod | null): ReadonlySet<string> {
    const previous = this.#pods.get(uid);
    if (!previous && !pod) return new Set();
    for (const key of keysOf(previous)) {
      const users = this.#podsOfClaim.get(key);
      users?.delete(uid);
      if (users?.size === 0) this.#podsOfClaim.delete(key);
    }
    if (pod) this.#pods.set(uid, pod);
    else this.#pods.delete(uid);
    for (const key of keysOf(pod)) addTo(this.#podsOfClaim, key, uid);
    return new Set([uid]);
  }

  /** The keys of the claims that hold such a device. */
  #claimsHolding(isSuch: (id: DeviceId) => boolean): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const [key, { allocated }] of this.#claims) if (allocated?.some(isSuch)) keys.add(key);
    return keys;
  }

  #podsOfClaims(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
    const uids = new Set<string>();
    for (const keys of sets) {
      for (const key of keys) {
        for (const uid of this.#podsOfClaim.get(key) ?? []) uids.add(uid);
      }
    }
    return uids;
  }

  #poolOf({ driver, pool }: { readonly driver: string; readonly pool: string }): Pool {
    const key = poolKey(driver, pool);
    const known = this.#pools.get(key);
    if (known) return known;
    const made = { slices: new Map(), taints: null, claims: new Map() };
    this.#pools.set(key, made);
    return made;
  }

  #prune({ driver, pool }: { readonly driver: string; readonly pool: string }): void {
    const key = poolKey(driver, pool);
    const known = this.#pools.get(key);
    if (known?.slices.size === 0 && known.claims.size === 0) this.#pools.delete(key);
  }
}

function driverTaints(
  slices: readonly ResourceSlice[],
): ReadonlyMap<string, readonly DeviceTaint[]> {
  const found = new Map<string, DeviceTaint[]>();
  for (const { name, devices } of slices) {
    for (const { name: device, taints } of devices) {
      if (taints.length === 0) continue;
      const list = found.get(device) ?? [];
      for (const [index, taint] of taints.entries()) {
        list.push({ taint, source: { kind: 'slice', name, index } });
      }
      found.set(device, list);
    }
  }
  return found;
}

/**
 * Each claim once: a pod may name one under any number of names, and the pod's creator chooses how
 * often.
 */
function distinct(claims: readonly PodClaim[]): readonly PodClaim[] {
  if (claims.length < 2) return claims;
  const known = new Map<string, PodClaim>();
  for (const one of claims) {
    const key = one.claim === null ? `?${one.name}` : `${one.origin} ${one.claim}`;
    if (!known.has(key)) known.set(key, one);
  }
  return [...known.values()];
}

function hitsOf(
  claim: ResourceClaim,
  podClaim: string,
  taintsOf: (id: DeviceId) => readonly DeviceTaint[],
): readonly DeviceHit[] {
  return (claim.allocated ?? []).flatMap((allocated) => {
    const { driver, pool, device, request } = allocated;
    return taintsOf(allocated).map((tainted) => ({
      ...tainted,
      ...judgeTaint(allocated, tainted.taint),
      ...{ device: { driver, pool, device }, claim: claim.name, podClaim, request },
    }));
  });
}

/** The reason why the pod is not removed for it; null: it is. */
function reasonOf(hit: DeviceHit): DeviceReason | null {
  if (hit.taint.effect !== 'NoExecute') return { code: 'OtherEffect', hit };
  return hit.wait === null ? { code: 'ToleratedForever', hit } : null;
}

/** Its status and metadata make no difference. */
function isSameRule(one: DeviceTaintRule, other: DeviceTaintRule): boolean {
  return (
    one.uid === other.uid &&
    JSON.stringify([one.selector, one.unreadSelection, one.taint]) ===
      JSON.stringify([other.selector, other.unreadSelection, other.taint])
  );
}

function keysOf(pod: Pod | null | undefined): readonly string[] {
  if (!pod) return [];
  return (pod.claims ?? []).flatMap(({ claim }) =>
    claim === null ? [] : [claimKey(pod.namespace, claim)],
  );
}

function addTo<K>(sets: Map<K, Set<string>>, key: K, value: string): void {
  const known = sets.get(key);
  if (known) known.add(value);
  else sets.set(key, new Set([value]));
}

function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function poolKey(driver: string, pool: string): string {
  return formatDevice({ driver, pool, device: '' });
}
