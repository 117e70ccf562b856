// Lets evictions begin at the rate and in the number that limits allow.
import type { Instant, Millis } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import type { Labels } from '../../model/selector.ts';
import {
  type Candidate,
  isWindowed,
  type LimitHit,
  type LimitRule,
  type LimitStatus,
} from '../../policy/limit.ts';
import {
  coarsened,
  coarsenedSizes,
  type LimitRecord,
  nameInKey,
  needsRecord,
  type RecordedLimit,
  recordKey,
} from '../../policy/limit-record.ts';
import { holdsAll } from '../../policy/pause-scope.ts';
import type { EvictionPolicy } from '../../policy/values.ts';
import type { StoreView } from '../../store.ts';
import type { EvictionConfig } from '../config.ts';
import {
  type Availability,
  type BoundLimit,
  boundLimits,
  type LimitGate,
  LimitGates,
  nameFor,
  namesOf,
  statusOf,
  statusOfTripped,
} from './limit-gate.ts';

export type LimitAnswer = (
  | { readonly kind: 'go' }
  /** `until`: when there may be room; null: when something changes, or evictions are resumed. */
  | { readonly kind: 'wait'; readonly until: Instant | null; readonly hit: LimitHit }
) & {
  /** Others that wait may find room now. */
  readonly madeRoom: boolean;
};

type LimiterConfig = Pick<EvictionConfig, 'limits' | 'keepLimits' | 'evictionsInFlightMax'>;

/** A written record covers the evictions that begin within such a time. */
const coverageMs: Millis = 30_000;
const sweepMs: Millis = 60_000;

/**
 * Lets evictions begin at the rate and in the number that the limits allow. Every rule that applies
 * has to agree; only then is anything counted.
 *
 * Where counts are to survive us (`recorded`), nothing begins before what others have written is read,
 * and an eviction with a window begins only once it is written down as begun. So the next leader
 * counts no fewer than there were.
 */
export class EvictionLimiter {
  readonly #configured: readonly LimitRule[];
  readonly #store: StoreView;
  readonly #keeps: boolean;
  #limits: readonly BoundLimit[] = [];
  readonly #gates = new LimitGates();
  readonly #podCounts: PodCounts;
  /** The gates of the pods whose eviction is wanted or has begun. */
  readonly #admitted = new Map<string, readonly LimitGate[]>();
  /** Those of them whose eviction is wanted: so many at most as may be under way. */
  readonly #wanting = new Set<string>();
  readonly #wantingMax: number;
  /** Some pod waits for one of these to go. */
  #isCrowded = false;
  #isRead = false;
  #isDirty = false;
  #isUrgent = false;
  #covered: ReadonlySet<string> = new Set();
  #coveredUntil: Instant = Number.NEGATIVE_INFINITY;
  #tripped: LimitGate[] = [];
  #sweptAt: Instant = Number.NEGATIVE_INFINITY;
  /** The record as it was read, until we have written: for limits of policies that come later. */
  #found: LimitRecord = {};

  constructor({ limits, keepLimits, evictionsInFlightMax }: LimiterConfig, store: StoreView) {
    this.#configured = limits;
    this.#store = store;
    this.#keeps = keepLimits;
    this.#wantingMax = evictionsInFlightMax;
    this.#podCounts = new PodCounts(store, this.#gates);
    this.setPolicies(Number.NEGATIVE_INFINITY, []);
  }

