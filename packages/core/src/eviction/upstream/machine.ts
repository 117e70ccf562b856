// Taint eviction exactly as kube-controller-manager 1.36.2 does it, defects included.
import type { AttemptState } from '../../attempt/attempt.ts';
import type { BudgetPolicy } from '../../attempt/delete-or-evict.ts';
import type { Outcome } from '../../attempt/outcome.ts';
import type { Event } from '../../event.ts';
import { InFlight } from '../../kernel/inflight.ts';
import { Schedule } from '../../kernel/schedule.ts';
import type { ClusterTime, Instant, Millis } from '../../kernel/time.ts';
import type { Node } from '../../model/node.ts';
import { type Pod, type PodRef, podRef } from '../../model/pod.ts';
import { addedAt, isEqualTaint, type Taint } from '../../model/taint.ts';
import { decidingToleration, type MatchOptions } from '../../model/toleration.ts';
import type { OwnReplicas } from '../../own-replicas.ts';
import type { LimitStatus } from '../../policy/limit.ts';
import type { Change, NodeChange, StoreView } from '../../store.ts';
import type { EvictionConfig } from '../config.ts';
import { type Decision, deadlineOf, type TaintReason } from '../decide.ts';
import type { MachineCommand } from '../eviction-command.ts';
import type { EvictionMachine } from '../machine.ts';
import type { Reason } from '../reason.ts';
import type { ObservedTaint } from '../taint-clock.ts';
import { minTolerationNanos, type UpstreamWait, upstreamWait } from './wait.ts';

type FiniteWait = Extract<UpstreamWait, { readonly kind: 'finite' }>;

/** A run of the deletion procedure: up to five attempts. */
interface DeletionRun {
  readonly key: string;
  readonly pod: PodRef;
  readonly attempt: number;
}

const attemptsMax = 5;
const pauseMs: Millis = 10;

/**
 * kube-controller-manager 1.36.2's taint-eviction-controller, its defects included: what recorded
 * behaviour is replayed with, what `precise` is compared with, and the oracle of its tests. The
 * rules by which it differs from `precise` are named in docs/differences.md.
 *
 * Theory of operation. A node whose list of NoExecute taints changed, and a pod whose tolerations
 * or node changed, is looked at; nothing else is. Each look either starts a deletion, sets a timer,
 * leaves a timer as it is, or cancels it. Deletions and timers go by the pod's name.
 */
export class UpstreamEvictionMachine implements EvictionMachine {
  readonly askers = ['upstream'] as const;
  readonly #config: EvictionConfig;
  readonly #store: StoreView;
  readonly #pods = new Map<string, Pod>();
  readonly #taints = new Map<string, readonly ObservedTaint[]>();
  readonly #replicas: OwnReplicas | null;
  /** The uids of those that would have gone, and stay as the last one. */
  readonly #lastOnes = new Set<string>();
  #replicasSeen = 0;
  readonly #inFlight = new InFlight('upstream', Number.POSITIVE_INFINITY);
  #queue = new TimedQueue();
  /** Runs by the id of the command they wait for, and then of the pause after a failure. */
  #runs = new Map<string, DeletionRun>();
  #pauses = new Schedule();
  #synced = false;
  #leader: boolean;
  /** Since when it has acted before it was told of anything; null: it begins now. */
  #since: Instant | null = null;
  #running = false;
  #commands: MachineCommand[] = [];

  /** `replicas`: null for kube-controller-manager itself, which is no replica of taintmgr. */
  constructor(store: StoreView, config: EvictionConfig, replicas: OwnReplicas | null) {
    this.#store = store;
    this.#replicas = replicas;
    this.#config = config;
    this.#leader = config.leader;
  }

