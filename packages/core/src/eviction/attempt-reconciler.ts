// Moves the attempt of each pod to match its decision.

import { isDue, isPending, setbackOf } from '../attempt/attempt.ts';
import { isUncertain } from '../attempt/blocker.ts';
import type { Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { OwnReplicas } from '../own-replicas.ts';
import type { StoreView } from '../store.ts';
import type { Attempts } from './attempts.ts';
import type { Decision, Eviction } from './decide.ts';
import type { Decider } from './decider.ts';
import type { MachineCommand } from './eviction-command.ts';
import type { EvictionLimits } from './limits/limits.ts';
import { cancelEvent, deadlineReport } from './pod-events.ts';
import type { Cause, Reason } from './reason.ts';
import type { TaintClockWriter } from './taint-clock-writer.ts';

/** The surroundings of the reconciler. */
export interface AttemptSite {
  readonly store: StoreView;
  readonly decider: Decider;
  readonly limits: EvictionLimits;
  readonly attempts: Attempts;
  readonly starts: TaintClockWriter;
  readonly replicas: OwnReplicas;
  /** True when it is on us to act, and to say so. */
  readonly mayAct: () => boolean;
  readonly emit: (command: MachineCommand) => void;
}

/**
 * Makes attempts what decisions want them to be: planned, moved to another deadline, paused or dropped.
 * A request that was sent cannot be called back, and stays.
 */
export class AttemptReconciler {
  readonly #site: AttemptSite;

  constructor(site: AttemptSite) {
    this.#site = site;
  }

  /**
   * Decides about the pod and moves its attempt to match. A sent eviction, and a pod that leaves
   * without a waiting attempt, are decided about only where limits count pods.
   */
  reconcile(now: Instant, pod: Pod, cause: Cause): void {
    if (cause !== 'ReplicaChanged' && this.#site.replicas.has(pod)) this.#site.replicas.touch();
    const attempt = this.#site.attempts.get(pod.uid);
    const isLeaving = pod.deletionTimestamp !== null;
    const isSent = attempt !== undefined && !isPending(attempt.state);
    const isOutOfOurHands = isSent || (isLeaving && !attempt);
    if (isOutOfOurHands && !this.#site.limits.countsPods) {
      if (isLeaving) this.#drop(now, pod, cause, []);
      return;
    }
    const decision = this.#site.decider.decide(pod);
    const { because } = decision;
    this.#site.limits.followPod(now, pod, decision);
    if (isLeaving) this.#drop(now, pod, cause, because);
    else if (isSent) return;
    else if (decision.kind === 'evict') this.#plan(now, pod, cause, decision);
    else if (decision.kind === 'pause') this.#pause(now, pod, cause, decision);
    else if (attempt) {
      this.#drop(now, pod, cause, because);
      // Each standby sees the same: one Event is enough.
      if (this.#site.mayAct()) this.#site.emit(cancelEvent(pod, because));
    }
  }

  /** The pod is gone. */
  gone(now: Instant, pod: Pod): void {
    this.#drop(now, pod, 'PodDeleted', []);
    this.#site.limits.gone(now, pod);
  }

  /** The cluster's clock was corrected: attempts that wait by it are scheduled again. */
  retime(now: Instant): void {
    for (const [uid, deadline, state] of this.#site.attempts.pending()) {
      const isOver = deadline <= this.#wall(now);
      if (state.kind === 'waiting' || !isOver) this.#waitFor(now, uid, deadline);
    }
  }

  /** A pod that is due keeps its turn unless it got more time; other limits may hold it than before. */
  #plan(now: Instant, pod: Pod, cause: Cause, decision: Eviction): void {
    const { deadline, because } = decision;
    const attempt = this.#site.attempts.get(pod.uid);
    const { state, deadline: from = null } = attempt ?? {};
    const wall = this.#wall(now);
    const isOver = deadline <= wall;
    if (state && isDue(state) && isOver) {
      const escalation = (): Instant | null =>
        this.#site.decider.escalationAt(wall, pod, deadline, because);
      this.#site.attempts.hasten(now, pod.uid, decision, escalation);
      if (state.kind === 'queued') this.#site.limits.askAnew(now);
      return;
    }
    if (attempt && state?.kind === 'waiting' && from === deadline) {
      if (attempt.decision) this.#site.attempts.set(pod.uid, { ...attempt, decision });
      return;
    }
    this.#waitFor(now, pod.uid, deadline, isOver ? decision : null);
    this.#site.starts.notice(now, pod.nodeName);
    if (from === null && isOver) return;
    this.#site.emit(deadlineReport(pod, from, deadline, cause, because));
  }

  /**
   * Other pods may have the room that it was given or asked for. `due`: the decision on a pod that
   * is due already.
   */
  #waitFor(now: Instant, uid: string, deadline: Instant, due: Eviction | null = null): void {
    this.#site.limits.drop(now, uid, false, setbackOf(this.#site.attempts.stateOf(uid)));
    this.#site.attempts.wait(now, uid, deadline, this.#site.store.clock.when(deadline), due);
  }

  #pause(
    now: Instant,
    pod: Pod,
    cause: Cause,
    { remaining, because }: Extract<Decision, { kind: 'pause' }>,
  ): void {
    const state = this.#site.attempts.stateOf(pod.uid);
    if (state?.kind === 'paused' && state.remaining === remaining) return;
    this.#drop(now, pod, cause, because);
    this.#site.attempts.pause(pod.uid, remaining);
  }

  /** Ends the attempt, and reports it if it was still waiting for the deadline. */
  #drop(now: Instant, pod: Pod, cause: Cause, because: readonly Reason[]): void {
    const { state = null, deadline = null } = this.#site.attempts.get(pod.uid) ?? {};
    this.#site.attempts.delete(pod.uid);
    const leaves = cause === 'PodDeleted' || pod.deletionTimestamp !== null;
    const setback = setbackOf(state);
    this.#site.limits.drop(now, pod.uid, leaves, setback);
    if (deadline === null || !state || !isPending(state)) return;
    const unanswered = leaves && setback !== null && isUncertain(setback);
    this.#site.emit(deadlineReport(pod, deadline, null, cause, because, unanswered));
  }

  #wall(now: Instant): Instant {
    return this.#site.store.clock.wall(now);
  }
}
