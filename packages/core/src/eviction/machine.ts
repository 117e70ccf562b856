// The precise eviction machine: when each pod of a tainted node goes, and what comes of it.
import { blockerOf, isAnswered } from '../attempt/blocker.ts';
import { escalationOf, methodFor, podCommand } from '../attempt/method.ts';
import type { Outcome } from '../attempt/outcome.ts';
import { Pace } from '../attempt/pace.ts';
import { nextTry } from '../attempt/retry.ts';
import type { Event } from '../event.ts';
import { assert } from '../kernel/assert.ts';
import { InFlight } from '../kernel/inflight.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant } from '../kernel/time.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';
import type { LimitStatus } from '../policy/limit.ts';
import type { Change, StoreView } from '../store.ts';
import type { LimitReport, MachineCommand, PodReport } from './command.ts';
import type { EvictionConfig } from './config.ts';
import type { Decision } from './decide.ts';
import type { EvictionMachine } from './eviction-machine.ts';
import { Judge } from './judge.ts';
import { Admissions, isNews } from './limits/admissions.ts';
import { cancelEvent, evictionEvent, nodeEndEvent } from './pod-events.ts';
import type { Cause, Reason } from './reason.ts';
import { type ObservedTaint, TaintClock } from './taint-clock.ts';
import { TaintClockWriter } from './taint-clock-writer.ts';
import { attemptsOf, deadlineOf, isPending, type Pending, type Work } from './work.ts';

type Eviction = Extract<Decision, { kind: 'evict' }>;

/**
 * Evicts pods from nodes with NoExecute taints, in time.
 *
 * Theory of operation. Each pod that has to go is one piece of work, keyed by its uid:
 *
 *                          limit
 *                       +-> held ---+
 *                       |           v
 *     (none) --> waiting --due--> sending --accepted--> sent --the watch--> (none)
 *                 |  ^  ^             |  ^                 |
 *              pause |  |          failed |due             |
 *                 v  |  |             v  |                 |
 *               paused  +---later--- retrying              |
 *                       +-----------------unconfirmed------+
 *
 * Every event that touches a pod or its node's taints makes the machine decide again (decide.ts)
 * and move the work to match: a deadline may come earlier, later or go away until the eviction is
 * sent. A failed attempt never ends the work; only the pod's leaving or a decision to keep it does.
 * The schedule holds one instant for each piece of work that waits: its deadline, its next attempt,
 * or when an eviction that was accepted but never seen to happen is decided anew.
 *
 * Events only tell; a tick acts. So whatever comes in together is seen together: a taint that was
 * put on and taken off while nobody listened costs no pod. Before `synced` and without leadership
 * nothing is sent, but everything is decided, so that the first tick afterwards acts at once.
 */
export class PreciseEvictionMachine implements EvictionMachine {
  readonly #config: EvictionConfig;
  readonly #store: StoreView;
  readonly #judge: Judge;
  readonly #admissions: Admissions;
  readonly #starts: TaintClockWriter;
  readonly #taints = new TaintClock();
  readonly #work = new Map<string, Work>();
  readonly #schedule = new Schedule();
  readonly #inFlight: InFlight;
  readonly #pace: Pace;
  #synced = false;
  #leader: boolean;
  #commands: MachineCommand[] = [];

  constructor(store: StoreView, config: EvictionConfig) {
    this.#store = store;
    this.#config = config;
    this.#leader = config.leader;
    this.#judge = new Judge(store, this.#taints, config);
    this.#admissions = new Admissions(store, this.#judge, config);
    this.#starts = new TaintClockWriter(store, this.#taints, this.#judge, config);
    this.#inFlight = new InFlight('eviction', config.evictionsInFlightMax);
    this.#pace = new Pace(config.evictionsInFlightMax);
  }

