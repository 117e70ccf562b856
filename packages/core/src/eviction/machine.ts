// The precise eviction machine: when each pod of a tainted node goes, and what comes of it.
import type { BudgetPolicy } from '../attempt/budget-policy.ts';
import { methodFor, podCommand } from '../attempt/delete-or-evict.ts';
import { isSetback, type Outcome } from '../attempt/outcome.ts';
import { Pace } from '../attempt/pace.ts';
import type { AttemptState } from '../attempt/state.ts';
import { accepted, isDue, isPending, setBack, setbackOf } from '../attempt/state.ts';
import type { Event } from '../event.ts';
import { assert } from '../kernel/assert.ts';
import { earlier, type Instant } from '../kernel/time.ts';
import { hasSameLabels } from '../model/node.ts';
import type { Pod, PodRef } from '../model/pod.ts';
import type { LimitStatus } from '../policy/limit.ts';
import type { Change, NodeChange, StoreView } from '../store.ts';
import { Attempts } from './attempts.ts';
import type { MachineCommand } from './command.ts';
import type { EvictionConfig } from './config.ts';
import type { Decision, Eviction } from './decide.ts';
import { Decider, type EvictionAttempt } from './decider.ts';
import { Drains } from './drains.ts';
import type { EvictionMachine } from './eviction-machine.ts';
import { interceptionEvent, interceptionNews } from './interception.ts';
import { EvictionLimits, isNews } from './limits/limits.ts';
import { Pauses } from './pauses.ts';
import { cancelEvent, evictionEvent, nodeEndEvent } from './pod-events.ts';
import type { Cause, Reason } from './reason.ts';
import { deadlineReport, queuedReport, retryReport } from './reports.ts';
import { type ObservedTaint, TaintClock } from './taint-clock.ts';
import { TaintClockWriter } from './taint-clock-writer.ts';

/**
 * Evicts pods from nodes with NoExecute taints, in time.
 *
 * Theory of operation. Each pod that has to go is one attempt (attempt/state.ts), keyed by its uid:
 *
 *                           limit
 *                       +-> queued ---+
 *                       |             v
 *     (none) --> waiting --due--> requested --accepted--> accepted --the watch--> (none)
 *                 |  ^  ^             |  ^                   |
 *              pause |  |     refused |  | due               |
 *                 v  |  |             v  |                   |
 *               paused  +-later-- blocked, failed            |
 *                       +-----------------unconfirmed--------+
 *
 * Every event that touches a pod or its node's taints makes the machine decide again (decide.ts)
 * and move the attempt to match: a deadline may come earlier, later or go away until the eviction is
 * sent. A failed try never ends the attempt; only the pod's leaving or a decision to keep it does.
 * The schedule holds one instant for each attempt that waits: its deadline, its next try,
 * or when an eviction that was accepted but never seen to happen is decided anew.
 *
 * Events only change what is known; a tick acts. So whatever comes in together is seen together: a
 * taint that was put on and taken off during an outage of the watch costs no pod. Before `synced` and without leadership
 * nothing is sent, but everything is decided, so that the first tick afterwards acts at once.
 */
export class PreciseEvictionMachine implements EvictionMachine {
  readonly #config: EvictionConfig;
  readonly #store: StoreView;
  readonly #decider: Decider;
  readonly #limits: EvictionLimits;
  readonly #starts: TaintClockWriter;
  readonly #taints = new TaintClock();
  readonly #pauses: Pauses;
  readonly #drains = new Drains();
  readonly #attempts = new Attempts();
  readonly #pace: Pace;
  #synced = false;
  #leader: boolean;
  #commands: MachineCommand[] = [];

  constructor(store: StoreView, config: EvictionConfig) {
    this.#store = store;
    this.#config = config;
    this.#leader = config.leader;
    this.#pauses = new Pauses(store);
    this.#decider = new Decider(store, this.#taints, this.#pauses, this.#drains, config);
    this.#limits = new EvictionLimits(store, this.#decider, this.#attempts, config);
    this.#starts = new TaintClockWriter(store, this.#taints, this.#pauses, this.#decider, config);
    this.#pace = new Pace('eviction', config.evictionsInFlightMax);
  }

