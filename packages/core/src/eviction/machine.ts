import { assert } from '../assert.ts';
import type { Command, Report, Setback } from '../command.ts';
import type { Config } from '../config.ts';
import type { Event, Outcome } from '../event.ts';
import { InFlight, nextAttempt } from '../inflight.ts';
import type { EvictionMachine } from '../machine.ts';
import { type Node, type Pod, type PodRef, podRef } from '../model.ts';
import type { Cause, Reason } from '../reason.ts';
import { Schedule } from '../schedule.ts';
import type { Change, StoreView } from '../store.ts';
import type { Instant } from '../time.ts';
import { type Decision, decide } from './decide.ts';
import { cancelEvent, evictionEvent } from './pod-events.ts';
import { type ObservedTaint, TaintLedger } from './taint-ledger.ts';
import type { Work } from './work.ts';

/**
 * Evicts pods from nodes with NoExecute taints, in time.
 *
 * Theory of operation. Each pod that has to go is one piece of work, keyed by its uid:
 *
 *     (none) --decided--> waiting --due--> sending --accepted--> sent --the watch--> (none)
 *                            ^               |  ^                 |
 *                            |            failed |due             |
 *                            |               v  |                 |
 *                            +---later--- retrying                |
 *                            +----------------unconfirmed---------+
 *
 * Every event that touches a pod or its node's taints makes the machine decide again (decide.ts)
 * and move the work to match: a deadline may come earlier, later or go away until the eviction is
 * sent. A failed attempt never ends the work; only the pod's leaving or a decision to keep it does.
 * The schedule holds one instant for each piece of work that waits: its deadline, its next attempt,
 * or when an eviction that was accepted but never seen to happen is decided anew.
 *
 * Before `synced` and without leadership nothing is sent, but everything is decided, so that the
 * first event afterwards acts at once.
 */
export class PreciseEvictionMachine implements EvictionMachine {
  readonly #config: Config;
  readonly #store: StoreView;
  readonly #taints = new TaintLedger();
  readonly #work = new Map<string, Work>();
  readonly #schedule = new Schedule();
  readonly #inFlight: InFlight;
  #synced = false;
  #leader: boolean;
  #commands: Command[] = [];

  constructor(store: StoreView, config: Config) {
    this.#store = store;
    this.#config = config;
    this.#leader = config.leader;
    this.#inFlight = new InFlight('eviction', config.evictionsInFlightMax);
  }

  handle(now: Instant, event: Event, change: Change | null): readonly Command[] {
    this.#commands = [];
    if (event.kind === 'synced') this.#synced = true;
    if (event.kind === 'leadership') this.#leader = event.held;
    if (event.kind === 'result') this.#settle(now, event.id, event.outcome);
    if (change) this.#follow(now, change);
    while (this.#mayAct()) {
      const uid = this.#schedule.takeDue(now);
      if (uid === null) break;
      this.#actOn(now, uid);
    }
    return this.#commands;
  }

  nextWake(): Instant | null {
    return this.#mayAct() ? this.#schedule.next() : null;
  }

  taintsOf(nodeName: string): readonly ObservedTaint[] {
    return this.#taints.of(nodeName);
  }

  decisionOn(pod: Pod): Decision {
    const node = this.#store.node(pod.nodeName);
    return decide(pod, node, this.#taints.of(pod.nodeName), this.#config);
  }

  workOn({ uid }: PodRef): Work | null {
    return this.#work.get(uid) ?? null;
  }

  #mayAct(): boolean {
    return this.#synced && this.#leader && this.#inFlight.hasRoom;
  }