  handle(now: Instant, event: Event, changes: readonly Change[]): readonly MachineCommand[] {
    this.#commands = [];
    for (const change of changes) this.#cache(change);
    if (event.kind === 'synced') this.#synced = true;
    if (event.kind === 'leadership') {
      this.#leader = event.held;
      this.#since = event.since ?? null;
    }
    const running = this.#synced && this.#leader;
    if (running !== this.#running) this.#turn(now, running);
    else if (running) for (const change of changes) this.#follow(now, change);
    if (event.kind === 'result') this.#answered(now, event.id, event.outcome);
    if (running) this.#fireDue(now);
    if (running) this.#lookAtLastOnes(now);
    return this.#commands;
  }

  nextWake(): Instant | null {
    const [timer, pause] = [this.#queue.next(), this.#pauses.next()];
    if (timer === null || pause === null) return timer ?? pause;
    return Math.min(timer, pause);
  }

  taintsOf(nodeName: string): readonly ObservedTaint[] {
    return this.#taints.get(nodeName) ?? [];
  }

  nodesOfTaints(): readonly string[] {
    return [...this.#taints.keys()];
  }

  /**
   * The deletion that it is about to make; a pod that it has forgotten is kept, regardless of its
   * taints.
   */
  decisionOn(pod: Pod): Decision {
    const because = this.#reasonsFor(pod);
    const entry = this.#queue.entry(podKey(pod));
    if (!entry || because[0]?.code === 'LastReplica') return { kind: 'keep', because };
    return { kind: 'evict', deadline: this.#deadlineOf(entry), because };
  }

  /** kube-controller-manager asks no budgets. */
  budgetsOf(): BudgetPolicy {
    return { kind: 'ignore' };
  }

  deletedAt(): Instant | null {
    return null;
  }

  attemptOn(pod: PodRef): AttemptState | null {
    const entry = this.#queue.entry(podKey(pod));
    if (!entry) return null;
    const run = [...this.#runs].find(([, { key }]) => key === podKey(pod));
    if (run) return { kind: 'requested', id: run[0] };
    return { kind: 'waiting', since: entry.createdAt, until: dueAt(entry) };
  }

  /** Only policies cause these setbacks, and kube-controller-manager applies none. */
  lastSetbackOn(): null {
    return null;
  }

  /** kube-controller-manager knows no limits. */
  limits(): readonly LimitStatus[] {
    return [];
  }

  #deadlineOf(entry: QueueEntry): Instant {
    return this.#store.clock.wall(dueAt(entry));
  }

  #cache(change: Change): void {
    if (change.kind === 'pod') this.#pods.set(podKey(change.pod), change.pod);
    if (change.kind !== 'podGone') return;
    const key = podKey(change.previous);
    if (this.#pods.get(key)?.uid === change.previous.uid) this.#pods.delete(key);
  }

  /**
   * Rule `restart`: a start looks at everything again, a stop forgets everything without a word.
   */
  #turn(now: Instant, running: boolean): void {
    this.#running = running;
    this.#queue = new TimedQueue();
    this.#runs = new Map();
    this.#pauses = new Schedule();
    this.#taints.clear();
    this.#lastOnes.clear();
    if (!running) return;
    for (const node of this.#store.nodes()) {
      if (this.#since === null) this.#lookAtNode(now, node.name, node);
      else this.#lookBack(now, node, this.#since);
    }
    this.#since = null;
  }

  /** Timers run as if it had looked at the node and its pods all the time. */
  #lookBack(now: Instant, node: Node, since: Instant): void {
    const taints = noExecute(node);
    this.#observe(now, node.name, taints);
    const past = { now, since, clock: this.#store.clock };
    for (const pod of this.#store.podsOn(node.name)) {
      for (const look of pastLooks(pod, { ...node, taints }, past)) {
        const entry = this.#queue.entry(podKey(pod));
        // Its deletion had begun by then.
        if (entry && dueAt(entry) <= look.at) break;
        this.#look(look.at, pod, look.taints);
      }
    }
  }

  #follow(now: Instant, change: Change): void {
    switch (change.kind) {
      case 'node':
        if (this.#isNodeNews(change)) this.#lookAtNode(now, change.name, change.node);
        return;
      case 'pod': {
        const { pod, previous } = change;
        const changed =
          previous?.tolerations !== pod.tolerations || previous.nodeName !== pod.nodeName;
        if (changed) this.#look(now, pod, this.#seenTaints(pod.nodeName));
        return;
      }
      case 'podGone':
        if (!this.#pods.has(podKey(change.previous))) this.#cancel(change.previous);
        return;
      default: // a matter of the node lifecycle, or of other semantics
    }
  }

  /**
   * True for a new node, and for a known one when its NoExecute taints changed, even in order or
   * time only.
   */
  #isNodeNews({ node, previous }: NodeChange): boolean {
    if (!node || !previous) return true;
    return JSON.stringify(noExecute(node)) !== JSON.stringify(noExecute(previous));
  }

  /** Rule `node-deletion-keeps-timers`: a node that is gone is forgotten, its pods are not looked at. */
  #lookAtNode(now: Instant, name: string, node: Node | null): void {
    const taints = node ? noExecute(node) : [];
    this.#observe(now, name, taints);
    if (!node) return;
    for (const pod of this.#store.podsOn(name)) {
      if (taints.length === 0) this.#cancel(pod);
      else this.#look(now, pod, taints);
    }
  }

  #observe(now: Instant, name: string, taints: readonly Taint[]): void {
    const observed = taints.map(
      (taint): ObservedTaint => ({ taint, start: now, startSource: 'firstSeen', seenAt: now }),
    );
    if (observed.length === 0) this.#taints.delete(name);
    else this.#taints.set(name, observed);
  }

  #seenTaints(nodeName: string): readonly Taint[] {
    return this.taintsOf(nodeName).map(({ taint }) => taint);
  }

  #look(now: Instant, pod: Pod, taints: readonly Taint[]): void {
    if (taints.length === 0) return;
    const verdict = upstreamWait(taints, pod.tolerations, this.#config);
    if (verdict.kind === 'finite') {
      this.#schedule(now, pod, verdict);
      return;
    }
    this.#cancel(pod);
    if (verdict.kind === 'intolerable') this.#addDue(now, pod, verdict.taint);
  }

  /** Rule `first-timer-kept`: a timer set earlier stays, whatever the wait would be now. */
  #schedule(now: Instant, pod: Pod, { wait, taint }: FiniteWait): void {
    const existing = this.#queue.timer(podKey(pod));
    if (existing && existing.createdAt < now) return;
    if (existing) this.#cancel(pod);
    const createdAt = existing?.createdAt ?? now;
    this.#add(now, pod, { createdAt, fireAt: now + wait, taint });
  }

