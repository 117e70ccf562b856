import { isUncertain } from '../../attempt/blocker.ts';
import type { Setback } from '../../attempt/outcome.ts';
import { earliest, type Instant, type Millis } from '../../kernel/time.ts';
import { hasSameLabels } from '../../model/node.ts';
import type { Pod } from '../../model/pod.ts';
import type { Candidate, LimitHit, LimitStatus } from '../../policy/limit.ts';
import { type LimitRecord, needsRecord } from '../../policy/limit-record.ts';
import { holdsAll } from '../../policy/scope.ts';
import type { EvictionPolicy } from '../../policy/values.ts';
import type { NodeChange, StoreView } from '../../store.ts';
import type { Attempts } from '../attempts.ts';
import type { EvictionConfig } from '../config.ts';
import type { Decision } from '../decide.ts';
import { type Decider, decidingTaint } from '../decider.ts';
import type { MachineCommand } from '../eviction-command.ts';
import { queuedReport } from '../pod-events.ts';
import type { Reason } from '../reason.ts';
import {
  type Availability,
  type BoundLimit,
  boundLimits,
  type LimitGate,
  LimitGates,
  nameFor,
  recordOf,
  restoreFrom,
  statusOf,
  statusOfTripped,
} from './limit-gate.ts';
import { availabilityOf, PodCounts } from './pod-counts.ts';

/**
 * The longest time until a request without an answer takes effect: the API server gives it up then.
 */
const uncertainMs: Millis = 60_000;

/** Pods come and go all the time: those who wait for room ask together. */
const recountMs: Millis = 1_000;

/** Why a pod may not go. `until`: when there may be room; null: when something changes, or evictions are resumed. */
interface LimitRefusal {
  readonly hit: LimitHit;
  readonly until: Instant | null;
}

/** A written record covers the evictions that begin within such a time. */
const coverageMs: Millis = 30_000;
const sweepMs: Millis = 60_000;

/**
 * Who may be evicted now: lets evictions begin at the rate and in the number that the limits allow. Every
 * rule that applies has to agree; only then is anything counted. Pods that are due and may not go yet wait
 * in a queue: whenever there may be room, all that wait ask again.
 *
 * Where counts are to survive us (`recorded`), nothing begins before what others have written is read,
 * and an eviction with a window begins only once it is written down as begun. So the next leader
 * counts no fewer than there were.
 */
export class EvictionLimits {
  readonly #config: EvictionConfig;
  readonly #store: StoreView;
  readonly #decider: Decider;
  readonly #attempts: Attempts;
  /** Who waits for room. */
  readonly queue: LimitQueue = new LimitQueue();
  /** Until when an eviction without an answer may still come about, whatever a later try says. */
  readonly #uncertainUntil = new Map<string, Instant>();
  /** Uids of those of whom it was reported that the record holds them. */
  readonly #reported = new Set<string>();
  /** True when some policy had limits. */
  #hadLimits = false;
  #limits: readonly BoundLimit[] = [];
  readonly #gates = new LimitGates();
  readonly #podCounts: PodCounts;
  /** The gates of the pods whose eviction is wanted or has begun. */
  readonly #admitted = new Map<string, readonly LimitGate[]>();
  /** The attempts whose eviction is wanted: at most as many as may be under way. */
  readonly #wanting = new Set<string>();
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

  constructor(store: StoreView, decider: Decider, attempts: Attempts, config: EvictionConfig) {
    this.#config = config;
    this.#store = store;
    this.#decider = decider;
    this.#attempts = attempts;
    this.#podCounts = new PodCounts(store, this.#gates);
    this.#setPolicies(Number.NEGATIVE_INFINITY, []);
  }