  #follow(now: Instant, change: Change): void {
    switch (change.kind) {
      case 'node':
        this.#followNode(now, change.name, change.node);
        return;
      case 'pod':
        this.#reconsider(now, change.pod, 'PodChanged');
        return;
      case 'podGone':
        this.#drop(change.previous, 'PodDeleted', []);
    }
  }

  #followNode(now: Instant, name: string, node: Node | null): void {
    if (!this.#taints.update(now, name, node)) return;
    const cause = node ? 'NodeChanged' : 'NodeDeleted';
    for (const pod of this.#store.podsOn(name)) this.#reconsider(now, pod, cause);
  }

  /** Decides about the pod and moves its work to match. */
  #reconsider(now: Instant, pod: Pod, cause: Cause): void {
    const decision = this.decisionOn(pod);
    if (decision.kind === 'evict') this.#plan(now, pod, cause, decision);
    else if (pod.deletionTimestamp !== null) this.#drop(pod, cause, decision.because);
    else this.#cancel(pod, cause, decision.because);
  }

  /** What was sent cannot be called back, and what failed keeps its turn unless it got more time. */
  #plan(now: Instant, pod: Pod, cause: Cause, { deadline, because }: Eviction): void {
    const work = this.workOn(pod);
    if (work?.kind === 'sending' || work?.kind === 'sent') return;
    if (work?.kind === 'retrying' && deadline <= now) return;
    const from = work?.deadline ?? null;
    if (work?.kind === 'waiting' && from === deadline) return;
    this.#put(pod.uid, { kind: 'waiting', deadline, since: now }, deadline);
    if (from !== null || deadline > now) this.#tellDeadline(pod, from, deadline, cause, because);
  }

  #cancel(pod: Pod, cause: Cause, because: readonly Reason[]): void {
    const work = this.workOn(pod);
    if (work?.kind !== 'waiting' && work?.kind !== 'retrying') return;
    this.#drop(pod, cause, because);
    this.#commands.push(cancelEvent(pod, because));
  }

  /** Ends the work, telling it if somebody was still waiting for the deadline. */
  #drop(pod: Pod, cause: Cause, because: readonly Reason[]): void {
    const work = this.workOn(pod);
    this.#work.delete(pod.uid);
    this.#schedule.cancel(pod.uid);
    if (work?.kind !== 'waiting' && work?.kind !== 'retrying') return;
    this.#tellDeadline(pod, work.deadline, null, cause, because);
  }

  #actOn(now: Instant, uid: string): void {
    const pod = this.#known(uid);
    const work = this.#work.get(uid);
    assert(work !== undefined && work.kind !== 'sending', `pod ${uid} was waiting for its turn`);
    if (work.kind === 'sent') {
      this.#work.delete(uid);
      this.#reconsider(now, pod, 'EvictionUnconfirmed');
    } else {
      this.#send(now, pod, work);
    }
  }

  /** Deciding again must agree: no event came that could have moved the deadline. */
  #send(now: Instant, pod: Pod, work: Extract<Work, { kind: 'waiting' | 'retrying' }>): void {
    const decision = this.decisionOn(pod);
    assert(decision.kind === 'evict', `pod ${pod.uid} is due, so it is to be evicted`);
    assert(decision.deadline <= now, `pod ${pod.uid} is not evicted before its deadline`);
    const { because, deadline } = decision;
    const attempt = work.kind === 'retrying' ? work.attempt + 1 : 1;
    const id = this.#inFlight.start(pod.uid);
    this.#work.set(pod.uid, { kind: 'sending', id, attempt, deadline });
    if (attempt === 1) this.#commands.push(evictionEvent(pod, because));
    const target = { id, pod: podRef(pod), because };
    this.#commands.push(
      this.#config.mode === 'delete'
        ? { kind: 'deletePod', ...target, guard: 'uid', generation: pod.generation }
        : { kind: 'evictPod', ...target },
    );
  }

  /** A result for work that was dropped meanwhile only frees its place. */
  #settle(now: Instant, id: string, outcome: Outcome): void {
    const uid = this.#inFlight.finish(id);
    const work = uid === null ? undefined : this.#work.get(uid);
    if (uid === null || work?.kind !== 'sending' || work.id !== id) return;
    const { attempt, deadline } = work;
    if (outcome.kind === 'done' || outcome.kind === 'gone') {
      const at = now + this.#config.confirmationWaitMs;
      this.#put(uid, { kind: 'sent', deadline, since: now }, at);
      return;
    }
    const pod = this.#known(uid);
    const at = this.#retryAt(now, uid, attempt, outcome);
    this.#put(uid, { kind: 'retrying', deadline, attempt, at, setback: outcome }, at);
    this.#reconsider(now, pod, 'EvictionFailed');
    if (this.#work.get(uid)?.kind !== 'retrying') return;
    this.#tell({ kind: 'retry', pod: podRef(pod), attempt, at, setback: outcome });
  }

  #retryAt(now: Instant, uid: string, attempt: number, setback: Setback): Instant {
    const { retryWaitMsMin: min, retryWaitMsMax: max, blockedRetryWaitMs } = this.#config;
    if (setback.kind === 'blocked') return now + (setback.retryAfter ?? blockedRetryWaitMs);
    return nextAttempt(now, uid, attempt, { min, max }, setback.retryAfter);
  }

  #put(uid: string, work: Work, at: Instant): void {
    this.#work.set(uid, work);
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

  #tell(report: Report): void {
    this.#commands.push({ kind: 'report', report });
  }
}

type Eviction = Extract<Decision, { kind: 'evict' }>;