  handle(now: Instant, event: Event, change: Change | null): readonly MachineCommand[] {
    this.#commands = [];
    this.#take(now, event);
    if (change) this.#follow(now, change);
    if (event.kind === 'tick' && this.#mayAct()) this.#act(now);
    return this.#commands;
  }

  nextWake(): Instant | null {
    if (!this.#mayAct()) return null;
    const evictions = this.#pace.hasRoom ? [this.#schedule.next(), this.#admissions.nextAsk()] : [];
    const others = [this.#starts.nextWake(), this.#admissions.nextWake()];
    const wakes = [...evictions, ...others].filter((wake) => wake !== null);
    return wakes.length === 0 ? null : Math.min(...wakes);
  }

  taintsOf(nodeName: string): readonly ObservedTaint[] {
    return this.#taints.of(nodeName);
  }

  decisionOn(pod: Pod): Decision {
    return this.#judge.decide(pod);
  }

  workOn({ uid }: PodRef): Work | null {
    return this.#work.get(uid) ?? null;
  }

  limits(now: Instant): readonly LimitStatus[] {
    return this.#admissions.limits(now);
  }

  #mayAct(): boolean {
    return this.#synced && this.#leader;
  }

  #take(now: Instant, event: Event): void {
    switch (event.kind) {
      case 'synced':
        this.#synced = true;
        return;
      case 'leadership':
        this.#leader = event.held;
        this.#admissions.lead(event.held);
        return;
      case 'result':
        if (this.#starts.settle(now, event.id, event.outcome)) return;
        if (this.#admissions.settle(now, event.id, event.outcome)) return;
        this.#settle(now, event.id, event.outcome);
        return;
      case 'pauseDeadlines':
        this.#reconsiderOn(now, this.#taints.pause(this.#wall(now), event.scope), 'Paused');
        return;
      case 'resumeDeadlines':
        this.#reconsiderOn(now, this.#taints.resume(this.#wall(now), event.scope), 'Resumed');
        return;
      case 'clock':
        this.#retime(now);
        return;
      case 'resumeEvictions':
      case 'limitRecord':
        this.#commands.push(...this.#admissions.take(now, event));
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
        this.#admissions.gone(now, change.previous);
        return;
      case 'lease': // a matter of the node lifecycle
    }
  }

  #followNode(now: Instant, { name, node, afterGap }: Extract<Change, { kind: 'node' }>): void {
    if (node) this.#starts.notice(now, name);
    else this.#starts.forget(name);
    this.#admissions.followNode(name);
    if (!this.#taints.update(this.#wall(now), name, node, afterGap)) return;
    this.#reconsiderOn(now, [name], node ? 'NodeChanged' : 'NodeDeleted');
  }

  #reconsiderOn(now: Instant, nodeNames: readonly string[], cause: Cause): void {
    for (const name of nodeNames) {
      for (const pod of this.#store.podsOn(name)) this.#reconsider(now, pod, cause);
    }
  }

  /** Decides about the pod and moves its work to match. */
  #reconsider(now: Instant, pod: Pod, cause: Cause): void {
    const decision = this.decisionOn(pod);
    this.#admissions.followPod(now, pod, decision);
    switch (decision.kind) {
      case 'evict':
        this.#plan(now, pod, cause, decision);
        return;
      case 'pause':
        this.#pause(now, pod, cause, decision);
        return;
      case 'keep':
        if (pod.deletionTimestamp === null) this.#cancel(now, pod, cause, decision.because);
        else this.#drop(now, pod, cause, decision.because);
    }
  }

  /** What was sent cannot be called back, and what is due keeps its turn unless it got more time. */
  #plan(now: Instant, pod: Pod, cause: Cause, { deadline, because }: Eviction): void {
    const work = this.workOn(pod);
    if (work && !isPending(work)) return;
    const isDue = deadline <= this.#wall(now);
    if ((work?.kind === 'retrying' || work?.kind === 'held') && isDue) return;
    const from = deadlineOf(work);
    if (work?.kind === 'waiting' && from === deadline) return;
    this.#waitFor(now, pod.uid, deadline);
    this.#starts.notice(now, pod.nodeName);
    if (from !== null || !isDue) this.#tellDeadline(pod, from, deadline, cause, because);
  }

  #waitFor(now: Instant, uid: string, deadline: Instant): void {
    const at = this.#store.clock.when(deadline);
    this.#put(uid, { kind: 'waiting', deadline, since: now }, at);
  }

