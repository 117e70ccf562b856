// Takeover: what we do for pods that kube-controller-manager would delete, beside deciding about them.

import type { AttemptState } from '../attempt/attempt.ts';
import { blockerOf } from '../attempt/blocker.ts';
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { RecordPodEvent } from '../attempt/pod-command.ts';
import type { Event } from '../event.ts';
import { Schedule } from '../kernel/schedule.ts';
import {
  type ClusterTime,
  earliest,
  endOfSecond,
  formatDeadline,
  type Instant,
  type Millis,
} from '../kernel/time.ts';
import { TokenBucket } from '../kernel/token-bucket.ts';
import { isTaintReason, type Pod, podRef } from '../model/pod.ts';
import { formatTaint } from '../model/taint.ts';
import type { MatchOptions, Toleration } from '../model/toleration.ts';
import { limitId } from '../policy/limit.ts';
import { isTakenOver, takeoverProgram } from '../policy/scope.ts';
import type { Change, Machine, StoreView } from '../store.ts';
import type { EvictionConfig } from './config.ts';
import type { Decision } from './decide.ts';
import type { MachineCommand } from './eviction-command.ts';
import type { EvictionMachine } from './machine.ts';
import { podEvent } from './pod-events.ts';
import { describeReason, type Reason } from './reason.ts';
import type { ObservedTaint } from './taint-clock.ts';
import { upstreamWait } from './upstream/wait.ts';

/** The state of takeover. */
export interface TakeoverCounts {
  /** The namespaces that were handed over, by name. */
  readonly namespaces: readonly string[];
  /** Of those in which pods were spared since we lead. */
  readonly spared: ReadonlyMap<string, SparedCount>;
}

/** Between two looks at a pod that bears our mark and may yet go. */
const lookMs: Millis = 5_000;
const waits = { confirmationWaitMs: 10_000, retryWaitMsMin: 200, retryWaitMsMax: 30_000 };

/**
 * Beside the eviction machine, in a cluster whose kube-controller-manager evicts too.
 *
 * Theory of operation. In namespaces that were handed over the API server refuses kube-controller-manager
 * the mark that it puts on a pod before it deletes it. This machine does what follows from that:
 *
 * - A pod whose time has come by kube-controller-manager's rules and that is not on its way by ours
 *   was spared. It gets one Event that says who decides, why it stays and until when.
 * - A pod that we delete is marked too, otherwise than by kube-controller-manager. Where an eviction of
 *   ours was called off after the mark was set, the mark is taken away: the pod does not go.
 *
 * It decides nothing: what holds a pod is read from the eviction machine.
 */
export class TakeoverMachine implements Machine<MachineCommand> {
  readonly askers = ['unmark'] as const;
  readonly #store: StoreView;
  readonly #eviction: EvictionMachine;
  readonly #spared: SparedPods;
  readonly #marks: KeyedWrites;
  readonly #holdsDevices: boolean;
  #synced = false;
  #leader: boolean;
  #now: Instant = Number.NEGATIVE_INFINITY;

  constructor(store: StoreView, eviction: EvictionMachine, config: EvictionConfig) {
    this.#store = store;
    this.#eviction = eviction;
    this.#leader = config.leader;
    this.#holdsDevices = config.deviceTaints;
    this.#spared = new SparedPods(config);
    this.#marks = new KeyedWrites({ ...waits, prefix: 'unmark', max: config.evictionsInFlightMax });
  }

