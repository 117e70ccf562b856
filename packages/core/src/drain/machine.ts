// The drain machine: taints nodes in turn and makes their pods leave within budgets and limits.
import { blockerOf } from '../attempt/blocker.ts';
import type { PodCommand, RecordPodEvent } from '../attempt/command.ts';
import { escalationOf, methodFor, podCommand, type Terms } from '../attempt/delete-or-evict.ts';
import { isSetback, type Outcome, type Setback } from '../attempt/outcome.ts';
import { Pace } from '../attempt/pace.ts';
import { accepted, isDue, isTried, setBack } from '../attempt/state.ts';
import type { Event } from '../event.ts';
import { evictionEvent } from '../eviction/pod-events.ts';
import type { Reason } from '../eviction/reason.ts';
import { Schedule } from '../kernel/schedule.ts';
import { earliest, type Instant } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';
import { formatTaint } from '../model/taint-spec.ts';
import type { RenewMark } from './claims.ts';
import type { DrainConfig, DrainTarget } from './config.ts';
import { carriesTaint, DrainDecider } from './decide.ts';
import { claimAfter, departureOf, taintDeletionOf } from './departure.ts';
import { type Fate, fateOf, skipAt } from './fate.ts';
import { DrainNodes } from './nodes.ts';
import { DrainPods } from './pods.ts';
import { byDue, isQueued } from './queue.ts';
import {
  type DrainNode,
  type DrainNote,
  type DrainPod,
  type DrainPodState,
  type DrainStop,
  isDone,
  isStaying,
  isUnderWay,
  type TaintNode,
} from './state.ts';

const noLimit = Number.POSITIVE_INFINITY;
const outOfTurn = { kind: 'queued', hit: null } as const;

/** What a drain asks for. */
export type DrainCommand = PodCommand<Reason> | RecordPodEvent<Reason> | TaintNode | RenewMark;

/**
 * Drains nodes by a taint: each is tainted when its turn has come, and then the pods go that do not
 * tolerate the taint, each when its time is over.
 *
 * Theory of operation. Pods go by their uid, and each takes this way; what does not go at all is
 * `kept` or `left`:
 *
 *     waiting --due--> queued --turn and room--> requested --accepted--> accepted --> terminating --> gone
 *                       ^  ^                       |  |                     |              |
 *                       |  +- due -- blocked, <----+  +--> givenUp          |           too long
 *                       |             failed                                |              v
 *                       +---------------------------- unconfirmed ----------+           skipped
 *
 * A node begins when its turn has come, and ends when nothing more is expected of its pods, when its
 * time is over, or when it or its taint is gone. Events only change what is known; a tick acts. A pod that comes
 * back under the same name is another pod; one that comes to a target node late is drained as well.
 */
export class DrainMachine {
  readonly #config: DrainConfig;
  readonly #decider: DrainDecider;
  readonly #nodes: DrainNodes;
  readonly #pods = new DrainPods();
  readonly #schedule = new Schedule();
  readonly #pace: Pace;
  #synced = false;
  #stop: DrainStop | null = null;
  #notes: DrainNote[] = [];
  /** When there is something to do that no schedule names; null: nothing. */
  #actAt: Instant | null = null;

  constructor(config: DrainConfig) {
    this.#config = config;
    this.#decider = new DrainDecider(config.taint, config.respect);
    this.#nodes = new DrainNodes(config, (note) => this.#notes.push(note));
    this.#pace = new Pace('drain', config.requestsInFlightMax);
  }

  /** The target nodes, in their order. */
  nodes(): readonly DrainNode[] {
    return this.#nodes.list();
  }

  /** All pods of target nodes that were ever seen, in that order. */
  pods(): readonly DrainPod[] {
    return this.#pods.all();
  }

  /** Whether everything that existed has been seen once. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Whether every node is done with and no request is under way. */
  get finished(): boolean {
    return this.#nodes.allEnded && this.pods().every(({ awaitsAnswer }) => !awaitsAnswer);
  }

  /** Why the drain was stopped; null: it was not. */
  get stop(): DrainStop | null {
    return this.#stop;
  }

