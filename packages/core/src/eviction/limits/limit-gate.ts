import { earliest, type Instant, type Millis } from '../../kernel/time.ts';
import { TokenBucket } from '../../kernel/token-bucket.ts';
import type { Node } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import { selects } from '../../model/selector.ts';
import type { Taint } from '../../model/taint.ts';
import { matchesTaint, podFit } from '../../policy/choice.ts';
import {
  type Candidate,
  defaultWindowMs,
  isWindowed,
  type LimitCount,
  type LimitHit,
  type LimitRule,
  type LimitStatus,
  limitId,
  scopeName,
  selectorText,
} from '../../policy/limit.ts';
import {
  coarsened,
  coarsenedSizes,
  type LimitRecord,
  nameInKey,
  type RecordedLimit,
  recordKey,
  sizeSlackMs,
} from '../../policy/limit-record.ts';
import type { EvictionPolicy } from '../../policy/values.ts';
import type { StoreView } from '../../store.ts';

/** The way a pod counts while it is not being evicted. */
export type Availability = 'available' | 'unavailable';

/** Since when it is shut, and what it looked like then. */
interface Trip {
  readonly since: Instant;
  readonly hit: LimitHit;
}

/** Why a pod may not go. `until`: when there may be room; null: when something changes. */
interface GateRefusal {
  readonly hit: LimitHit;
  readonly until: Instant | null;
  /** Only pods that wait for the record to be written stand in its way. */
  readonly mayOpen: boolean;
}

/** The number that is written down by name for a limit. */
const begunMax = 10;

/**
 * The state of a limit for one scope: the pods evicted within the window, the unavailable pods, and how many
 * pods there were when the window began. A pod is in one place at a time: it is wanted (it may go
 * once that is written down, and has its place in each of its limits until then), open (its
 * eviction was begun and may still come about), or it has left; before and afterwards it counts as
 * available or unavailable.
 */
export class LimitGate {
  readonly limit: BoundLimit;
  readonly rule: LimitRule;
  readonly name: string;
  readonly id: string;
  readonly windowMs: Millis;
  readonly isWindowed: boolean;
  tripped: Trip | null = null;
  readonly #nodes: string | undefined;
  readonly #bucket: TokenBucket | null;
  readonly #paid = new Set<string>();
  readonly #wanted = new Set<string>();
  readonly #open = new Set<string>();
  /** Pods that have left, the earliest first. */
  readonly #left = new Map<string, Instant>();
  /** The pods that left under earlier leaders. */
  #before: { readonly at: Instant; readonly count: number }[] = [];
  #here = 0;
  #down = 0;
  /** The number of those open or left that are still there. */
  #lingering = 0;
  /** The number of pods when an eviction began, the earliest first. */
  #sizes: { readonly at: Instant; readonly of: number }[] = [];