  /** The cluster's clock was found to be other than we thought: what waits for it comes anew. */
  #retime(now: Instant): void {
    for (const [uid, work] of this.#work) {
      const deadline = isPending(work) ? deadlineOf(work) : null;
      if (deadline === null) continue;
      const isDue = deadline <= this.#wall(now);
      if (work.kind === 'waiting' || !isDue) this.#waitFor(now, uid, deadline);
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
    const work = this.workOn(pod);
    if (work && !isPending(work)) return;
    if (work?.kind === 'paused' && work.remaining === remaining) return;
    this.#drop(now, pod, cause, because);
    this.#work.set(pod.uid, { kind: 'paused', remaining });
  }

  #cancel(now: Instant, pod: Pod, cause: Cause, because: readonly Reason[]): void {
    const work = this.workOn(pod);
    if (!work || !isPending(work)) return;
    this.#drop(now, pod, cause, because);
    this.#commands.push(cancelEvent(pod, because));
  }

  /** Ends the work, telling it if somebody was still waiting for the deadline. */
  #drop(now: Instant, pod: Pod, cause: Cause, because: readonly Reason[]): void {
    const work = this.workOn(pod);
    this.#work.delete(pod.uid);
    this.#schedule.cancel(pod.uid);
    const leaves = cause === 'PodDeleted' || pod.deletionTimestamp !== null;
    const setback = work?.kind === 'retrying' ? work.setback : null;
    this.#admissions.drop(now, pod.uid, leaves, setback);
    const from = work && isPending(work) ? deadlineOf(work) : null;
    if (from !== null) this.#tellDeadline(pod, from, null, cause, because);
  }

  /** Sends what is due and may go, and writes down what has to be. */
  #act(now: Instant): void {
    while (this.#pace.hasRoom) {
      const uid = this.#schedule.takeDue(now);
      if (uid === null) break;
      this.#actOn(now, uid);
    }
    for (const uid of this.#admissions.ask(now)) {
      if (this.#pace.hasRoom) this.#actOn(now, uid, true);
      else this.#admissions.askLater(now);
    }
    this.#commands.push(...this.#admissions.act(now), ...this.#starts.write(now));
  }

  #actOn(now: Instant, uid: string, isItsTurn = false): void {
    const pod = this.#known(uid);
    const work = this.#work.get(uid);
    assert(work !== undefined, `pod ${uid} that is due has work`);
    if (work.kind === 'sent') {
      this.#work.delete(uid);
      this.#reconsider(now, pod, 'EvictionUnconfirmed');
      return;
    }
    assert(isPending(work), `pod ${uid} was waiting for its turn`);
    // Deciding again must agree: no event came that could have moved the deadline.
    const decision = this.decisionOn(pod);
    assert(decision.kind === 'evict', `pod ${uid} is due, so it is to be evicted`);
    assert(decision.deadline <= this.#wall(now), `pod ${uid} is not evicted before its deadline`);
    const asks = isItsTurn || work.kind === 'retrying';
    if (!asks && !this.#admissions.isFirst(now, pod, decision.deadline)) return;
    if (this.#isAdmitted(now, pod, work, decision)) this.#send(now, pod, work, decision);
  }

  #isAdmitted(now: Instant, pod: Pod, work: Pending, { deadline, because }: Eviction): boolean {
    const refusal = this.#admissions.admit(now, pod, deadline, because);
    if (!refusal) return true;
    const { hit, until } = refusal;
    const attempts = attemptsOf(work);
    this.#work.set(pod.uid, { kind: 'held', deadline, attempts, hit, until });
    const told = { hit, until: until === null ? null : this.#wall(until) };
    const before = work.kind === 'held' ? work.hit : null;
    if (isNews(hit, before)) this.#tell({ kind: 'held', pod: podRef(pod), ...told });
    return false;
  }

  #send(now: Instant, pod: Pod, work: Pending, { deadline, because }: Eviction): void {
    const attempt = attemptsOf(work) + 1;
    const id = this.#inFlight.start(pod.uid);
    this.#pace.sent(now, id);
    this.#work.set(pod.uid, { kind: 'sending', id, attempt, deadline });
    if (attempt === 1) this.#commands.push(evictionEvent(pod, because));
    const asked = work.kind === 'retrying' && isAnswered(blockerOf(work.setback));
    const wall = this.#wall(now);
    const method = methodFor(wall, asked, pod, this.#judge.terms(wall, pod, deadline, because));
    if (method.nodeEnd !== null) this.#commands.push(nodeEndEvent(pod, method.nodeEnd));
    const confirm = this.#isDoubtful(now, pod, work, deadline);
    this.#commands.push(podCommand(id, pod, method, confirm, because));
  }

  /** What we know may be old: a live read found it so, or it should have gone long ago. */
  #isDoubtful(now: Instant, { nodeName }: Pod, work: Pending, deadline: Instant): boolean {
    if (this.#store.podView(nodeName) !== 'watched') return true;
    if (work.kind === 'retrying') return work.setback.kind === 'changed';
    return this.#wall(now) - deadline > this.#config.confirmLateMs;
  }

  /** A result for work that was dropped meanwhile only frees its place. */
  #settle(now: Instant, id: string, outcome: Outcome): void {
    const uid = this.#inFlight.finish(id);
    this.#pace.answered(now, id, outcome);
    const work = uid === null ? undefined : this.#work.get(uid);
    if (uid === null || work?.kind !== 'sending' || work.id !== id) return;
    const { attempt, deadline } = work;
    if (outcome.kind === 'done' || outcome.kind === 'gone') {
      this.#admissions.accepted(now, uid);
      const at = now + this.#config.confirmationWaitMs;
      this.#put(uid, { kind: 'sent', deadline, since: now }, at);
      return;
    }
    const pod = this.#known(uid);
    this.#admissions.failed(now, uid, outcome);
    const escalateAt = this.#escalationOf(now, pod, deadline);
    const at = nextTry(now, uid, attempt, outcome, escalateAt, this.#config);
    this.#put(uid, { kind: 'retrying', deadline, attempt, at, setback: outcome }, at);
    this.#reconsider(now, pod, 'EvictionFailed');
    if (this.#work.get(uid)?.kind !== 'retrying') return;
    const blocker = blockerOf(outcome);
    const told = { attempt, at: this.#wall(at), setback: outcome, blocker };
    this.#tell({ kind: 'retry', pod: podRef(pod), ...told });
  }

  /** When budgets are asked no more about a pod, by our own time; null: never. */
  #escalationOf(now: Instant, pod: Pod, deadline: Instant): Instant | null {
    const { kind, because } = this.decisionOn(pod);
    if (kind !== 'evict') return null;
    const at = escalationOf(pod, this.#judge.terms(this.#wall(now), pod, deadline, because));
    return at === null ? null : this.#store.clock.when(at);
  }

  #put(uid: string, work: Work, at: Instant): void {
    this.#work.set(uid, work);
    this.#admissions.withdraw(uid);
    this.#schedule.set(uid, at);
  }

  #known(uid: string): Pod {
    const pod = this.#store.pod(uid);
    assert(pod !== null, `pod ${uid} with work is in the store`);
    return pod;
  }

  #tellDeadline(
    pod: Pod,
    from: Instant | null,
    to: Instant | null,
    cause: Cause,
    because: readonly Reason[],
  ): void {
    this.#tell({ kind: 'deadline', pod: podRef(pod), from, to, cause, because });
  }

  #tell(report: PodReport | LimitReport): void {
    this.#commands.push({ kind: 'report', report });
  }
}