  /** Called after the eviction machine took the same. */
  handle(now: Instant, event: Event, changes: readonly Change[]): readonly MachineCommand[] {
    this.#now = now;
    for (const change of changes) this.#follow(now, change);
    switch (event.kind) {
      case 'synced':
        this.#synced = true;
        return [];
      case 'leadership':
        if (event.held && !this.#leader) this.#spared.restart();
        this.#leader = event.held;
        return [];
      case 'result':
        this.#marks.settle(now, event.id, event.outcome);
        return [];
      case 'tick':
        return this.#mayAct ? [...this.#noteSpared(now), ...this.#unmark(now)] : [];
      default:
        return [];
    }
  }

  nextWake(): Instant | null {
    if (!this.#mayAct) return null;
    return earliest([this.#spared.nextWake(this.#now), this.#marks.nextWake()]);
  }

  counts(): TakeoverCounts {
    const namespaces = [...this.#store.namespaces()]
      .filter(([, labels]) => isTakenOver(labels))
      .map(([name]) => name)
      .sort();
    return { namespaces, spared: this.#spared.counts() };
  }

  get #mayAct(): boolean {
    return this.#synced && this.#leader;
  }

  #follow(now: Instant, change: Change): void {
    switch (change.kind) {
      case 'devices':
        for (const uid of change.pods) {
          const pod = this.#store.pod(uid);
          if (pod) this.#followPod(now, pod);
        }
        return;
      case 'node': {
        const wasTainted = change.previous?.taints.some(({ effect }) => effect === 'NoExecute');
        if (!wasTainted && this.#eviction.taintsOf(change.name).length === 0) return;
        for (const pod of this.#store.podsOn(change.name)) this.#followPod(now, pod);
        return;
      }
      case 'pod':
        this.#followPod(now, change.pod);
        return;
      case 'podGone':
        this.#forget(change.previous.uid);
        return;
      case 'namespace':
        for (const pod of this.#store.pods())
          if (pod.namespace === change.name) this.#followPod(now, pod);
        return;
      default: // no matter of what is refused
    }
  }

  #followPod(now: Instant, pod: Pod): void {
    if (!isTakenOver(this.#store.namespaceLabels(pod.namespace))) {
      this.#forget(pod.uid);
      return;
    }
    const { clock } = this.#store;
    const taints = this.#eviction.taintsOf(pod.nodeName);
    this.#spared.follow(now, pod, taints, clock, this.#deviceTime(pod));
    if (bearsOurMark(pod)) this.#marks.notice(now, pod.uid);
    else if (this.#marks.dueAt(pod.uid) !== null) this.#marks.forget(pod.uid);
  }

  /** When kube-controller-manager deletes it for its devices, by the cluster's clock; null: it does not. */
  #deviceTime(pod: Pod): Instant | null {
    const { devices } = this.#store;
    return this.#holdsDevices && pod.claims && devices ? devices.verdictOf(pod).at : null;
  }

  #forget(uid: string): void {
    this.#spared.forget(uid);
    this.#marks.forget(uid);
  }

  /** Records one Event about each pod that was spared. */
  #noteSpared(now: Instant): readonly MachineCommand[] {
    const commands: MachineCommand[] = [];
    const wall = (at: Instant): Instant => this.#store.clock.wall(at);
    for (const uid of this.#spared.takeDue(now)) {
      const pod = this.#store.pod(uid);
      if (!pod) continue;
      const state = this.#eviction.attemptOn(pod);
      if (isOnItsWay(state)) this.#spared.postpone(now, uid);
      else {
        this.#spared.spare(now, uid);
        commands.push(heldEvent(pod, this.#eviction.decisionOn(pod), state, wall));
      }
    }
    return commands;
  }

  /** Takes our mark from pods that do not go any more, or not yet. */
  #unmark(now: Instant): readonly MachineCommand[] {
    const commands: MachineCommand[] = [];
    for (const uid of this.#marks.takeDue(now)) {
      const pod = this.#store.pod(uid);
      if (!pod || !bearsOurMark(pod)) continue;
      if (isCalledOff(this.#eviction.attemptOn(pod))) {
        commands.push({ kind: 'unmarkPod', id: this.#marks.begin(uid), pod: podRef(pod) });
      } else this.#marks.postpone(uid, now + lookMs);
    }
    return commands;
  }
}

/** True when the pod has the mark that goes before a deletion, and we have set it. */
function bearsOurMark({ disruption, deletionTimestamp }: Pod): boolean {
  const { reason, manager } = disruption ?? {};
  const isOurs = isTaintReason(reason) && manager === takeoverProgram;
  return isOurs && deletionTimestamp === null;
}

function isOnItsWay(state: AttemptState | null): boolean {
  return state?.kind === 'requested' || state?.kind === 'accepted';
}

/** A request that failed is made again, and needs its mark. */
function isCalledOff(state: AttemptState | null): boolean {
  return state === null || state.kind === 'waiting' || state.kind === 'paused';
}

/** By then its five tries are over, and a pod released at once is on its way. */
const triesMs: Millis = 1_000;
/** Until a pod is looked at again that is on its way. */
const againMs: Millis = 1_000;
/** Found out about at once, and in a second: a node may have hundreds of pods. */
const [burst, perSecond] = [100, 20];

/** The facts by which kube-controller-manager goes; while they stay, so does its timer. */
interface Followed {
  readonly taints: string;
  readonly tolerations: readonly Toleration[];
  /** When the pod goes for its devices; null: it does not. */
  readonly deviceTime: Instant | null;
  readonly namespace: string;
  readonly isSpared: boolean;
}

/** The number of pods of a namespace that were spared since the start, and of those that are there. */
interface SparedCount {
  readonly spared: number;
  readonly held: number;
}

/** Keeps the timers that kube-controller-manager has for pods about which we decide. */
export class SparedPods {
  readonly #options: MatchOptions;
  readonly #followed = new Map<string, Followed>();
  /** The time of the next look at each pod that was not found to be spared. */
  readonly #looks = new Schedule();
  readonly #bucket = new TokenBucket(perSecond, burst);
  readonly #spared = new Map<string, number>();

  constructor(options: MatchOptions) {
    this.#options = options;
  }

  /**
   * Takes in a pod, with the taints of its node. The time of a pod that was there before us counts
   * from when the taints came and the pod was bound, as kube-controller-manager saw them come.
   * `deviceTime`: when it goes for its devices, as of now; null: it does not.
   */
  follow(
    now: Instant,
    pod: Pod,
    observed: readonly ObservedTaint[],
    clock: ClusterTime,
    deviceTime: Instant | null = null,
  ): void {
    const { uid, namespace, tolerations } = pod;
    if ((observed.length === 0 && deviceTime === null) || pod.deletionTimestamp !== null) {
      this.forget(uid);
      return;
    }
    const taints = observed.map(({ taint }) => formatTaint(taint)).join();
    const before = this.#followed.get(uid);
    // Its plan for devices is never frozen: with another time everything is looked at again.
    const known = before?.deviceTime === deviceTime ? before : undefined;
    if (known?.taints === taints && known.tolerations === tolerations) return;
    if (!known) this.#looks.cancel(uid);
    this.#followed.set(uid, { taints, tolerations, deviceTime, namespace, isSpared: false });
    const seenAt = ({ seenAt: at }: ObservedTaint): Instant => clock.since(now, at);
    const boundAt = clock.since(now, pod.boundAt === null ? null : endOfSecond(pod.boundAt));
    const past = known ? [] : observed.map(seenAt).sort((one, other) => one - other);
    for (const at of new Set([...past.map((came) => Math.max(came, boundAt)), now])) {
      this.#look(
        at,
        pod,
        observed.filter((one) => seenAt(one) <= at),
      );
    }
    if (deviceTime === null) return;
    const [at, ofNode] = [Math.max(now, clock.when(deviceTime)) + triesMs, this.#looks.at(uid)];
    this.#looks.set(uid, ofNode === null ? at : Math.min(at, ofNode));
  }

  /**
   * The earliest of its times counts. kube-controller-manager keeps the timer that it set first
   * (rule `first-timer-kept`), but may restart at any moment, and then uses the taints of that
   * moment.
   */
  #look(at: Instant, { uid, tolerations }: Pod, observed: readonly ObservedTaint[]): void {
    const taints = observed.map(({ taint }) => taint);
    const wait = upstreamWait(taints, tolerations, this.#options);
    if (wait.kind === 'forever') {
      this.#looks.cancel(uid);
      return;
    }
    const due = at + triesMs + (wait.kind === 'intolerable' ? 0 : wait.wait);
    if (due < (this.#looks.at(uid) ?? Number.POSITIVE_INFINITY)) this.#looks.set(uid, due);
  }

  forget(uid: string): void {
    this.#followed.delete(uid);
    this.#looks.cancel(uid);
  }

  nextWake(now: Instant): Instant | null {
    const next = this.#looks.next();
    return next === null ? null : Math.max(next, this.#bucket.readyAt(now));
  }

  /** The pods whose time has come by its rules, one by one. */
  *takeDue(now: Instant): Generator<string> {
    while (this.#bucket.readyAt(now) <= now) {
      const uid = this.#looks.takeDue(now);
      if (uid === null) return;
      yield uid;
    }
  }

  /** The pod is on its way; it may come back. */
  postpone(now: Instant, uid: string): void {
    this.#looks.set(uid, now + againMs);
  }

  /** The pod is there, and not on its way. */
  spare(now: Instant, uid: string): void {
    const followed = this.#followed.get(uid);
    if (!followed) return;
    this.#bucket.take(now);
    this.#followed.set(uid, { ...followed, isSpared: true });
    const { namespace } = followed;
    this.#spared.set(namespace, (this.#spared.get(namespace) ?? 0) + 1);
  }

  /** Counts from here on. */
  restart(): void {
    this.#spared.clear();
  }

  /** By namespace; those without any are left out. */
  counts(): ReadonlyMap<string, SparedCount> {
    const counts = new Map<string, SparedCount>();
    for (const [name, spared] of this.#spared) counts.set(name, { spared, held: 0 });
    for (const { namespace, isSpared } of this.#followed.values()) {
      const { spared, held } = counts.get(namespace) ?? { spared: 0, held: 0 };
      if (isSpared) counts.set(namespace, { spared, held: held + 1 });
    }
    return counts;
  }
}

/** Begins like the Event of kube-controller-manager, so that a search for that one finds both. */
const reason = 'TaintManagerEvictionHeld';

/** Says who decides about the pod, why it stays and until when; `wall` reads instants of our time. */
function heldEvent(
  pod: Pod,
  decision: Decision,
  state: AttemptState | null,
  wall: (at: Instant) => Instant,
): RecordPodEvent<Reason> {
  const { because } = decision;
  const name = `${pod.namespace}/${pod.name}`;
  const held = describeHeld(decision, state, wall);
  const message = `taintmgr decides about Pod ${name}, not kube-controller-manager: ${held}`;
  return podEvent(pod, 'Normal', reason, message, because);
}

function describeHeld(
  decision: Decision,
  state: AttemptState | null,
  wall: (at: Instant) => Instant,
): string {
  const [first] = decision.because;
  const why = first ? describeReason(first) : 'nothing makes it go';
  if (decision.kind === 'keep') return `${why}; it stays while that holds`;
  switch (state?.kind) {
    case 'queued': {
      if (state.hit === null) return `${why}; it waits for its turn`;
      const until =
        state.roomAt === null
          ? 'until there is room'
          : `until ${formatDeadline(wall(state.roomAt))}`;
      return `${why}; held by limit ${limitId(state.hit)} ${until}`;
    }
    case 'asked':
      return `${why}; ${state.hold}`;
    case 'blocked':
    case 'failed': {
      const { code, message } = blockerOf(state.setback);
      return `${why}; ${code}: ${message}; tried again at ${formatDeadline(wall(state.until))}`;
    }
    default:
  }
  if (decision.kind === 'evict') return `${why}; it goes at ${formatDeadline(decision.deadline)}`;
  if (first?.code !== 'Paused' || first.until !== null || first.zone !== undefined) return why;
  return `${why} until that is resumed`;
}