  constructor(limit: BoundLimit, name: string) {
    const { rule } = limit;
    const { podsPerSecond, nodes } = rule;
    this.limit = limit;
    this.rule = rule;
    this.name = name;
    this.isWindowed = isWindowed(rule);
    this.windowMs = rule.windowMs ?? defaultWindowMs;
    this.#nodes = nodes && selectorText(nodes);
    this.id = limitId(this.#scope);
    const burst = rule.burst ?? Math.max(1, Math.floor(podsPerSecond ?? 1));
    this.#bucket = podsPerSecond === undefined ? null : new TokenBucket(podsPerSecond, burst);
  }

  /** True when nothing would be lost with it at `now`; null: a rate may be in use. */
  isIdle(now: Instant | null): boolean {
    const counted = this.#here + this.evicted + this.#wanted.size + this.#paid.size;
    if (counted > 0 || this.tripped) return false;
    return !this.#bucket || (now !== null && this.#bucket.oneAt(now) === null);
  }

  /** Pods evicted within the window, and those that may be any moment. */
  get evicted(): number {
    return this.#open.size + this.#left.size + this.#before.reduce((sum, b) => sum + b.count, 0);
  }

  /** Takes a pod into the count, or out of it, as long as it is not being evicted. */
  adjust(uid: string, availability: Availability, change: 1 | -1): void {
    if (this.#open.has(uid) || this.#left.has(uid)) this.#lingering += change;
    else this.#count(availability, change);
  }

  /** Why the pod may not be evicted now; null: it may. */
  refusal(now: Instant, uid: string, availability: Availability | null): GateRefusal | null {
    const isBegun = this.isWindowed ? this.#open.has(uid) : this.#paid.has(uid);
    if (this.tripped && !isBegun) {
      return { hit: this.tripped.hit, until: null, mayOpen: false };
    }
    if (this.isWindowed && !isBegun) {
      const full = this.#full(now, uid, availability);
      if (full) return full;
    }
    return this.#paid.has(uid) ? null : this.#outpaced(now, uid);
  }

  /** A rate keeps a token for each that is wanted. */
  #outpaced(now: Instant, uid: string): GateRefusal | null {
    if (!this.#bucket) return null;
    const readyAt = this.#bucket.readyAt(now);
    if (readyAt > now) {
      return { hit: this.hit(now, 'podsPerSecond'), until: readyAt, mayOpen: false };
    }
    if (this.#wanted.has(uid) || this.#bucket.has(now, this.#wanted.size + 1)) return null;
    return { hit: this.hit(now, 'record'), until: null, mayOpen: true };
  }

  /** When its rate lets one pod go, or could have; null: it has none, or none is used up. */
  oneAt(now: Instant): Instant | null {
    return this.#bucket?.oneAt(now) ?? null;
  }

  /**
   * A replica leads since `at`, without knowledge of earlier evictions: the rate lets one pod leave
   * then, and no more at once. Not where it would trip for that.
   */
  begin(at: Instant): void {
    const bucket = this.rule.onLimit === 'queue' ? this.#bucket : null;
    bucket?.restore(at, Math.max(at, bucket.oneAt(at) ?? at));
  }

  want(uid: string): void {
    if (!this.#open.has(uid) && !this.#paid.has(uid)) this.#wanted.add(uid);
  }

  /** Its place is free again, unless its eviction has begun; whether it had one. */
  unwant(uid: string): boolean {
    return this.#wanted.delete(uid);
  }

  /** True when its eviction has begun, and may still come about. */
  hasBegun(uid: string): boolean {
    return this.#open.has(uid) || this.#paid.has(uid);
  }

  /** The eviction of the pod begins. */
  enter(now: Instant, uid: string, availability: Availability | null): void {
    this.#wanted.delete(uid);
    if (!this.#paid.has(uid)) this.#bucket?.take(now);
    if (this.#bucket) this.#paid.add(uid);
    if (!this.isWindowed) return;
    this.#noteSize(now, this.#here + this.#lingering);
    const isNew = !this.#open.has(uid) && !this.#left.has(uid);
    if (isNew && availability) this.#setAside(availability);
    this.#left.delete(uid);
    this.#open.add(uid);
  }

  /** The pod has left, or may have. */
  leave(now: Instant, uid: string): void {
    this.#paid.delete(uid);
    this.#wanted.delete(uid);
    if (this.#open.delete(uid)) this.#left.set(uid, now);
  }

  /** The pod was not evicted. `isOver`: and it will not be tried again. */
  release(uid: string, availability: Availability | null, isOver: boolean): void {
    if (isOver) this.#paid.delete(uid);
    this.#wanted.delete(uid);
    if (this.#open.delete(uid) && availability) this.#putBack(availability);
  }

  /** Forgets evictions older than the window. */
  expire(now: Instant, availabilityOf: (uid: string) => Availability | null): void {
    const from = now - this.windowMs;
    for (const [uid, at] of this.#left) {
      if (at > from) break;
      this.#left.delete(uid);
      const availability = availabilityOf(uid);
      if (availability) this.#putBack(availability);
    }
    this.#before = this.#before.filter(({ at }) => at > from);
    const first = this.#sizes.findIndex(({ at }) => at > from - sizeSlackMs);
    if (first > 0) this.#sizes.splice(0, first);
    if (this.evicted === 0) this.#sizes = [];
  }

  /** A copy as of `now`, without the knowledge of its rate, for a caller that only reads. */
  asOf(now: Instant, availabilityOf: (uid: string) => Availability | null): LimitGate {
    const asked = new LimitGate(this.limit, this.name);
    for (const uid of this.#open) asked.#open.add(uid);
    for (const [uid, at] of this.#left) asked.#left.set(uid, at);
    asked.#before = this.#before;
    asked.#sizes = [...this.#sizes];
    asked.#here = this.#here;
    asked.#down = this.#down;
    asked.#lingering = this.#lingering;
    asked.expire(now, availabilityOf);
    return asked;
  }

  count(now: Instant): LimitCount {
    const of = this.#size(now);
    const { evicted, windowMs } = this;
    return { evicted, unavailable: this.#down, most: this.#most(of).most, of, windowMs };
  }

  trip(now: Instant, hit: LimitHit): void {
    this.tripped = { since: now, hit: { ...hit, tripped: true } };
  }

  /** The counts by which another replica that takes over knows the gate. `at`: when open ones may leave. */
  written(
    now: Instant,
    at: Instant,
  ): {
    readonly evicted: readonly (readonly [at: Instant, count: number])[];
    readonly of: number | null;
    readonly begun?: readonly string[];
    readonly sizes: readonly (readonly [at: Instant, of: number])[];
  } {
    const left = Array.from(this.#left.values(), (one) => [one, 1] as const);
    const begun = [...this.#open, ...this.#wanted];
    const open = begun.length;
    const before = this.#before.map(({ at: one, count }) => [one, count] as const);
    const of = this.isWindowed ? this.#size(now) : null;
    const evicted = [...before, ...left, ...(open > 0 ? [[at, open] as const] : [])];
    const sizes = this.#knownSizes(now).map((one) => [one.at, one.of] as const);
    return { evicted, of, sizes, ...(open > 0 && { begun: begun.slice(0, begunMax) }) };
  }

  /** Forgets what was evicted and that it tripped; what is here counts. */
  clear(availabilityOf: (uid: string) => Availability | null): void {
    this.tripped = null;
    this.#before = [];
    this.#sizes = [];
    for (const uid of [...this.#open, ...this.#left.keys()]) {
      const availability = availabilityOf(uid);
      if (availability) this.#putBack(availability);
    }
    for (const known of [this.#paid, this.#wanted, this.#open, this.#left]) known.clear();
  }

  /** Continues from the record. */
  restore(now: Instant, { evicted, of, sizes, tripped, oneAt }: RecordedLimit): void {
    if (oneAt !== undefined) this.#bucket?.restore(now, oneAt);
    // A clock that was wrong when it was written must not shut it for ever.
    const latest = now + this.windowMs;
    this.#before = evicted.map(([at, count]) => ({ at: Math.min(at, latest), count }));
    if (sizes) for (const [at, size] of sizes) this.#noteSize(Math.min(now, at), size);
    else if (of !== null) this.#noteSizes(now, of);
    if (!tripped) return;
    const { since, limit, count } = tripped;
    const hit = { ...this.#scope, limit, tripped: true, ...(count && { count }) };
    this.tripped = { since, hit };
  }

  #full(now: Instant, uid: string, availability: Availability | null): GateRefusal | null {
    const { most, limit } = this.#most(this.#size(now));
    const evicted = this.evicted - (this.#left.has(uid) ? 1 : 0);
    // A pod that is unavailable already only competes with those evicted.
    const down = availability === 'unavailable' ? 0 : this.#down;
    const wanted = this.#wanted.size - (this.#wanted.has(uid) ? 1 : 0);
    if (evicted + down + wanted < most) return null;
    const oldest = this.#oldest();
    const until = oldest === null ? null : oldest + this.windowMs;
    const mayOpen = evicted + down < most;
    return {
      hit: this.hit(now, mayOpen ? 'record' : limit),
      until: mayOpen ? null : until,
      mayOpen,
    };
  }

  #oldest(): Instant | null {
    const [left] = this.#left.values();
    return earliest([...this.#before.map(({ at }) => at), left ?? null]);
  }

  #most(of: number): { readonly most: number; readonly limit: 'percent' | 'pods' } {
    const { percent, pods = Number.POSITIVE_INFINITY } = this.rule;
    // The tiny addition makes up for what binary fractions lose, so 7 % of 100 are 7.
    const share =
      percent === undefined
        ? Number.POSITIVE_INFINITY
        : Math.max(1, Math.floor((of * percent) / 100 + 1e-9));
    return share <= pods ? { most: share, limit: 'percent' } : { most: pods, limit: 'pods' };
  }

  /** This limit, as the refusing one. */
  hit(now: Instant, limit: LimitHit['limit']): LimitHit {
    const count = this.isWindowed ? { count: this.count(now) } : {};
    return { ...this.#scope, limit, tripped: false, ...count };
  }

  get #scope(): Pick<LimitHit, 'per' | 'name' | 'nodes' | 'policy'> {
    const { policy } = this.limit;
    return {
      per: this.rule.per,
      name: this.name,
      ...(this.#nodes !== undefined && { nodes: this.#nodes }),
      ...(policy && { policy: policy.name }),
    };
  }

  /**
   * The pods there were when the window began; at most those that are here now and those that were
   * evicted since. So pods that come in the place of those that went make no room for more. Under a
   * taint that spreads the pods become more.
   */
  #size(now: Instant): number {
    const present = this.#here + this.evicted;
    if (this.rule.per === 'taint') return present;
    const from = now - this.windowMs;
    const next = this.#sizes.findIndex(({ at }) => at > from);
    const known = (next < 0 ? this.#sizes : this.#sizes.slice(0, next + 1)).map(({ of }) => of);
    return Math.min(present, ...known);
  }

  /** The number when the window began, and later at least as many less as had been evicted. */
  #noteSizes(now: Instant, of: number): void {
    let left = of;
    for (const { at, count } of this.#before) {
      this.#noteSize(Math.min(now, at), left);
      left -= count;
    }
    if (this.#before.length === 0) this.#noteSize(now, of);
  }

  /** The sizes that count for `percent`; evictions that are wanted begin with the present size. */
  #knownSizes(now: Instant): readonly { readonly at: Instant; readonly of: number }[] {
    if (this.rule.percent === undefined || this.rule.per === 'taint') return [];
    if (this.#wanted.size === 0) return this.#sizes;
    return [...this.#sizes, { at: now, of: this.#here + this.#lingering }];
  }

  #noteSize(at: Instant, of: number): void {
    this.#sizes.push({ at, of });
  }

  /** The pod counts as evicted from now on. */
  #setAside(availability: Availability): void {
    this.#count(availability, -1);
    this.#lingering += 1;
  }

  #putBack(availability: Availability): void {
    this.#lingering -= 1;
    this.#count(availability, 1);
  }

  #count(availability: Availability, change: 1 | -1): void {
    this.#here += change;
    if (availability === 'unavailable') this.#down += change;
  }
}

/** The gates there are: each is made when it is first needed. */
export class LimitGates {
  readonly #gates = new Map<string, LimitGate>();
  /** Since when we lead, as far as anybody told; null: all along. */
  #leadsSince: Instant | null = null;

  /** We lead. The recent evictions of another leader are unknown: rates begin again. */
  lead(now: Instant): void {
    this.#leadsSince = now;
    for (const gate of this.#gates.values()) gate.begin(now);
  }

  of(limit: BoundLimit, name: string): LimitGate {
    const key = gateKey(limit, name);
    const known = this.#gates.get(key);
    if (known) return known;
    const gate = new LimitGate(limit, name);
    if (this.#leadsSince !== null) gate.begin(this.#leadsSince);
    this.#gates.set(key, gate);
    return gate;
  }

  all(): readonly LimitGate[] {
    return [...this.#gates.values()];
  }

  /** True when any is shut until evictions are resumed. */
  get isTripped(): boolean {
    for (const { tripped } of this.#gates.values()) if (tripped) return true;
    return false;
  }

  /** Its limit is gone. */
  drop({ limit, name }: LimitGate): void {
    this.#gates.delete(gateKey(limit, name));
  }

  /** Forgets the gate if nothing is lost with it; without `now` one with a rate stays. */
  tidy(gate: LimitGate, now: Instant | null): void {
    const key = gateKey(gate.limit, gate.name);
    if (gate.isIdle(now) && this.#gates.get(key) === gate) this.#gates.delete(key);
  }
}

function gateKey({ key }: BoundLimit, name: string): string {
  return `${key}/${name}`;
}

/**
 * A gate that has tripped, in whose window pods were evicted, or whose rate is in use; others: nothing.
 * `asked` is the gate with the counts of `now`.
 */
export function statusOf(now: Instant, gate: LimitGate, asked: LimitGate): readonly LimitStatus[] {
  if (gate.tripped) return statusOfTripped(gate);
  const oneAt = gate.oneAt(now);
  const isCounting = gate.isWindowed && asked.evicted > 0;
  if (!isCounting && oneAt === null) return [];
  const { percent, pods } = gate.rule;
  const limit = percent !== undefined ? 'percent' : pods !== undefined ? 'pods' : 'podsPerSecond';
  const hit = { ...asked.hit(now, limit), id: gate.id, since: null };
  return [{ ...hit, ...(oneAt !== null && { oneAt }) }];
}

/** A gate that is shut; one that is open by now: nothing. */
export function statusOfTripped({ id, tripped }: LimitGate): readonly LimitStatus[] {
  return tripped ? [{ ...tripped.hit, id, since: tripped.since }] : [];
}

/** A limit, with the policy that sets it: it counts only what that matches. */
export interface BoundLimit {
  readonly rule: LimitRule;
  /** Null: the configuration of the process. */
  readonly policy: Pick<EvictionPolicy, 'name' | 'match'> | null;
  /** The same for as long as it says the same, whatever else changes. */
  readonly key: string;
}

/** Every limit; those of a policy hold whether it counts or not. */
export function boundLimits(
  rules: readonly LimitRule[],
  policies: readonly EvictionPolicy[],
): readonly BoundLimit[] {
  const bound = [
    ...rules.map((rule) => ({ rule, policy: null })),
    ...policies.flatMap((policy) => policy.limits.map((rule) => ({ rule, policy }))),
  ];
  const seen = new Map<string, number>();
  return bound.map(({ rule, policy }) => {
    const said = JSON.stringify([policy && [policy.name, policy.match], rule]);
    const times = seen.get(said) ?? 0;
    seen.set(said, times + 1);
    return { rule, policy, key: `${said} ${times}` };
  });
}

/** The names of the scopes of a limit that a pod counts in. */
export function namesOf(
  { rule, policy }: BoundLimit,
  pod: Pod,
  node: Node | null,
  store: StoreView,
): readonly string[] {
  if (!appliesTo(rule, node) || !isForPod(policy, pod, node, store)) return [];
  const taints = node?.taints.filter(({ effect }) => effect === 'NoExecute') ?? [];
  const matched = taints.filter((taint) => !policy || matchesTaint(policy.match, taint));
  const name = scopeName(rule.per, pod, node);
  const keys = rule.per === 'taint' ? matched.map(({ key }) => key) : name === null ? [] : [name];
  return [...new Set(keys)].filter((one) => rule.name === undefined || rule.name === one);
}

/** The scope of a limit that the eviction of a pod counts in; null: in none. */
export function nameFor(
  { rule, policy }: BoundLimit,
  { pod, taint, late }: Candidate,
  node: Node | null,
  store: StoreView,
): string | null {
  if (late && (isWindowed(rule) || rule.onLimit === 'trip')) return null;
  const name = rule.per === 'taint' ? (taint?.key ?? null) : scopeName(rule.per, pod, node);
  if (name === null || (rule.name !== undefined && rule.name !== name)) return null;
  if (!appliesTo(rule, node) || !isForTaint(policy, taint)) return null;
  return isForPod(policy, pod, node, store) ? name : null;
}

function isForTaint(policy: BoundLimit['policy'], taint: Taint | null): boolean {
  return policy === null || taint === null || matchesTaint(policy.match, taint);
}

/** A limit protects: where it is unknown whether it applies to the pod, it does. */
function isForPod(
  policy: BoundLimit['policy'],
  pod: Pod,
  node: Node | null,
  store: StoreView,
): boolean {
  if (!policy) return true;
  const namespaceLabels = store.namespaceLabels(pod.namespace);
  const fit = podFit(policy.match, { pod, node, namespaceLabels });
  return fit === 'matches' || fit === 'unknownNamespace';
}

/** True when a rule is for the pods of a node. */
function appliesTo({ nodes }: LimitRule, node: Node | null): boolean {
  return nodes === undefined || selects(nodes, node?.labels ?? {});
}

/** The longest time until an eviction is answered: open ones are written as of then. */
const openAheadMs: Millis = 60_000;

/** The record of these gates, should another replica take over. */
export function recordOf(
  now: Instant,
  gates: readonly LimitGate[],
  availabilityIn: (gate: LimitGate, uid: string) => Availability | null,
): LimitRecord {
  const entries = new Map<string, RecordedLimit>();
  for (const gate of gates) {
    gate.expire(now, (uid) => availabilityIn(gate, uid));
    const key = recordKey(gate.limit, gate.name);
    const entry = entryOf(now, gate, entries.get(key));
    if (entry) entries.set(key, entry);
  }
  return Object.fromEntries(entries);
}

/**
 * Limits that differ only in how much they allow have one place in the record: `before` is what it says
 * there. Null: of this gate there is nothing to say.
 */
function entryOf(
  now: Instant,
  gate: LimitGate,
  before: RecordedLimit | undefined,
): RecordedLimit | null {
  const { evicted, sizes, ...counted } = gate.isWindowed
    ? gate.written(now, now + openAheadMs)
    : { evicted: [], of: null, sizes: [] };
  if (evicted.length === 0 && !gate.tripped) return null;
  const tripped = gate.tripped && {
    since: gate.tripped.since,
    limit: gate.tripped.hit.limit,
    count: gate.tripped.hit.count ?? null,
  };
  const own = {
    ...counted,
    ...(sizes.length > 0 && { sizes: coarsenedSizes(sizes, gate.windowMs) }),
    evicted: coarsened(evicted, gate.windowMs),
  };
  // A rate that came later has counted fewer.
  const isMore = countOf(own.evicted) >= countOf(before?.evicted ?? []);
  return {
    ...(isMore ? { ...before, ...own } : { ...own, ...before }),
    of: (isMore ? own.of : before?.of) ?? before?.of ?? own.of,
    tripped: tripped ?? before?.tripped ?? null,
  };
}

/** Makes the gates of these limits continue from the record. */
export function restoreFrom(
  now: Instant,
  record: LimitRecord,
  limits: readonly BoundLimit[],
  gates: LimitGates,
): void {
  for (const [key, recorded] of Object.entries(record)) {
    const found = limits.flatMap((limit) => {
      const name = nameInKey(limit, key);
      return name === null ? [] : [{ limit, name }];
    });
    const trips = found.some(({ limit }) => limit.rule.onLimit === 'trip');
    for (const { limit, name } of found) {
      const isOther = trips && limit.rule.onLimit !== 'trip';
      gates.of(limit, name).restore(now, isOther ? { ...recorded, tripped: null } : recorded);
    }
  }
}

function countOf(evicted: RecordedLimit['evicted']): number {
  return evicted.reduce((sum, [, count]) => sum + count, 0);
}