  /**
   * Takes in the policies as they are. A limit that says what it said goes on as it was; one that says
   * something else goes on from what was counted under its name. Every pod has to be seen anew then.
   */
  setPolicies(now: Instant, policies: readonly EvictionPolicy[]): void {
    const limits = boundLimits(this.#configured, policies);
    const keys = new Set(limits.map(({ key }) => key));
    const known = new Set(this.#limits.map(({ key }) => key));
    const dropped = this.#gates.all().filter(({ limit }) => !keys.has(limit.key));
    const carried = recordOf(now, dropped, this.#podCounts);
    for (const gate of dropped) this.#gates.drop(gate);
    for (const [uid, gates] of this.#admitted) {
      this.#admitted.set(
        uid,
        gates.filter((gate) => !dropped.includes(gate)),
      );
    }
    this.#limits = limits;
    this.#podCounts.setLimits(limits);
    const added = limits.filter(({ key }) => !known.has(key));
    restoreFrom(now, { ...this.#found, ...carried }, added, this.#gates);
    this.#isDirty ||= dropped.length > 0;
  }

  /** True when there is any limit: who is due has to wait for its turn then. */
  get isLimited(): boolean {
    return this.#limits.length > 0;
  }

  /** True when pods have to be followed: some limit counts them. */
  get countsPods(): boolean {
    return this.#podCounts.isNeeded;
  }

  /** True when what is written down is to be read and written at all. */
  get isRecorded(): boolean {
    return this.#keeps && needsRecord(this.#limits.map(({ rule }) => rule));
  }

  /**
   * True when what is written down can only be of limits that are gone. While everything is held that is
   * not known: a policy that cannot be followed may have limits.
   */
  get isForgotten(): boolean {
    if (!this.#keeps || this.isRecorded) return false;
    for (const { pause, isOver } of this.#store.pauses()) {
      if (!isOver && holdsAll(pause)) return false;
    }
    return true;
  }

  /** True when what others have written was read since we lead. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Something is to be written down: at once, as pods or people wait for it, or some time. */
  get unwritten(): 'urgent' | 'some' | 'none' {
    if (this.#isUrgent) return 'urgent';
    return this.#isDirty ? 'some' : 'none';
  }

  /** Takes in a pod as it is; whether that may have made room. */
  see(pod: Pod, late: boolean): boolean {
    return this.#podCounts.put(pod, availabilityOf(pod, late));
  }

  /** The pod is no more; whether that may have made room. */
  forget(pod: Pod): boolean {
    return this.#podCounts.put(pod, null);
  }

  /** Takes in a node as the store has it now. */
  moved(nodeName: string): void {
    this.#podCounts.move(nodeName, this.#store.node(nodeName));
  }

  /**
   * Asks for one eviction, and counts it if it may begin. A place that it was given earlier, and could not
   * take yet, is kept in all its limits or in none: whoever is refused by one holds no place of another.
   */
  admit(now: Instant, candidate: Candidate): LimitAnswer {
    const { uid } = candidate.pod;
    const gates = this.#gatesFor(candidate);
    const [first] = gates;
    if (first && this.isRecorded && !this.#isRead) return waiting(first.hit(now, 'record'), null);
    const refusal = this.#refusalBy(now, gates, uid);
    if (refusal) return { ...refusal, madeRoom: this.#unwant(uid) };
    for (const gate of this.#admitted.get(uid) ?? []) {
      if (!gates.includes(gate)) gate.release(uid, this.#podCounts.in(gate, uid), true);
    }
    const windowed = gates.find((gate) => gate.isWindowed);
    if (windowed && !this.#isCovered(now, uid)) return this.#want(now, uid, gates, windowed);
    if (first) this.#admitted.set(uid, gates);
    else this.#admitted.delete(uid);
    for (const gate of gates) gate.enter(now, uid, this.#podCounts.in(gate, uid));
    const madeRoom = this.#wanting.delete(uid) && this.#isCrowded;
    if (madeRoom) this.#isCrowded = false;
    return { kind: 'go', madeRoom };
  }

  /** The first of its limits that says no; null: none does. */
  #refusalBy(now: Instant, gates: readonly LimitGate[], uid: string): LimitAnswer | null {
    for (const gate of gates) {
      gate.expire(now, (one) => this.#podCounts.in(gate, one));
      const refusal = gate.refusal(now, uid, this.#podCounts.in(gate, uid));
      if (!refusal) continue;
      const trips = gate.rule.onLimit === 'trip' && !gate.tripped && !refusal.mayOpen;
      if (trips) this.#trip(now, gate, refusal.hit);
      return gate.tripped ? waiting(gate.tripped.hit, null) : waiting(refusal.hit, refusal.until);
    }
    return null;
  }

  /** It may go once that is written down. */
  #want(now: Instant, uid: string, gates: readonly LimitGate[], windowed: LimitGate): LimitAnswer {
    if (this.#wanting.has(uid) || this.#wanting.size < this.#wantingMax) {
      this.#admitted.set(uid, gates);
      this.#wanting.add(uid);
      for (const gate of gates) gate.want(uid);
      this.#isUrgent = true;
    } else this.#isCrowded = true;
    return waiting(windowed.hit(now, 'record'), null);
  }

  /** It does not go yet, and what was kept for it is free for others; whether anything was. */
  #unwant(uid: string): boolean {
    const gates = this.#admitted.get(uid) ?? [];
    const freed = gates.filter((gate) => gate.unwant(uid));
    this.#wanting.delete(uid);
    if (!gates.some((gate) => gate.hasBegun(uid))) this.#admitted.delete(uid);
    return freed.length > 0;
  }

  /** The pod has left or may be leaving: it counts for a window from now on. Whether it counted before. */
  leave(now: Instant, uid: string): boolean {
    for (const gate of this.#admitted.get(uid) ?? []) gate.leave(now, uid);
    const counted = this.#admitted.delete(uid);
    this.#wanting.delete(uid);
    this.#isDirty ||= counted;
    return counted;
  }

  /** It was surely not evicted. `isOver`: and is not to be. Whether that may have made room. */
  release(uid: string, isOver: boolean): boolean {
    const gates = this.#admitted.get(uid) ?? [];
    for (const gate of gates) gate.release(uid, this.#podCounts.in(gate, uid), isOver);
    this.#wanting.delete(uid);
    if (isOver) this.#admitted.delete(uid);
    this.#isDirty ||= gates.length > 0;
    return gates.length > 0;
  }

  /** Opens what tripped, of these names, or (none given) all; what has been opened. */
  resume(ids: readonly string[] = []): readonly LimitHit[] {
    const shut = this.#gates
      .all()
      .filter(({ id, tripped }) => tripped && (ids.length === 0 || ids.includes(id)));
    const hits = shut.flatMap(({ tripped }) => tripped?.hit ?? []);
    for (const gate of shut) this.#clear(gate);
    this.#isUrgent ||= shut.length > 0;
    return hits;
  }

  /** The limits that have tripped since the last call. */
  takeTripped(): readonly LimitStatus[] {
    const tripped = this.#tripped.flatMap(statusOfTripped);
    this.#tripped = [];
    return tripped;
  }

  /** True when anything is shut until evictions are resumed. */
  get isTripped(): boolean {
    return this.#gates.isTripped;
  }

  /** The limits that have tripped, those in whose window pods were evicted, and rates that are in use. */
  limits(now: Instant): readonly LimitStatus[] {
    // Another may act, and what it has counted since is not read here.
    if (this.isRecorded && !this.#isRead) return [];
    return this.#gates.all().flatMap((gate) => {
      // Most have counted nothing. Whoever asks does not make the others forget.
      const asked =
        gate.evicted === 0 ? gate : gate.asOf(now, (uid) => this.#podCounts.in(gate, uid));
      return statusOf(now, gate, asked);
    });
  }

  /** Forgets now and then what no window holds any more. */
  sweep(now: Instant): void {
    if (now < this.#sweptAt + sweepMs) return;
    this.#sweptAt = now;
    for (const gate of this.#gates.all()) {
      gate.expire(now, (uid) => this.#podCounts.in(gate, uid));
      this.#gates.tidy(gate, now);
    }
  }

  /** The record to be written down, with whatever is about to begin. */
  record(now: Instant): { readonly record: LimitRecord; readonly covers: ReadonlySet<string> } {
    this.#isUrgent = false;
    this.#isDirty = false;
    for (const gate of this.#gates.all()) this.#gates.tidy(gate, now);
    const record = recordOf(now, this.#gates.all(), this.#podCounts);
    return { record, covers: new Set(this.#admitted.keys()) };
  }

  /** The record is written: these pods may go now. `at`: when it was sent. */
  written(at: Instant, covers: ReadonlySet<string>): void {
    this.#covered = covers;
    this.#coveredUntil = at + coverageMs;
    // From now on the record says what we know.
    this.#found = {};
  }

  /** It could not be written. */
  stayedUnwritten(): void {
    this.#isUrgent = true;
  }

  /** Goes on from what is written there (null: nothing is), in the place of what we know ourselves. */
  restore(now: Instant, record: LimitRecord | null): void {
    this.#isRead = true;
    this.#admitted.clear();
    this.#wanting.clear();
    for (const gate of this.#gates.all()) this.#clear(gate);
    this.#found = record ?? {};
    restoreFrom(now, this.#found, this.#limits, this.#gates);
  }

  /** Nobody knows what another has let go a moment ago: rates begin anew. */
  lead(now: Instant): void {
    this.#gates.lead(now);
  }

  /** Another may act from now on: what is written down has to be read again before we do. */
  stopLeading(): void {
    this.#isRead = false;
    this.#covered = new Set();
  }

  #trip(now: Instant, gate: LimitGate, hit: LimitHit): void {
    gate.trip(now, hit);
    this.#tripped.push(gate);
    this.#isUrgent = true;
  }

  #isCovered(now: Instant, uid: string): boolean {
    return !this.isRecorded || (this.#covered.has(uid) && now <= this.#coveredUntil);
  }

  #gatesFor(candidate: Candidate): readonly LimitGate[] {
    const node = this.#store.node(candidate.pod.nodeName);
    return this.#limits.flatMap((limit) => {
      const name = nameFor(limit, candidate, node, this.#store);
      return name === null ? [] : [this.#gates.of(limit, name)];
    });
  }

  #clear(gate: LimitGate): void {
    gate.clear((uid) => this.#podCounts.in(gate, uid));
  }
}

function waiting(hit: LimitHit, until: Instant | null): LimitAnswer {
  return { kind: 'wait', until, hit, madeRoom: false };
}

/** An eviction may be answered so much later: those that are open are written as of then. */
const openAheadMs: Millis = 60_000;

/** The record of these gates, should another replica take over. */
function recordOf(now: Instant, gates: readonly LimitGate[], counts: PodCounts): LimitRecord {
  const entries = new Map<string, RecordedLimit>();
  for (const gate of gates) {
    gate.expire(now, (uid) => counts.in(gate, uid));
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
  // One that came later has counted fewer.
  const isMore = countOf(own.evicted) >= countOf(before?.evicted ?? []);
  return {
    ...(isMore ? { ...before, ...own } : { ...own, ...before }),
    of: (isMore ? own.of : before?.of) ?? before?.of ?? own.of,
    tripped: tripped ?? before?.tripped ?? null,
  };
}

/** Lets the gates of these limits go on from what is written there. */
function restoreFrom(
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

interface GateCount {
  readonly availability: Availability;
  readonly labels: Labels | undefined;
  readonly gates: readonly LimitGate[];
  /** The state of the limits by which it was counted. */
  readonly version: number;
}

/**
 * Counts each pod in the limits that have a window: as available, as unavailable, or not at all.
 * Each pod is kept with the gates it was counted in, so that what is taken out of a count is what was
 * put in, whatever has become of its node, its labels or the limits.
 */
class PodCounts {
  readonly #store: StoreView;
  readonly #gates: LimitGates;
  #windowed: readonly BoundLimit[] = [];
  #version = 0;
  readonly #nodes = new Map<string, string>();
  readonly #counted = new Map<string, GateCount>();

  constructor(store: StoreView, gates: LimitGates) {
    this.#store = store;
    this.#gates = gates;
  }

  /** True when any limit has a window; nothing is counted otherwise. */
  get isNeeded(): boolean {
    return this.#windowed.length > 0;
  }

  /** The limits are others, or match others: every pod has to be put anew. */
  setLimits(limits: readonly BoundLimit[]): void {
    this.#windowed = limits.filter(({ rule }) => isWindowed(rule));
    this.#version += 1;
    if (!this.isNeeded) this.#counted.clear();
  }

  /** The way a pod counts in a gate; null: it does not. */
  in(gate: LimitGate, uid: string): Availability | null {
    const counted = this.#counted.get(uid);
    return counted?.gates.includes(gate) ? counted.availability : null;
  }

  /** Takes in how a pod counts now (null: not at all); whether that may have made room. */
  put(pod: Pod, availability: Availability | null): boolean {
    const before = this.#counted.get(pod.uid);
    const isCurrent = before?.version === this.#version && before.labels === pod.labels;
    if (before?.availability === availability && isCurrent) return false;
    if (!before && !availability) return false;
    this.#replace(pod, before, availability);
    return before?.availability !== 'available' || !isCurrent;
  }

  /** Takes in a node as it is now; its pods move to where they count now. */
  move(name: string, node: Node | null): void {
    const looks = node && looksOf(node);
    if (looks === (this.#nodes.get(name) ?? null)) return;
    if (looks === null) this.#nodes.delete(name);
    else this.#nodes.set(name, looks);
    for (const pod of this.#store.podsOn(name)) {
      const counted = this.#counted.get(pod.uid);
      if (counted) this.#replace(pod, counted, counted.availability);
    }
  }

  #replace(pod: Pod, before: GateCount | undefined, availability: Availability | null): void {
    const { uid, labels } = pod;
    if (before) for (const gate of before.gates) gate.adjust(uid, before.availability, -1);
    if (availability === null) this.#counted.delete(uid);
    else {
      const node = this.#store.node(pod.nodeName);
      const gates = this.#windowed.flatMap((limit) =>
        namesOf(limit, pod, node, this.#store).map((name) => this.#gates.of(limit, name)),
      );
      for (const gate of gates) gate.adjust(uid, availability, 1);
      this.#counted.set(uid, { availability, labels, gates, version: this.#version });
    }
    if (before) for (const gate of before.gates) this.#gates.tidy(gate, null);
  }
}

/** The way a pod counts, wherever it does. Readiness that nobody reported is not held against it. */
export function availabilityOf(pod: Pod, late: boolean): Availability | null {
  const isFinished = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  if (pod.nodeName === '' || isFinished || late) return null;
  const isDown = pod.ready === 'False' || pod.ready === 'Unknown';
  return pod.deletionTimestamp !== null || isDown ? 'unavailable' : 'available';
}

/** All of a node that decides where its pods count. */
function looksOf({ uid, zone, labels, taints }: Node): string {
  const keys = taints
    .filter(({ effect }) => effect === 'NoExecute')
    .map(({ key, value }) => [key, value]);
  return JSON.stringify([uid, zone, labels, keys]);
}