  handle(now: Instant, event: Event, changes: readonly Change[]): readonly MachineCommand[] {
    this.#commands = [];
    this.#take(now, event);
    for (const change of changes) this.#follow(now, change);
    this.#reconsiderOn(now, this.#drains.takeStale(now), 'DrainStale');
    if (event.kind === 'tick' && this.#mayAct()) this.#act(now);
    return this.#commands;
  }

  nextWake(): Instant | null {
    const drains = this.#drains.nextWake();
    if (!this.#mayAct()) return drains;
    const records = earlier(this.#starts.nextWake(), this.#limits.record.nextWake());
    const others = earlier(records, drains);
    if (!this.#pace.hasRoom) return others;
    return earlier(others, earlier(this.#attempts.nextWake(), this.#limits.queue.nextWake()));
  }

  taintsOf(nodeName: string): readonly ObservedTaint[] {
    const observed = this.#taints.of(nodeName);
    return observed.map((taint) => this.#decider.counted(nodeName, taint, null));
  }

  decisionOn(pod: Pod): Decision {
    return this.#decider.decide(pod);
  }

  budgetsOf(pod: Pod, { because }: Decision): BudgetPolicy {
    return this.#decider.budgetsOf(pod, because);
  }

  deletedAt(now: Instant, pod: Pod, { deadline, because }: Eviction): Instant | null {
    return this.#decider.deletedAt(this.#wall(now), pod, deadline, because);
  }

  attemptOn({ uid }: PodRef): AttemptState | null {
    return this.#attempts.stateOf(uid);
  }

  limits(now: Instant): readonly LimitStatus[] {
    return this.#limits.record.limits(now);
  }

  #mayAct = (): boolean => this.#synced && this.#leader;

  #take(now: Instant, event: Event): void {
    switch (event.kind) {
      case 'synced':
        this.#synced = true;
        return;
      case 'leadership':
        this.#leader = event.held;
        this.#limits.record.lead(event.held);
        return;
      case 'result': {
        if (this.#starts.answered(now, event.id, event.outcome)) return;
        const reports = this.#limits.answered(now, event.id, event.outcome);
        if (reports) this.#commands = [...this.#commands, ...reports];
        else this.#answered(now, event.id, event.outcome);
        return;
      }
      case 'clock':
        this.#retime(now);
        return;
      case 'view':
        this.#drains.setView(now, event.current);
        return;
      case 'resumeEvictions':
      case 'limitRecord':
        this.#commands.push(...this.#limits.take(now, event));
        return;
      default: // what it says of objects, the store has taken
    }
  }

  #follow(now: Instant, change: Change): void {
    switch (change.kind) {
      case 'node':
        this.#followNode(now, change);
        return;
      case 'pod':
        this.#reconsider(now, change.pod, 'PodChanged');
        return;
      case 'podGone':
        this.#drop(now, change.previous, 'PodDeleted', []);
        this.#limits.gone(now, change.previous);
        return;
      case 'policy':
        this.#limits.followPolicies(now);
        this.#reconsiderOn(now, [...this.#taints.nodes()], 'PolicyChanged');
        return;
      case 'namespace':
        this.#reconsiderIn(now, change.name);
        return;
      case 'pause':
      case 'pauseEnd': {
        const isOver = change.kind === 'pauseEnd' || change.pause === null;
        const moved = this.#pauses.follow(this.#wall(now), change);
        for (const name of moved) this.#starts.notice(now, name);
        this.#reconsiderOn(now, moved, isOver ? 'Resumed' : 'Paused');
        return;
      }
      default: // a matter of the node lifecycle
    }
  }

  #followNode(now: Instant, change: NodeChange): void {
    const { name, node, previous } = change;
    if (node) this.#starts.notice(now, name);
    else this.#starts.forget(name);
    this.#limits.followNode(name);
    const wall = this.#wall(now);
    const isNews = this.#taints.update(wall, change);
    const isTainted = this.#taints.of(name).length > 0;
    const isMoved = this.#pauses.followNode(wall, name, isTainted);
    const isLeft = this.#drains.followNode(now, name, node);
    const hasPolicies = isTainted && this.#store.policies().length > 0;
    const isOther = hasPolicies && !hasSameLabels(node, previous);
    if (!isNews && !isMoved && !isLeft && !isOther) return;
    this.#reconsiderOn(now, [name], node ? 'NodeChanged' : 'NodeDeleted');
  }

  /** The labels of a namespace are others: policies may look at them, and so does a takeover. */
  #reconsiderIn(now: Instant, namespace: string): void {
    const isAsked = this.#store.policies().some(({ match }) => match.namespaces?.selector);
    if (!isAsked && !this.#config.takeover) return;
    this.#limits.followPolicies(now);
    for (const name of [...this.#taints.nodes()]) {
      for (const pod of this.#store.podsOn(name))
        if (pod.namespace === namespace) this.#reconsider(now, pod, 'PolicyChanged');
    }
  }

  #reconsiderOn(now: Instant, nodeNames: readonly string[], cause: Cause): void {
    for (const name of nodeNames) {
      for (const pod of this.#store.podsOn(name)) this.#reconsider(now, pod, cause);
    }
  }

  /**
   * Decides about the pod and moves its attempt to match; what was sent cannot be called back, so that
   * about it only limits that count pods have to know.
   */
  #reconsider(now: Instant, pod: Pod, cause: Cause): void {
    if (this.#isSent(pod) && !this.#limits.countsPods) return;
    const decision = this.decisionOn(pod);
    const { because } = decision;
    this.#limits.followPod(now, pod, decision);
    const attempt = this.#attempts.get(pod.uid);
    if (pod.deletionTimestamp !== null) this.#drop(now, pod, cause, because);
    else if (this.#isSent(pod)) return;
    else if (decision.kind === 'evict') this.#plan(now, pod, cause, decision);
    else if (decision.kind === 'pause') this.#pause(now, pod, cause, decision);
    else if (attempt) {
      this.#drop(now, pod, cause, because);
      this.#commands.push(cancelEvent(pod, because));
    }
  }

  /** Whether its eviction is under way or accepted, and it is not on its way out yet. */
  #isSent({ uid, deletionTimestamp }: Pod): boolean {
    const attempt = this.#attempts.get(uid);
    return deletionTimestamp === null && attempt !== undefined && !isPending(attempt.state);
  }

  /** What is due keeps its turn unless it got more time. */
  #plan(now: Instant, pod: Pod, cause: Cause, { deadline, because }: Eviction): void {
    const { state, deadline: from = null } = this.#attempts.get(pod.uid) ?? {};
    const wall = this.#wall(now);
    const isOver = deadline <= wall;
    if (state && isDue(state) && isOver) {
      const escalation = (): Instant | null => this.#decider.escalationAt(wall, pod, deadline);
      this.#attempts.hasten(now, pod.uid, deadline, escalation);
      return;
    }
    if (state?.kind === 'waiting' && from === deadline) return;
    this.#waitFor(now, pod.uid, deadline);
    this.#starts.notice(now, pod.nodeName);
    if (from === null && isOver) return;
    this.#commands.push(deadlineReport(pod, from, deadline, cause, because));
  }

  /** Others may have the room that it was given or asked for. */
  #waitFor(now: Instant, uid: string, deadline: Instant): void {
    this.#limits.drop(now, uid, false, setbackOf(this.#attempts.stateOf(uid)));
    this.#attempts.wait(now, uid, deadline, this.#store.clock.when(deadline));
  }

  /** The cluster's clock was corrected: what waits by it is scheduled anew. */
  #retime(now: Instant): void {
    for (const [uid, deadline, state] of this.#attempts.pending()) {
      const isOver = deadline <= this.#wall(now);
      if (state.kind === 'waiting' || !isOver) this.#waitFor(now, uid, deadline);
    }
  }

  #wall(now: Instant): Instant {
    return this.#store.clock.wall(now);
  }

  #pause(
    now: Instant,
    pod: Pod,
    cause: Cause,
    { remaining, because }: Extract<Decision, { kind: 'pause' }>,
  ): void {
    const state = this.attemptOn(pod);
    if (state?.kind === 'paused' && state.remaining === remaining) return;
    this.#drop(now, pod, cause, because);
    this.#attempts.pause(pod.uid, remaining);
  }

  /** Ends the attempt, and reports it if somebody was still waiting for the deadline. */
  #drop(now: Instant, pod: Pod, cause: Cause, because: readonly Reason[]): void {
    const { state = null, deadline = null } = this.#attempts.get(pod.uid) ?? {};
    this.#attempts.delete(pod.uid);
    const leaves = cause === 'PodDeleted' || pod.deletionTimestamp !== null;
    this.#limits.drop(now, pod.uid, leaves, setbackOf(state));
    if (deadline === null || !state || !isPending(state)) return;
    this.#commands.push(deadlineReport(pod, deadline, null, cause, because));
  }

  /** Sends what is due and may go, and writes down what has to be. */
  #act(now: Instant): void {
    while (this.#pace.hasRoom) {
      const uid = this.#attempts.takeDue(now);
      if (uid === null) break;
      this.#actOn(now, uid);
    }
    for (const uid of this.#limits.queue.ask(now)) {
      if (this.#pace.hasRoom) this.#actOn(now, uid, true);
      // Everyone asks again as soon as there is room for more requests.
      else this.#limits.queue.requeue(now);
    }
    this.#commands.push(...this.#limits.record.act(now), ...this.#starts.write(now));
  }

  #actOn(now: Instant, uid: string, isItsTurn = false): void {
    const pod = this.#known(uid);
    const attempt = this.#attempts.get(uid);
    assert(attempt !== undefined, `pod ${uid} that is due has an attempt`);
    const { state } = attempt;
    if (state.kind === 'accepted') {
      this.#attempts.delete(uid);
      this.#reconsider(now, pod, 'EvictionUnconfirmed');
      this.#attempts.doubt(uid);
      return;
    }
    assert(isPending(state), `pod ${uid} was waiting for its turn`);
    // Deciding again must agree: no event came that could have moved the deadline.
    const decision = this.decisionOn(pod);
    assert(decision.kind === 'evict', `pod ${uid} is due, so it is to be evicted`);
    assert(decision.deadline <= this.#wall(now), `pod ${uid} is not evicted before its deadline`);
    const asks = isItsTurn || 'setback' in state;
    if (!asks && !this.#limits.isFirst(now, pod, decision.deadline)) return;
    if (this.#isAdmitted(now, pod, attempt, decision)) this.#send(now, pod, attempt, decision);
  }

  #isAdmitted(
    now: Instant,
    pod: Pod,
    attempt: EvictionAttempt,
    { deadline, because }: Eviction,
  ): boolean {
    const refusal = this.#limits.admit(now, pod, deadline, because);
    if (!refusal) return true;
    const { hit, until } = refusal;
    const state = { kind: 'queued', hit, roomAt: until } as const;
    this.#attempts.set(pod.uid, { ...attempt, deadline, state });
    const before = attempt.state.kind === 'queued' ? attempt.state.hit : null;
    const roomAt = until === null ? null : this.#wall(until);
    if (isNews(hit, before)) this.#commands.push(queuedReport(pod, hit, roomAt));
    return false;
  }

  #send(now: Instant, pod: Pod, attempt: EvictionAttempt, { deadline, because }: Eviction): void {
    const tries = attempt.tries + 1;
    const id = this.#pace.start(now, pod.uid);
    this.#attempts.set(pod.uid, { ...attempt, tries, deadline, state: { kind: 'requested', id } });
    if (tries === 1) this.#commands.push(evictionEvent(pod, because));
    const wall = this.#wall(now);
    const terms = this.#decider.terms(wall, pod, deadline, because);
    const method = methodFor(wall, attempt.budgetsAsked, pod, terms);
    if (method.nodeEnd !== null) this.#commands.push(nodeEndEvent(pod, method.nodeEnd));
    const confirm = this.#decider.isDoubtful(pod, attempt, because);
    this.#commands.push(podCommand(id, pod, method, confirm, because));
  }

  /** A result for an attempt that was dropped meanwhile only frees its place. */
  #answered(now: Instant, id: string, outcome: Outcome): void {
    const uid = this.#pace.finish(now, id, outcome);
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
    const escalateAt = this.#decider.escalationAt(this.#wall(now), pod, attempt.deadline);
    const failed = setBack(now, uid, attempt, outcome, escalateAt, this.#config);
    const news = interceptionNews(now, attempt.interception, outcome);
    this.#attempts.put(uid, { ...attempt, ...failed, ...(news && { interception: news }) });
    this.#limits.queue.delete(uid);
    this.#reconsider(now, pod, 'EvictionFailed');
    if (this.attemptOn(pod) !== failed.state) return;
    this.#commands.push(retryReport(pod, attempt.tries, this.#wall(failed.state.until), outcome));
    if (news) this.#commands.push(interceptionEvent(pod, news));
  }

  #known(uid: string): Pod {
    const pod = this.#store.pod(uid);
    assert(pod !== null, `pod ${uid} with an attempt is in the store`);
    return pod;
  }
}
