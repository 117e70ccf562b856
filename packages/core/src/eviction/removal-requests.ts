// The requests that make pods leave: who of those that are due may go, and what the answers mean.

import { accepted, isPending, setBack } from '../attempt/attempt.ts';
import { methodFor, podCommand } from '../attempt/delete-or-evict.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { Pace } from '../attempt/pace.ts';
import { assert } from '../kernel/assert.ts';
import { earlier, type Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { OwnReplicas } from '../own-replicas.ts';
import type { StoreView } from '../store.ts';
import type { AttemptReconciler } from './attempt-reconciler.ts';
import type { Attempts } from './attempts.ts';
import type { EvictionConfig } from './config.ts';
import type { Eviction } from './decide.ts';
import type { Decider, EvictionAttempt } from './decider.ts';
import type { MachineCommand } from './eviction-command.ts';
import { type EvictionLimits, isNews } from './limits/limits.ts';
import {
  evictionEvent,
  interceptionEvent,
  interceptionNews,
  nodeEndEvent,
  queuedReport,
  retryReport,
} from './pod-events.ts';

/** The surroundings of requests. */
interface RemovalSite {
  readonly store: StoreView;
  readonly decider: Decider;
  readonly limits: EvictionLimits;
  readonly attempts: Attempts;
  readonly reconciler: AttemptReconciler;
  readonly replicas: OwnReplicas;
  readonly emit: (command: MachineCommand) => void;
}

/** Sends what is due and may go, and moves its attempt by what comes of it. */
export class RemovalRequests {
  readonly #config: EvictionConfig;
  readonly #store: StoreView;
  readonly #decider: Decider;
  readonly #limits: EvictionLimits;
  readonly #attempts: Attempts;
  readonly #reconciler: AttemptReconciler;
  readonly #replicas: OwnReplicas;
  readonly #emit: (command: MachineCommand) => void;
  readonly #pace: Pace;
  /** When one of those that stand in line may have a place; null: not before an answer. */
  #placeAt: Instant | null = null;
  /** Limits may let somebody through for whom there was no place. */
  #asksOnAnswer = false;

  constructor(site: RemovalSite, config: EvictionConfig) {
    const { store, decider, limits, attempts, reconciler, replicas, emit } = site;
    this.#config = config;
    this.#store = store;
    this.#decider = decider;
    this.#limits = limits;
    this.#attempts = attempts;
    this.#reconciler = reconciler;
    this.#replicas = replicas;
    this.#emit = emit;
    this.#pace = new Pace('eviction', config.evictionsInFlightMax);
  }

  /** When some pod is due, may ask limits again or has a place after all; null: not before an event. */
  nextWake(): Instant | null {
    const due = earlier(this.#attempts.nextWake(), this.#limits.queue.nextWake());
    return this.#attempts.hasLine ? earlier(due, this.#placeAt) : due;
  }

  /**
   * Sends what is due and may go. While there are places for all, the pods go by when they are due; those
   * that have to wait for one stand in line by namespace, and the namespaces take turns.
   */
  sendDue(now: Instant): void {
    for (;;) {
      const since = this.#attempts.nextWake();
      const uid = this.#attempts.takeDue(now);
      if (since === null || uid === null) break;
      if (this.#pace.hasRoom && !this.#attempts.hasLine) this.#actOn(now, uid);
      else this.#attempts.standInLine(uid, this.#known(uid).namespace, since);
    }
    const underWayOf = (namespace: string): number => this.#pace.underWayOf(namespace);
    const hasRoom = (namespace: string): boolean => this.#hasRoom(now, namespace);
    for (;;) {
      const uid = this.#attempts.takeTurn(underWayOf, hasRoom);
      if (uid === null) break;
      this.#actOn(now, uid);
    }
    this.#placeAt = this.#nextPlace(this.#attempts.waitingNamespaces());
    this.#askLimits(now);
  }

  /** Those that limits held back ask again, and as soon as there may be a place if there is none. */
  #askLimits(now: Instant): void {
    const without = new Set<string>();
    for (const uid of this.#limits.queue.ask(now)) {
      const { namespace } = this.#known(uid);
      if (this.#hasRoom(now, namespace)) this.#actOn(now, uid, true);
      else without.add(namespace);
    }
    const at = this.#nextPlace(without);
    if (at !== null) this.#limits.queue.requeue(at);
    this.#asksOnAnswer = without.size > 0;
  }

  #hasRoom(now: Instant, namespace: string): boolean {
    const at = this.#pace.roomAt(namespace);
    return at !== null && at <= now;
  }

  /** When the first of these namespaces has room, unless an answer comes before. */
  #nextPlace(namespaces: Iterable<string>): Instant | null {
    let first: Instant | null = null;
    let isAsked = false;
    for (const namespace of namespaces) {
      const isUnderWay = this.#pace.underWayOf(namespace) > 0;
      // All without a request under way have room at the same time.
      if (!isUnderWay && isAsked) continue;
      isAsked ||= !isUnderWay;
      first = earlier(first, this.#pace.roomAt(namespace));
    }
    return first;
  }

  /** A result for an attempt that was dropped meanwhile only frees its place. */
  answered(now: Instant, id: string, outcome: Outcome): void {
    const uid = this.#pace.finish(now, id, outcome);
    if (uid !== null) this.#replicas.answered(uid, outcome);
    this.#placeAt = now;
    if (this.#asksOnAnswer) this.#limits.queue.requeue(now);
    const attempt = uid === null ? undefined : this.#attempts.get(uid);
    if (uid === null || attempt?.state.kind !== 'requested' || attempt.state.id !== id) return;
    if (!isSetback(outcome)) {
      this.#limits.leave(now, uid);
      this.#attempts.put(uid, { ...attempt, state: accepted(now, this.#config) });
      this.#limits.queue.delete(uid);
      return;
    }
    const pod = this.#known(uid);
    this.#limits.failed(now, uid, outcome);
    const { kind, because } = this.#decider.decideOnce(pod, attempt);
    const { deadline } = attempt;
    const escalateAt =
      kind === 'evict' && deadline !== null
        ? this.#decider.escalationAt(this.#wall(now), pod, deadline, because)
        : null;
    const failed = setBack(now, uid, attempt, outcome, escalateAt, this.#config);
    const news = interceptionNews(now, attempt.interception, outcome);
    this.#attempts.put(uid, { ...attempt, ...failed, ...(news && { interception: news }) });
    this.#limits.queue.delete(uid);
    this.#reconciler.reconcile(now, pod, 'EvictionFailed');
    if (this.#attempts.stateOf(uid) !== failed.state) return;
    this.#emit(retryReport(pod, attempt.tries, this.#wall(failed.state.until), outcome));
    if (news) this.#emit(interceptionEvent(pod, news));
  }

  #actOn(now: Instant, uid: string, isItsTurn = false): void {
    const pod = this.#known(uid);
    const attempt = this.#attempts.get(uid);
    assert(attempt !== undefined, `pod ${uid} that is due has an attempt`);
    const { state } = attempt;
    if (state.kind === 'accepted') {
      this.#attempts.delete(uid);
      this.#reconciler.reconcile(now, pod, 'EvictionUnconfirmed');
      this.#attempts.doubt(uid);
      return;
    }
    assert(isPending(state), `pod ${uid} was waiting for its turn`);
    // No event came that could have moved the deadline. But another replica of ours may have been sent away a moment
    // ago.
    const decision = this.#decider.decideOnce(pod, attempt);
    if (decision.because[0]?.code === 'LastReplica') {
      this.#reconciler.reconcile(now, pod, 'ReplicaChanged');
      return;
    }
    assert(decision.kind === 'evict', `pod ${uid} is due, so it is to be evicted`);
    assert(decision.deadline <= this.#wall(now), `pod ${uid} is not evicted before its deadline`);
    const asks = isItsTurn || 'setback' in state;
    if (!asks && !this.#limits.isFirst(now, pod, decision.deadline)) return;
    if (this.#isAdmitted(now, pod, attempt, decision)) this.#send(now, pod, attempt, decision);
  }

  #isAdmitted(now: Instant, pod: Pod, attempt: EvictionAttempt, decision: Eviction): boolean {
    const { deadline, because } = decision;
    const refusal = this.#limits.admit(now, pod, deadline, because);
    if (!refusal) return true;
    const { hit, until } = refusal;
    const state = { kind: 'queued', hit, roomAt: until } as const;
    this.#attempts.set(pod.uid, { ...attempt, deadline, decision, state });
    const before = attempt.state.kind === 'queued' ? attempt.state.hit : null;
    const roomAt = until === null ? null : this.#wall(until);
    if (isNews(hit, before)) this.#emit(queuedReport(pod, hit, roomAt));
    return false;
  }

  #send(now: Instant, pod: Pod, attempt: EvictionAttempt, decision: Eviction): void {
    const { deadline, because } = decision;
    const tries = attempt.tries + 1;
    const id = this.#pace.start(now, pod.uid, pod.namespace);
    const state = { kind: 'requested', id } as const;
    this.#attempts.set(pod.uid, { ...attempt, tries, deadline, decision, state });
    this.#replicas.sent(pod);
    if (tries === 1) this.#emit(evictionEvent(pod, because));
    const wall = this.#wall(now);
    const terms = this.#decider.terms(wall, pod, deadline, because);
    const method = methodFor(wall, attempt.budgetsAsked, pod, terms);
    if (method.nodeEnd !== null) this.#emit(nodeEndEvent(pod, method.nodeEnd));
    const confirm = this.#decider.isDoubtful(pod, attempt, because);
    this.#emit(podCommand(id, pod, method, confirm, because));
  }

  #known(uid: string): Pod {
    const pod = this.#store.pod(uid);
    assert(pod !== null, `pod ${uid} with an attempt is in the store`);
    return pod;
  }

  #wall(now: Instant): Instant {
    return this.#store.clock.wall(now);
  }
}