  /** The policies have changed, or their subjects have: every pod is counted again. */
  followPolicies(now: Instant): void {
    const policies = this.#store.policies();
    if (policies.every(({ limits }) => limits.length === 0) && !this.#hadLimits) return;
    this.#hadLimits = policies.some(({ limits }) => limits.length > 0);
    this.#setPolicies(now, policies);
    if (this.countsPods) {
      for (const pod of this.#store.pods()) this.followPod(now, pod, this.#decider.decide(pod));
    }
    this.queue.requeue(now);
  }

  /** Takes in a node as the store has it; others than before may hold its pods. */
  followNode(now: Instant, { name, node, previous }: NodeChange): void {
    if (this.countsPods) this.#podCounts.move(name, node);
    if (node?.zone !== previous?.zone || !hasSameLabels(node, previous)) this.askAnew(now);
  }

  /** The cause that put a pod into the queue may have changed: all that wait ask again, together. */
  askAnew(now: Instant): void {
    if (!this.queue.isEmpty) this.queue.requeue(now + recountMs);
  }

  /** True when pods are counted that nothing is done about. */
  get countsPods(): boolean {
    return this.#podCounts.isNeeded;
  }

  /** Takes in a pod as it is, and its decision. */
  followPod(now: Instant, pod: Pod, { kind, because }: Decision): void {
    if (pod.deletionTimestamp !== null) this.leave(now, pod.uid);
    if (!this.countsPods) return;
    const late = kind !== 'keep' && this.#decider.isLate(pod, because);
    if (this.#podCounts.put(pod, availabilityOf(pod, late))) this.queue.requeue(now + recountMs);
  }

  /** The pod is gone. */
  gone(now: Instant, pod: Pod): void {
    if (this.#podCounts.put(pod, null)) this.queue.requeue(now + recountMs);
  }

  /** True when a pod that is due asks at once; else it waits for its turn, as it does from now on. */
  isFirst(now: Instant, pod: Pod, deadline: Instant): boolean {
    if (this.#limits.length === 0) return true;
    this.queue.put(pod, deadline, now);
    return false;
  }

  /**
   * Takes in the policies as they are. An unchanged limit continues as it was; a changed limit
   * continues from the counts under its name. Every pod has to be looked at again then.
   */
  #setPolicies(now: Instant, policies: readonly EvictionPolicy[]): void {
    const limits = boundLimits(this.#config.limits, policies);
    const keys = new Set(limits.map(({ key }) => key));
    const known = new Set(this.#limits.map(({ key }) => key));
    const dropped = this.#gates.all().filter(({ limit }) => !keys.has(limit.key));
    const carried = recordOf(now, dropped, this.#availabilityIn);
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

  /** True when the record has to be read and written. */
  get isRecorded(): boolean {
    return this.#config.keepLimits && needsRecord(this.#limits.map(({ rule }) => rule));
  }

  /**
   * True when the record can only be of limits that are gone. While everything is held that is not
   * known: a policy that cannot be followed may have limits.
   */
  get isForgotten(): boolean {
    if (!this.#config.keepLimits || this.isRecorded) return false;
    for (const { pause, isOver } of this.#store.pauses()) {
      if (!isOver && holdsAll(pause)) return false;
    }
    return true;
  }

  /** True when what others have written was read since we lead. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** The record has something to write: at once, as pods or people wait for it, or at some time. */
  get unwritten(): 'urgent' | 'some' | 'none' {
    if (this.#isUrgent) return 'urgent';
    return this.#isDirty ? 'some' : 'none';
  }

  /** Asks for one eviction, and counts it if it may begin; else why not, and the pod waits. */
  admit(
    now: Instant,
    pod: Pod,
    deadline: Instant,
    because: readonly Reason[],
  ): LimitRefusal | null {
    const late = this.#decider.isLate(pod, because);
    const refusal = this.#ask(now, { pod, taint: decidingTaint(because), late });
    this.queue.delete(pod.uid);
    if (refusal) this.queue.put(pod, deadline, refusal.until);
    else {
      this.#reported.delete(pod.uid);
      this.queue.served(pod.namespace);
    }
    return refusal;
  }

  /**
   * A place that a pod was given earlier, and could not take yet, is kept in all its limits or in
   * none: a pod that one limit refuses holds no place of another.
   */
  #ask(now: Instant, candidate: Candidate): LimitRefusal | null {
    const { uid } = candidate.pod;
    const gates = this.#gatesFor(candidate);
    const [first] = gates;
    if (first && this.isRecorded && !this.#isRead) {
      return { hit: first.hit(now, 'record'), until: null };
    }
    const refusal = this.#refusalBy(now, gates, uid);
    if (refusal) {
      if (this.#unwant(uid)) this.queue.requeue(now);
      return refusal;
    }
    for (const gate of this.#admitted.get(uid) ?? []) {
      if (!gates.includes(gate)) gate.release(uid, this.#podCounts.in(gate, uid), true);
    }
    const windowed = gates.find((gate) => gate.isWindowed);
    if (windowed && !this.#isCovered(now, uid)) {
      this.#want(uid, gates);
      return { hit: windowed.hit(now, 'record'), until: null };
    }
    if (first) this.#admitted.set(uid, gates);
    else this.#admitted.delete(uid);
    for (const gate of gates) gate.enter(now, uid, this.#podCounts.in(gate, uid));
    if (this.#wanting.delete(uid) && this.#isCrowded) {
      this.#isCrowded = false;
      this.queue.requeue(now);
    }
    return null;
  }

  /** The first of its limits that says no; null: none does. */
  #refusalBy(now: Instant, gates: readonly LimitGate[], uid: string): LimitRefusal | null {
    for (const gate of gates) {
      gate.expire(now, (one) => this.#podCounts.in(gate, one));
      const refusal = gate.refusal(now, uid, this.#podCounts.in(gate, uid));
      if (!refusal) continue;
      const trips = gate.rule.onLimit === 'trip' && !gate.tripped && !refusal.mayOpen;
      if (trips) this.#trip(now, gate, refusal.hit);
      return gate.tripped ? { hit: gate.tripped.hit, until: null } : refusal;
    }
    return null;
  }

  /** The pod may leave once that is written down. */
  #want(uid: string, gates: readonly LimitGate[]): void {
    if (this.#wanting.has(uid) || this.#wanting.size < this.#config.evictionsInFlightMax) {
      this.#admitted.set(uid, gates);
      this.#wanting.add(uid);
      for (const gate of gates) gate.want(uid);
      this.#isUrgent = true;
    } else this.#isCrowded = true;
  }

  /** The pod does not leave yet, and its places are free for others; true when it had any. */
  #unwant(uid: string): boolean {
    const gates = this.#admitted.get(uid) ?? [];
    const freed = gates.filter((gate) => gate.unwant(uid));
    this.#wanting.delete(uid);
    if (!gates.some((gate) => gate.hasBegun(uid))) this.#admitted.delete(uid);
    return freed.length > 0;
  }

  /** The pod has left or may be leaving: its eviction was accepted, is seen, or has no answer that says more. */
  leave(now: Instant, uid: string): void {
    for (const gate of this.#admitted.get(uid) ?? []) gate.leave(now, uid);
    this.#wanting.delete(uid);
    if (!this.#admitted.delete(uid)) return;
    this.#isDirty = true;
    // From now on it is known how long those who wait for its room have to.
    this.queue.requeue(now + recountMs);
  }

  /** A refused eviction has disrupted nothing: others may go in its place, and it asks again. */
  failed(now: Instant, uid: string, setback: Setback): void {
    if (isUncertain(setback)) this.#uncertainUntil.set(uid, now + uncertainMs);
    else if (!this.#mayLeave(now, uid)) this.#release(now, uid, false);
  }

  #mayLeave(now: Instant, uid: string): boolean {
    return now < (this.#uncertainUntil.get(uid) ?? now);
  }

  /** The pod leaves, or stays after all. An attempt without an answer may still come about. */
  drop(now: Instant, uid: string, leaves: boolean, setback: Setback | null): void {
    this.queue.delete(uid);
    this.#reported.delete(uid);
    const mayLeave = this.#mayLeave(now, uid);
    this.#uncertainUntil.delete(uid);
    if (leaves || mayLeave || (setback !== null && isUncertain(setback))) this.leave(now, uid);
    else this.#release(now, uid, true);
  }

  /** The pod was surely not evicted. `isOver`: and will not be. */
  #release(now: Instant, uid: string, isOver: boolean): void {
    const gates = this.#admitted.get(uid) ?? [];
    for (const gate of gates) gate.release(uid, this.#podCounts.in(gate, uid), isOver);
    this.#wanting.delete(uid);
    if (isOver) this.#admitted.delete(uid);
    if (gates.length === 0) return;
    this.#isDirty = true;
    this.queue.requeue(now);
  }

  /**
   * The record fails, and holds the pods that wait for it: those for which that was not reported
   * yet.
   */
  heldByRecord(): readonly MachineCommand[] {
    return this.queue.uids().flatMap((uid) => {
      const [pod, state] = [this.#store.pod(uid), this.#attempts.stateOf(uid)];
      if (!pod || state?.kind !== 'queued' || state.hit?.limit !== 'record') return [];
      if (this.#reported.has(uid)) return [];
      this.#reported.add(uid);
      return queuedReport(pod, state.hit, null);
    });
  }

  /** Opens what tripped, of these names, or (none given) all; what has been opened. */
  resume(now: Instant, ids: readonly string[] = []): readonly LimitHit[] {
    const shut = this.#gates
      .all()
      .filter(({ id, tripped }) => tripped && (ids.length === 0 || ids.includes(id)));
    const hits = shut.flatMap(({ tripped }) => tripped?.hit ?? []);
    for (const gate of shut) this.#clear(gate);
    this.#isUrgent ||= shut.length > 0;
    if (shut.length > 0) this.queue.requeue(now);
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
    // Another leader may act, and its later counts are not read here.
    if (this.isRecorded && !this.#isRead) return [];
    return this.#gates.all().flatMap((gate) => {
      // Most have counted nothing. Reading does not make the others forget.
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
    const record = recordOf(now, this.#gates.all(), this.#availabilityIn);
    return { record, covers: new Set(this.#admitted.keys()) };
  }

  /** The record is written: these pods may go now. `at`: when it was sent. */
  written(now: Instant, at: Instant, covers: ReadonlySet<string>): void {
    this.queue.requeue(now);
    this.#covered = covers;
    this.#coveredUntil = at + coverageMs;
    // From now on the record says what we know.
    this.#found = {};
  }

  /** The record could not be written. */
  stayedUnwritten(): void {
    this.#isUrgent = true;
  }

  /** Continues from the record (null: there is none), in the place of our own counts. */
  restore(now: Instant, record: LimitRecord | null): void {
    this.queue.requeue(now);
    this.#isRead = true;
    this.#admitted.clear();
    this.#wanting.clear();
    for (const gate of this.#gates.all()) this.#clear(gate);
    this.#found = record ?? {};
    restoreFrom(now, this.#found, this.#limits, this.#gates);
  }

  /** The recent evictions of another leader are unknown: rates begin again. */
  lead(now: Instant): void {
    this.#gates.lead(now);
  }

  /** Another leader may act from now on: the record has to be read again before we do. */
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

  #availabilityIn = (gate: LimitGate, uid: string): Availability | null =>
    this.#podCounts.in(gate, uid);

  #clear(gate: LimitGate): void {
    gate.clear((uid) => this.#podCounts.in(gate, uid));
  }
}

/**
 * True when there is more to say of what holds a pod back than was said. The record is usually
 * written in a moment: it is reported only where it fails.
 */
export function isNews(hit: LimitHit, before: LimitHit | null): boolean {
  if (hit.limit === 'record') return false;
  return before === null || before.limit === 'record' || (hit.tripped && !before.tripped);
}

interface Waiting {
  readonly uid: string;
  readonly namespace: string;
  readonly deadline: Instant;
}

/**
 * The pods that are due and that limits hold back. Whenever a limit may have opened, all of them
 * ask again: the namespaces in turn, first the one that has waited longest since one of its pods went,
 * and the pods of a namespace by their deadlines. So a namespace with a thousand pods does not keep
 * another from its share.
 */
class LimitQueue {
  readonly #waiting = new Map<string, Waiting>();
  /** When each namespace was last served, as a count of servings. */
  readonly #servedAt = new Map<string, number>();
  #servings = 0;
  #askAt: Instant | null = null;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Who waits, in no order. */
  uids(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** `until`: when a limit may let it through; null: when there is room. */
  put({ uid, namespace }: Pod, deadline: Instant, until: Instant | null): void {
    this.#waiting.set(uid, { uid, namespace, deadline });
    if (until !== null) this.requeue(until);
  }

  /** The pod does not wait any more. */
  delete(uid: string): void {
    if (this.#waiting.delete(uid) && this.isEmpty) this.#servedAt.clear();
  }

  /** A pod of the namespace was let through: the others come first now. */
  served(namespace: string): void {
    this.#servings += 1;
    if (!this.isEmpty) this.#servedAt.set(namespace, this.#servings);
  }

  /** Everyone asks again at `at`, or earlier if that was to be so already. */
  requeue(at: Instant): void {
    this.#askAt = earliest([this.#askAt, at]);
  }

  /** When those who wait ask again; null: when something changes. */
  nextWake(): Instant | null {
    return this.isEmpty ? null : this.#askAt;
  }

  /**
   * The pods that ask at `now`, in the order in which they are let through; empty before its time.
   */
  ask(now: Instant): readonly string[] {
    if (this.#askAt === null || this.#askAt > now) return [];
    this.#askAt = null;
    const queues = [...this.#byNamespace()].sort(([a, [x]], [b, [y]]) => {
      const turns = (this.#servedAt.get(a) ?? 0) - (this.#servedAt.get(b) ?? 0);
      return turns || (x?.deadline ?? 0) - (y?.deadline ?? 0) || (a < b ? -1 : 1);
    });
    const rounds = Math.max(0, ...queues.map(([, queue]) => queue.length));
    return Array.from({ length: rounds }, (_, round) =>
      queues.flatMap(([, queue]) => queue[round]?.uid ?? []),
    ).flat();
  }

  /** Who waits, the earliest deadline first. */
  #byNamespace(): ReadonlyMap<string, readonly Waiting[]> {
    const queues = new Map<string, Waiting[]>();
    const inOrder = [...this.#waiting.values()].sort(
      (a, b) => a.deadline - b.deadline || (a.uid < b.uid ? -1 : 1),
    );
    for (const one of inOrder) {
      const queue = queues.get(one.namespace);
      if (queue) queue.push(one);
      else queues.set(one.namespace, [one]);
    }
    return queues;
  }
}