  /** One more node, after the others; what is known of it comes with events. */
  add(now: Instant, target: DrainTarget): void {
    this.#nodes.add(target, now);
    this.#actAt = now;
  }

  /** The turn of these nodes does not come, of all others it may. */
  hold(now: Instant, names: ReadonlySet<string>): void {
    this.#nodes.hold(names);
    this.#actAt = now;
  }

  /** Ends every node that is not done with: its time is over. */
  giveUp(now: Instant): void {
    this.#nodes.stop(now, 'TimedOut');
  }

  /** What becomes of a pod as things are. */
  fateOf(now: Instant, pod: Pod): Fate {
    return fateOf(now, pod, this.#decider, this.#config).fate;
  }

  /** What happened since the last call. */
  takeNotes(): readonly DrainNote[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /** Takes an event; the commands that it leads to come with a tick. `now` never goes back. */
  handle(now: Instant, event: Event): readonly DrainCommand[] {
    if (this.#decider.take(now, event)) this.#reconsiderAll(now);
    this.#actAt = now;
    switch (event.kind) {
      case 'nodeUpsert':
        this.#seen(now, event.node);
        this.#reconsiderOn(now, event.node.name);
        break;
      case 'nodeDelete':
        this.#nodes.vanished(now, event.name);
        break;
      case 'podUpsert':
        this.#reconsider(now, event.pod);
        this.#followDisruption(now, event.pod);
        break;
      case 'podDelete':
        this.#vanished(now, event.uid);
        break;
      case 'synced':
        this.#synced = true;
        this.#nodes.synced(now);
        break;
      case 'clock':
        this.#reconsiderAll(now);
        break;
      case 'result':
        this.#nodes.answered(now, event.id, event.outcome);
        this.#answered(now, event.id, event.outcome);
        break;
      case 'tick':
        return this.#synced ? this.#act(now) : [];
      default: // nothing that a drain depends on
    }
    return [];
  }

  /** The earliest instant at which a tick could yield something; null: only an event can. */
  nextWake(): Instant | null {
    if (!this.#synced || this.finished) return null;
    const pauseEnd = this.#decider.nextPauseEnd();
    return earliest([this.#actAt, this.#schedule.next(), this.#nodes.nextWake(), pauseEnd]);
  }

  #seen(now: Instant, node: Node): void {
    const { taint } = this.#config;
    const isMarked = node.drains?.some((drain) => drain.taint === formatTaint(taint)) === true;
    this.#nodes.seen(now, node.name, carriesTaint(node, taint), isMarked);
  }

  #act(now: Instant): readonly DrainCommand[] {
    this.#actAt = null;
    const taints = this.#nodes.begin(now);
    for (let uid = this.#schedule.takeDue(now); uid !== null; uid = this.#schedule.takeDue(now)) {
      this.#wake(now, uid);
    }
    const hasExpired = this.#nodes.expire(now, this.#pods);
    const commands = this.#dispatch(now);
    // The next node has its turn at once.
    if (this.#nodes.end(now, this.#pods) || hasExpired) this.#actAt = now;
    return [...taints, ...commands];
  }

  /** Does what was scheduled for now. */
  #wake(now: Instant, uid: string): void {
    const pod = this.#decider.store.pod(uid);
    const known = this.#pods.get(uid);
    if (!pod || !known) return;
    const { kind } = known.state;
    if (kind === 'terminating') this.#skipIfLong(now, pod, known);
    else if (isDue(known.state) || kind === 'accepted') this.#set(pod, outOfTurn);
    else this.#reconsider(now, pod);
  }

  #reconsiderAll(now: Instant): void {
    for (const { name } of this.#nodes.list()) this.#reconsiderOn(now, name);
  }

  #reconsiderOn(now: Instant, nodeName: string): void {
    for (const pod of this.#decider.store.podsOn(nodeName)) this.#reconsider(now, pod);
  }

  /** Moves a pod to where it belongs as things are; what is under way is left alone. */
  #reconsider(now: Instant, pod: Pod): void {
    const known = this.#pods.get(pod.uid);
    if (!this.#nodes.has(pod.nodeName)) return;
    if (!known && this.#nodes.isEnded(pod.nodeName)) return;
    const kind = known?.state.kind ?? 'kept';
    if (pod.deletionTimestamp === null) {
      const isOpen = kind === 'kept' || kind === 'waiting' || isDue({ kind });
      if (isOpen) this.#decide(now, pod, isTried({ kind }));
    } else if (!['terminating', 'skipped', 'left'].includes(kind)) {
      const state = { kind: 'terminating', since: now } as const;
      this.#skipIfLong(now, pod, this.#set(pod, state));
    } else if (known) {
      this.#skipIfLong(now, pod, known);
    }
  }

  /** `tried`: its next try comes in time, if it is still due. */
  #decide(now: Instant, pod: Pod, tried: boolean): void {
    const { fate, because } = fateOf(now, pod, this.#decider, this.#config);
    if ('faults' in fate) {
      const { faults } = fate;
      const left = this.#set(pod, { kind: 'left', faults }, { because, due: null });
      if (fate.kind === 'refuse') this.#notes.push({ kind: 'podLeft', pod: left, faults });
    } else if (fate.kind === 'hold') {
      this.#set(pod, outOfTurn, { because, due: null });
    } else if (fate.kind !== 'evict') {
      this.#set(pod, { kind: 'kept' }, { because, due: null });
    } else if (this.#nodes.isTainted(pod.nodeName) && fate.at > now) {
      const state = { kind: 'waiting', since: now, until: fate.at } as const;
      this.#set(pod, state, { because, due: fate.at });
    } else if (!tried) {
      // When its time is over shows when the taint is there.
      const due = this.#nodes.isTainted(pod.nodeName) ? fate.at : null;
      this.#set(pod, outOfTurn, { because, due });
    }
  }

  #skipIfLong(now: Instant, pod: Pod, known: DrainPod): void {
    const at = skipAt(pod, this.#config);
    if (at === null) return;
    if (at > now) {
      this.#schedule.set(pod.uid, at);
    } else if (known.state.kind === 'terminating') {
      this.#notes.push({ kind: 'podSkipped', pod: this.#set(pod, { kind: 'skipped' }) });
    }
  }

  /** Records which program removes a pod; the drain stops for one that asks no budgets. */
  #followDisruption(now: Instant, pod: Pod): void {
    const { disruption } = pod;
    const { nodeName } = pod;
    if (!disruption || !this.#nodes.has(nodeName)) return;
    const known = this.#pods.get(pod.uid);
    const by = taintDeletionOf(disruption, known?.deleted === true, this.#config);
    // What was marked before the taint came is of another taint.
    const isNews = by !== null && !known?.taken && !this.#nodes.isPending(nodeName);
    if (known) this.#set(pod, known.state, { disruption, taken: known.taken ?? by });
    if (isNews && this.#stopsForOthers && this.#stop === null)
      this.#stopFor(now, { pod: podRef(pod), by });
  }

  /** Whether it matters that another controller deletes pods: for our taint, without asking budgets. */
  get #stopsForOthers(): boolean {
    const { taint, budgets } = this.#config;
    return taint.effect === 'NoExecute' && budgets.kind !== 'ignore';
  }

  #stopFor(now: Instant, stop: DrainStop): void {
    this.#stop = stop;
    this.#notes.push({ kind: 'stopped', stop });
    this.#nodes.stop(now, 'ForeignEviction');
  }

  /** It is gone. The answer to a request that is out may say who deleted it. */
  #vanished(now: Instant, uid: string): void {
    const known = this.#pods.get(uid);
    this.#schedule.cancel(uid);
    if (!known || known.state.kind === 'gone') return;
    if (known.awaitsAnswer) this.#set(known.pod, known.state, { vanishedAt: now });
    else if (isStaying(known)) this.#pods.delete(uid);
    else this.#gone(now, known);
  }

  #gone(now: Instant, known: DrainPod): void {
    const departure = departureOf(known, this.#config.leaving.has(known.pod.uid));
    const pod = this.#set(known.pod, { kind: 'gone', at: now, departure });
    const took = pod.begunAt === null ? null : now - pod.begunAt;
    this.#notes.push({ kind: 'podGone', pod, took, departure });
  }

  /** Sends what is due on the nodes whose turn it is, the longest due first, as far as there is room. */
  #dispatch(now: Instant): readonly DrainCommand[] {
    const { podsAtOnceMax } = this.#config;
    const pods = this.pods();
    let room = (podsAtOnceMax || noLimit) - pods.filter(isUnderWay).length;
    const commands: DrainCommand[] = [];
    const queued = pods.filter(
      (pod) => isQueued(pod) && this.#nodes.mayEvict(now, pod.pod.nodeName),
    );
    for (const waiting of queued.sort(byDue)) {
      if (room <= 0 || !this.#pace.hasRoom) break;
      const pod = this.#decider.store.pod(waiting.pod.uid);
      if (!pod) continue;
      commands.push(...this.#send(now, pod, waiting));
      room -= 1;
    }
    return commands;
  }

  #send(now: Instant, pod: Pod, known: DrainPod): readonly DrainCommand[] {
    const { because, due } = known;
    const { budgets } = this.#config;
    const method = methodFor(now, known.budgetsAsked, pod, this.#terms(pod, due));
    const id = this.#pace.start(now, pod.uid);
    const sent = this.#set(
      pod,
      { kind: 'requested', id },
      {
        tries: known.tries + 1,
        begunAt: known.begunAt ?? now,
        deleted: method.kind === 'delete',
        awaitsAnswer: true,
      },
    );
    if (method.escalated && budgets.kind === 'deleteAfter') {
      this.#notes.push({ kind: 'podEscalated', pod: sent, waitedMs: budgets.afterMs });
    }
    const command = podCommand(id, pod, method, false, because);
    return known.tries === 0 ? [evictionEvent(pod, because), command] : [command];
  }

  /** A pod should have gone since it was due, and not before its node's turn came. */
  #terms({ nodeName }: PodRef, due: Instant | null): Terms {
    const { budgets, gracePeriodSeconds } = this.#config;
    const since = this.#nodes.begunAt(nodeName) ?? noLimit;
    const deadline = Math.max(due ?? since, since);
    return { deadline, budgets, gracePeriodSeconds, nodeEnd: null };
  }

  #answered(now: Instant, id: string, outcome: Outcome): void {
    const uid = this.#pace.finish(now, id, outcome);
    const before = uid === null ? null : this.#pods.get(uid);
    if (uid === null || !before) return;
    const claim = claimAfter(before.claim, outcome);
    const known = this.#set(before.pod, before.state, { claim, awaitsAnswer: false });
    if (known.vanishedAt !== null) this.#gone(known.vanishedAt, known);
    if (known.vanishedAt !== null || known.state.kind !== 'requested') return;
    if (isSetback(outcome)) this.#setBack(now, known, outcome);
    else if (outcome.kind === 'gone') this.#gone(now, known);
    else this.#set(known.pod, accepted(now, this.#config));
  }

  #setBack(now: Instant, known: DrainPod, setback: Setback): void {
    const { uid } = known.pod;
    const { once, budgets } = this.#config;
    const blocker = blockerOf(setback);
    const isFinal =
      blocker.verdict === 'never' && (blocker.code === 'Denied' || budgets.kind !== 'deleteAfter');
    if (once || isFinal) {
      const pod = this.#set(known.pod, { kind: 'givenUp' }, { blocker });
      this.#notes.push({ kind: 'podGivenUp', pod, blocker });
      return;
    }
    const seen = this.#decider.store.pod(uid);
    const escalateAt = seen && escalationOf(seen, this.#terms(known.pod, known.due));
    const { state, ...changed } = setBack(now, uid, known, setback, escalateAt, this.#config);
    const pod = this.#set(known.pod, state, { ...changed, blocker });
    this.#notes.push({ kind: 'podSetBack', pod, blocker });
  }

  #set(
    pod: PodRef,
    state: DrainPodState,
    changed: Partial<Omit<DrainPod, 'pod' | 'state'>> = {},
  ): DrainPod {
    if ('until' in state) this.#schedule.set(pod.uid, state.until);
    else if (isDone(state)) this.#schedule.cancel(pod.uid);
    return this.#pods.set(podRef(pod), { ...changed, state });
  }
}
