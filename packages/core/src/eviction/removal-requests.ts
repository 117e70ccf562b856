// The requests that make pods leave: who of those that are due may go, and what the answers mean.

import { accepted, isPending, setBack } from '../attempt/attempt.ts';
import { methodFor, podCommand } from '../attempt/delete-or-evict.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { Pace } from '../attempt/pace.ts';
import { assert } from '../kernel/checks.ts';
import { earlier, type Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { AttemptReconciler, AttemptSite } from './attempt-reconciler.ts';
import type { EvictionConfig } from './config.ts';
import type { Eviction } from './decide.ts';
import type { EvictionAttempt } from './decider.ts';
import { isNews } from './limits/limits.ts';
import {
  evictionEvent,
  interceptionEvent,
  interceptionNews,
  nodeEndEvent,
  queuedReport,
  retryReport,
} from './pod-events.ts';
import type { TaintRequests } from './requests/taint-requests.ts';

/** The surroundings of requests. */
interface RemovalSite extends AttemptSite {
  readonly reconciler: AttemptReconciler;
  readonly config: EvictionConfig;
  readonly asks: TaintRequests;
}

/** Sends the evictions that are due and may be sent, and moves their attempts by the results. */
export class RemovalRequests {
  readonly #site: RemovalSite;
  readonly #pace: Pace;
  /** The time at which one of those in line may have a place; null: after an answer. */
  #placeAt: Instant | null = null;
  /** Limits may let a pod through for which there was no place. */
  #asksOnAnswer = false;

  constructor(site: RemovalSite) {
    this.#site = site;
    this.#pace = new Pace('eviction', site.config.evictionsInFlightMax);
  }

  /**
   * The time at which a pod is due, may ask limits again or has a place after all; null: after an
   * event.
   */
  nextWake(): Instant | null {
    const due = earlier(this.#site.attempts.nextWake(), this.#site.limits.queue.nextWake());
    return this.#site.attempts.hasLine ? earlier(due, this.#placeAt) : due;
  }

  /**
   * Sends the evictions that are due and may be sent. While there are places for all, the pods go
   * by when they are due; those that have to wait for one stand in line by namespace, and the
   * namespaces take turns.
   */
  sendDue(now: Instant): void {
    for (;;) {
      const since = this.#site.attempts.nextWake();
      const uid = this.#site.attempts.takeDue(now);
      if (since === null || uid === null) break;
      if (this.#pace.hasRoom && !this.#site.attempts.hasLine) this.#actOn(now, uid);
      else this.#site.attempts.standInLine(uid, this.#known(uid).namespace, since);
    }
    const underWayOf = (namespace: string): number => this.#pace.underWayOf(namespace);
    const hasRoom = (namespace: string): boolean => this.#hasRoom(now, namespace);
    for (;;) {
      const uid = this.#site.attempts.takeTurn(underWayOf, hasRoom);
      if (uid === null) break;
      this.#actOn(now, uid);
    }
    this.#placeAt = this.#nextPlace(this.#site.attempts.waitingNamespaces());
    this.#askLimits(now);
  }

  /** Pods that limits held back ask again, and as soon as there may be a place if there is none. */
  #askLimits(now: Instant): void {
    const asking = this.#site.limits.queue.ask(now);
    // Those that wait for an answer still do.
    if (asking.length === 0) return;
    const without = new Set<string>();
    for (const uid of asking) {
      const { namespace } = this.#known(uid);
      if (this.#hasRoom(now, namespace)) this.#actOn(now, uid, true);
      else without.add(namespace);
    }
    const at = this.#nextPlace(without);
    if (at !== null) this.#site.limits.queue.requeue(at);
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
    if (uid !== null) this.#site.replicas.answered(uid, outcome);
    this.#placeAt = now;
    if (this.#asksOnAnswer) this.#site.limits.queue.requeue(now);
    const attempt = uid === null ? undefined : this.#site.attempts.get(uid);
    if (uid === null || attempt?.state.kind !== 'requested' || attempt.state.id !== id) return;
    if (!isSetback(outcome)) {
      this.#site.limits.leave(now, uid);
      this.#site.attempts.put(uid, { ...attempt, state: accepted(now, this.#site.config) });
      this.#site.limits.queue.delete(uid);
      return;
    }
    const pod = this.#known(uid);
    this.#site.limits.failed(now, uid, outcome);
    const { kind, because } = this.#site.decider.decideOnce(pod, attempt);
    const { deadline } = attempt;
    const escalateAt =
      kind === 'evict' && deadline !== null
        ? this.#site.decider.escalationAt(this.#wall(now), pod, deadline, because)
        : null;
    const failed = setBack(now, uid, attempt, outcome, escalateAt, this.#site.config);
    const news = interceptionNews(now, attempt.interception, outcome);
    this.#site.attempts.put(uid, { ...attempt, ...failed, ...(news && { interception: news }) });
    this.#site.limits.queue.delete(uid);
    this.#site.reconciler.reconcile(now, pod, 'EvictionFailed');
    if (this.#site.attempts.stateOf(uid) !== failed.state) return;
    this.#site.emit(retryReport(pod, attempt.tries, this.#wall(failed.state.until), outcome));
    if (news) this.#site.emit(interceptionEvent(pod, news));
  }

  #actOn(now: Instant, uid: string, isItsTurn = false): void {
    const pod = this.#known(uid);
    const attempt = this.#site.attempts.get(uid);
    assert(attempt !== undefined, `pod ${uid} that is due has an attempt`);
    const { state } = attempt;
    if (state.kind === 'accepted') {
      this.#site.attempts.delete(uid);
      this.#site.reconciler.reconcile(now, pod, 'EvictionUnconfirmed');
      this.#site.attempts.doubt(uid);
      return;
    }
    assert(isPending(state), `pod ${uid} was waiting for its turn`);
    // No event came that could have moved the deadline. But another replica of ours may have been sent away a moment
    // ago.
    const decision = this.#site.decider.decideOnce(pod, attempt);
    if (decision.because[0]?.code === 'LastReplica') {
      this.#site.reconciler.reconcile(now, pod, 'ReplicaChanged');
      return;
    }
    assert(decision.kind === 'evict', `pod ${uid} is due, so it is to be evicted`);
    assert(decision.deadline <= this.#wall(now), `pod ${uid} is not evicted before its deadline`);
    const asks = isItsTurn || 'setback' in state || state.kind === 'asked';
    if (!asks && !this.#site.limits.isFirst(now, pod, decision.deadline)) return;
    // A pod whose eviction is requested has its place.
    const isIn = state.kind === 'asked' || this.#isAdmitted(now, pod, attempt, decision);
    if (isIn && !this.#waitsForOthers(now, pod, attempt, decision))
      this.#send(now, pod, attempt, decision);
  }

  #waitsForOthers(now: Instant, pod: Pod, attempt: EvictionAttempt, decision: Eviction): boolean {
    const held = this.#site.asks.holdOf(now, pod, decision.because);
    if (held === null) return false;
    const { deadline } = decision;
    const state = { kind: 'asked', ...held } as const;
    this.#site.attempts.put(pod.uid, { ...attempt, deadline, decision, state });
    return true;
  }

  #isAdmitted(now: Instant, pod: Pod, attempt: EvictionAttempt, decision: Eviction): boolean {
    const { deadline, because } = decision;
    const refusal = this.#site.limits.admit(now, pod, deadline, because);
    if (!refusal) return true;
    const { hit, until } = refusal;
    const state = { kind: 'queued', hit, roomAt: until } as const;
    this.#site.attempts.set(pod.uid, { ...attempt, deadline, decision, state });
    const before = attempt.state.kind === 'queued' ? attempt.state.hit : null;
    const roomAt = until === null ? null : this.#wall(until);
    if (isNews(hit, before)) this.#site.emit(queuedReport(pod, hit, roomAt));
    return false;
  }

  #send(now: Instant, pod: Pod, attempt: EvictionAttempt, decision: Eviction): void {
    const { deadline, because } = decision;
    const tries = attempt.tries + 1;
    const id = this.#pace.start(now, pod.uid, pod.namespace);
    const state = { kind: 'requested', id } as const;
    this.#site.attempts.set(pod.uid, { ...attempt, tries, deadline, decision, state });
    this.#site.replicas.sent(pod);
    if (tries === 1) this.#site.emit(evictionEvent(pod, because));
    const wall = this.#wall(now);
    const terms = this.#site.decider.terms(wall, pod, deadline, because);
    const method = methodFor(wall, attempt.budgetsAsked, pod, terms);
    if (method.nodeEnd !== null) this.#site.emit(nodeEndEvent(pod, method.nodeEnd));
    const confirm = this.#site.decider.isDoubtful(pod, attempt, because);
    this.#site.emit(podCommand(id, pod, method, confirm, because));
  }

  #known(uid: string): Pod {
    const pod = this.#site.store.pod(uid);
    assert(pod !== null, `pod ${uid} with an attempt is in the store`);
    return pod;
  }

  #wall(now: Instant): Instant {
    return this.#site.store.clock.wall(now);
  }
}