  #addDue(now: Instant, pod: PodRef, taint: Taint): void {
    this.#add(now, pod, { createdAt: now, fireAt: now, taint });
  }

  #add(now: Instant, pod: PodRef, work: TimedWork): void {
    if (this.#queue.add(now, podKey(pod), work)) this.#begin(pod);
  }

  #cancel(pod: PodRef): void {
    if (this.#queue.cancel(podKey(pod))) this.#record(pod, 'Cancelling deletion of');
  }

  #fireDue(now: Instant): void {
    for (let key = this.#queue.takeDue(now); key !== null; key = this.#queue.takeDue(now)) {
      this.#begin(this.#pods.get(key) ?? refOf(key));
    }
    for (let id = this.#pauses.takeDue(now); id !== null; id = this.#pauses.takeDue(now)) {
      this.#afterPause(id);
    }
  }

  #begin(pod: PodRef): void {
    if (this.#isLastReplica(podKey(pod))) return;
    this.#record(pod, 'Marking for deletion');
    this.#attempt({ key: podKey(pod), pod: podRef(pod), attempt: 1 });
  }

  /** The last replica of ours is forgotten, until another is ready: kube-controller-manager has none here. */
  #isLastReplica(key: string): boolean {
    const pod = this.#pods.get(key);
    if (!pod || this.#replicas?.standIns(pod)?.length !== 0) return false;
    this.#queue.finish(key);
    this.#lastOnes.add(pod.uid);
    return true;
  }

  #lookAtLastOnes(now: Instant): void {
    const { version = 0 } = this.#replicas ?? {};
    if (version === this.#replicasSeen) return;
    this.#replicasSeen = version;
    const pods = [...this.#lastOnes].flatMap((uid) => this.#store.pod(uid) ?? []);
    this.#lastOnes.clear();
    for (const pod of pods) {
      const taints = this.#seenTaints(pod.nodeName);
      if (taints.length === 0) continue;
      const verdict = upstreamWait(taints, pod.tolerations, this.#config);
      // Its time was over when it was to go.
      if (verdict.kind !== 'forever') this.#addDue(now, pod, verdict.taint);
    }
  }

  /** Rule `delete-by-name`: whatever pod has the name by then is deleted. */
  #attempt(run: DeletionRun): void {
    const pod = this.#pods.get(run.key);
    const id = this.#inFlight.start(run.key);
    const because = pod ? this.#reasonsFor(pod) : [];
    this.#runs.set(id, run);
    this.#replicas?.sent(run.pod);
    const generation = pod?.generation ?? 0;
    this.#commands.push({
      kind: 'deletePod',
      id,
      pod: run.pod,
      guard: 'name',
      confirm: false,
      generation,
      gracePeriodSeconds: null,
      escalated: false,
      because,
    });
  }

  #answered(now: Instant, id: string, outcome: Outcome): void {
    this.#inFlight.finish(id);
    const run = this.#runs.get(id);
    if (!run) return;
    this.#replicas?.answered(run.pod.uid, outcome);
    if (outcome.kind !== 'done') {
      this.#pauses.set(id, now + pauseMs);
      return;
    }
    this.#runs.delete(id);
    this.#queue.finish(run.key);
  }

  /** Rule `five-tries`: after the fifth the pod is forgotten. */
  #afterPause(id: string): void {
    const run = this.#runs.get(id);
    this.#runs.delete(id);
    if (!run) return;
    if (run.attempt === attemptsMax) {
      this.#queue.finish(run.key);
    } else if (!this.#isLastReplica(run.key)) this.#attempt({ ...run, attempt: run.attempt + 1 });
  }

  #reasonsFor(pod: Pod): readonly Reason[] {
    const entry = this.#queue.entry(podKey(pod));
    const reasons = upstreamReasons(pod, this.taintsOf(pod.nodeName), entry, this.#config);
    if (!this.#replicas || !this.#staysAsLast(pod, entry)) return reasons;
    const others = reasons.filter(({ code }) => code !== 'GivenUp');
    return [{ code: 'LastReplica', workload: this.#replicas.nameOf(pod) }, ...others];
  }

  /**
   * The pod would have left, or will not leave when its time has come unless another is ready by
   * then.
   */
  #staysAsLast(pod: Pod, entry: QueueEntry | null): boolean {
    if (this.#lastOnes.has(pod.uid)) return true;
    if (entry === null || this.#replicas?.standIns(pod)?.length !== 0) return false;
    return ![...this.#runs.values()].some(({ key }) => key === podKey(pod));
  }

  /** Events name no uid, so `kubectl describe pod` does not show them. */
  #record({ namespace, name, nodeName }: PodRef, opening: string): void {
    const pod = { namespace, name, uid: '', nodeName };
    const message = `${opening} Pod ${namespace}/${name}`;
    const reason = 'TaintManagerEviction';
    this.#commands.push({ kind: 'recordEvent', pod, type: 'Normal', reason, message, because: [] });
  }
}

function dueAt(entry: QueueEntry): Instant {
  return entry.kind === 'timer' ? entry.fireAt : entry.createdAt;
}

function noExecute(node: Node): readonly Taint[] {
  return node.taints.filter(({ effect }) => effect === 'NoExecute');
}

function podKey({ namespace, name }: PodRef): string {
  return `${namespace}/${name}`;
}

function refOf(key: string): PodRef {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name, uid: '', nodeName: '' };
}

/**
 * Why kube-controller-manager is about to evict a pod, or is not. The decisive reason comes first:
 * the taint by which the pod's time was set, or, where the present taints and tolerations give
 * another time, that it was set for others.
 */
function upstreamReasons(
  pod: Pod,
  observed: readonly ObservedTaint[],
  entry: QueueEntry | null,
  options: MatchOptions,
): readonly Reason[] {
  if (observed.length === 0) return [{ code: entry ? 'TimerKept' : 'NoTaint' }];
  const taints = observed.map(({ taint }) => taint);
  const stays = upstreamWait(taints, pod.tolerations, options).kind === 'forever';
  const reasons = observed.map((one) =>
    reasonFor(pod, one, entry?.createdAt ?? one.start, { ...options, stays }),
  );
  if (!entry) return stays ? reasons : [{ code: 'GivenUp' }, ...reasons];
  const decisive = reasons.find((reason) => isDecisive(reason, entry));
  if (!decisive) return [{ code: 'TimerKept' }, ...reasons];
  return [decisive, ...reasons.filter((reason) => reason !== decisive)];
}

/** True when the pod's time equals its reading of the taint. */
function isDecisive(reason: TaintReason, entry: QueueEntry): boolean {
  if (!isEqualTaint(reason.taint, entry.taint) || reason.code === 'ToleratedForever') return false;
  return entry.kind === 'inProgress' || Math.abs(deadlineOf(reason) - entry.fireAt) < 1;
}

/** `stays`: nothing that the pod tolerates ever ends, as far as an int64 tells. */
function reasonFor(
  pod: Pod,
  { taint, startSource }: ObservedTaint,
  start: Instant,
  { stays, ...options }: MatchOptions & { readonly stays: boolean },
): TaintReason {
  const toleration = decidingToleration(pod.tolerations, taint, options);
  if (!toleration) return { code: 'NoToleration', taint, start, startSource, deadline: start };
  const nanos = minTolerationNanos([toleration]);
  if (stays || nanos < 0n) return { code: 'ToleratedForever', taint, toleration };
  const deadline = start + Number(nanos) / 1_000_000;
  return { code: 'TolerationExpires', taint, toleration, start, startSource, deadline };
}

/** A look at a pod of a node that had these taints then. */
interface PastLook {
  readonly at: Instant;
  readonly taints: readonly Taint[];
}

interface Past {
  readonly now: Instant;
  /** Since when anybody looks. */
  readonly since: Instant;
  readonly clock: ClusterTime;
}

/**
 * The looks at a pod until now, as far as the objects show what there was to look at: the pod came when
 * it was bound, each taint when it says so or else when the taints were written last.
 */
function pastLooks(
  pod: Pod,
  { taints, taintsWrittenAt }: Node,
  { now, since, clock }: Past,
): readonly PastLook[] {
  const timeOf = (written: Instant | null | undefined): Instant =>
    Math.max(since, clock.since(now, written));
  const startOf = (taint: Taint): Instant =>
    timeOf(addedAt(taint, clock.wall(now)) ?? taintsWrittenAt);
  const boundAt = pod.boundAt === null ? since : timeOf(pod.boundAt);
  const starts = [...new Set(taints.map(startOf))].sort((one, other) => one - other);
  // A taint that came and was followed by more before the pod was there was never seen on it.
  const seen = starts.filter((_, index) => (starts[index + 1] ?? now + 1) > boundAt);
  return seen.map((start) => {
    return { at: Math.max(start, boundAt), taints: taints.filter((one) => startOf(one) <= start) };
  });
}

/** When a pod is due, and the taint that decided so. */
interface TimedWork {
  readonly createdAt: Instant;
  readonly fireAt: Instant;
  readonly taint: Taint;
}

/** The entry under a key: a timer, or the mark of a deletion that began without one. */
type QueueEntry =
  | (TimedWork & { readonly kind: 'timer'; readonly timer: string })
  | (Omit<TimedWork, 'fireAt'> & { readonly kind: 'inProgress' });

/**
 * kube-controller-manager's timed queue, with its races: entries go by name, a timer that has fired
 * stays in the map while its deletion runs, and whatever is stored under the name is removed when
 * that deletion ends. A timer that lost its entry this way still fires and can no longer be
 * cancelled (rule `orphan-timer`).
 */
class TimedQueue {
  readonly #entries = new Map<string, QueueEntry>();
  readonly #schedule = new Schedule();
  readonly #keys = new Map<string, string>();
  #count = 0;

  /** The pending timer of a key; a deletion in progress counts as none. */
  timer(key: string): Extract<QueueEntry, { kind: 'timer' }> | null {
    const entry = this.#entries.get(key);
    return entry?.kind === 'timer' ? entry : null;
  }

  entry(key: string): QueueEntry | null {
    return this.#entries.get(key) ?? null;
  }

  entries(): Iterable<readonly [string, QueueEntry]> {
    return this.#entries;
  }

  /**
   * Adds work due `fireAt - createdAt` from now; nothing when the key has an entry. True when it
   * begins at once.
   */
  add(now: Instant, key: string, { createdAt, fireAt, taint }: TimedWork): boolean {
    if (this.#entries.has(key)) return false;
    const delay = fireAt - createdAt;
    if (delay <= 0) {
      this.#entries.set(key, { kind: 'inProgress', createdAt, taint });
      return true;
    }
    // Zero padded: timers due at one instant fire in the order in which they were set.
    const timer = String(++this.#count).padStart(12, '0');
    this.#entries.set(key, { kind: 'timer', createdAt, fireAt: now + delay, taint, timer });
    this.#schedule.set(timer, now + delay);
    this.#keys.set(timer, key);
    return false;
  }

  /** Forgets the entry of a key; whether that was a timer, fired or not. */
  cancel(key: string): boolean {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    if (entry?.kind !== 'timer') return false;
    this.#schedule.cancel(entry.timer);
    this.#keys.delete(entry.timer);
    return true;
  }

  /**
   * Removes whatever is stored under the key of a deletion that ended. The timer of the deletion
   * continues.
   */
  finish(key: string): void {
    this.#entries.delete(key);
  }

  /** Takes the key of the next timer due at `now`. */
  takeDue(now: Instant): string | null {
    const timer = this.#schedule.takeDue(now);
    if (timer === null) return null;
    const key = this.#keys.get(timer) ?? null;
    this.#keys.delete(timer);
    return key;
  }

  next(): Instant | null {
    return this.#schedule.next();
  }
}
