import type { Instant, Millis } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { MatchOptions } from '../model/toleration.ts';
import type { Hold, PausedTime } from './paused-time.ts';
import type { Reason } from './reason.ts';
import {
  deadlineOf,
  endOfTime,
  startOf,
  type TaintCase,
  type TaintReason,
  taintReason,
} from './taint-reason.ts';

/** The verdict on one pod. `because` begins with the reason that decided. */
export type Decision =
  | { readonly kind: 'keep'; readonly because: readonly Reason[] }
  /** To be evicted at `deadline`; in the past means at once. */
  | { readonly kind: 'evict'; readonly deadline: Instant; readonly because: readonly Reason[] }
  /** Deadlines are paused; when they go on it has `remaining` left, negative when overdue. */
  | { readonly kind: 'pause'; readonly remaining: Millis; readonly because: readonly Reason[] };

/** That a pod goes. */
export type Eviction = Extract<Decision, { readonly kind: 'evict' }>;

/** Which pods are left alone, beside static ones and those that already terminate. */
export interface LeaveOptions {
  /** Pods in phase Succeeded or Failed. */
  readonly finishedPods: boolean;
  /** Pods of a DaemonSet that tolerate the taint for a while: successors would come straight back. */
  readonly returningDaemonSetPods: boolean;
  /** Pods whose owner asked for it by annotation. */
  readonly optedOutPods: boolean;
}

/** What decisions depend on besides the objects. */
export interface DecideOptions extends MatchOptions {
  readonly leave: LeaveOptions;
}

/** A taint of the pod's node, with what governs the two and when their deadlines stood still. */
export interface Concern extends Omit<TaintCase, 'pod' | 'pauses'> {
  readonly paused: PausedTime;
}

/** What one taint comes to. */
interface Judged {
  readonly reason: TaintReason;
  readonly deadline: Instant;
  /** Its deadline stands still; null: it runs, or there is none. */
  readonly hold: Hold | null;
}

/**
 * Decides about one pod, keep it or evict it at an instant. Each NoExecute taint of its node gives a
 * deadline by the policy that counts for pod and taint (taint-reason.ts), and the earliest of those
 * that run acts, by its own policy: a taint whose policy keeps the pod, or whose deadline is paused,
 * does not hold up another. Times kept in whole seconds count from their end, so that no pod goes
 * earlier than it may. The machine that acts and everyone who explains call this. `concerns` is asked
 * only where taints matter to the pod: most changes of a mass eviction are of pods that go already.
 */
export function decide(
  pod: Pod,
  node: Node | null,
  concerns: () => readonly Concern[],
  options: DecideOptions,
): Decision {
  const exempt = exemption(pod, node, options.leave);
  if (exempt) return { kind: 'keep', because: [exempt] };
  const judged = concerns().map((concern) => judge(pod, concern, options));
  const [first] = judged;
  if (!first) return { kind: 'keep', because: [{ code: 'NoTaint' }] };
  const [acting, held] = [earliestOf(judged), earliestHeld(judged)];
  const reasons = inOrder(acting ?? held ?? keeping(judged) ?? first, judged);
  if (options.leave.returningDaemonSetPods && isReturning(pod, reasons)) {
    const isStaying = judged.every(({ deadline }) => deadline >= endOfTime);
    const because = isStaying ? reasons : [{ code: 'ReturningDaemonSetPod' } as const, ...reasons];
    return { kind: 'keep', because };
  }
  if (acting) {
    const because = held ? [...reasons, pausedReason(held.hold)] : reasons;
    return { kind: 'evict', deadline: acting.deadline, because };
  }
  if (!held) return { kind: 'keep', because: reasons };
  const because = [pausedReason(held.hold), ...reasons];
  return { kind: 'pause', remaining: remainingOf(held), because };
}

function judge(pod: Pod, concern: Concern, options: DecideOptions): Judged {
  const { paused, observed, governance, isOurs, drain } = concern;
  const of = { pod, observed, governance, isOurs, drain, pauses: paused.past };
  const reason = taintReason(of, options);
  const deadline = deadlineOf(reason);
  return { reason, deadline, hold: deadline < endOfTime ? paused.hold : null };
}

/** Of several that keep a pod what would not do so for ever: a drain before all, as that makes it go. */
function keeping(judged: readonly Judged[]): Judged | undefined {
  const byDrain = judged.find(({ reason }) => reason.code === 'LeftToDrain');
  return byDrain ?? judged.find(({ reason }) => reason.code !== 'ToleratedForever');
}

type Held = Judged & { readonly hold: Hold };

/** The earliest deadline that runs; null: there is none. */
function earliestOf(judged: readonly Judged[]): Judged | null {
  let first: Judged | null = null;
  for (const one of judged) {
    const runs = one.deadline < endOfTime && !one.hold;
    if (runs && (first === null || one.deadline < first.deadline)) first = one;
  }
  return first;
}

/** Of those that stand still the one with the least time left; null: none does. */
function earliestHeld(judged: readonly Judged[]): Held | null {
  let least: Held | null = null;
  for (const one of judged) {
    if (isHeld(one) && (least === null || remainingOf(one) < remainingOf(least))) least = one;
  }
  return least;
}

function isHeld(judged: Judged): judged is Held {
  return judged.hold !== null;
}

function remainingOf({ reason, deadline, hold }: Held): Millis {
  return deadline - Math.max(hold.since, startOf(reason));
}

function inOrder({ reason: first }: Judged, judged: readonly Judged[]): readonly TaintReason[] {
  if (judged.length === 1) return [first];
  return [first, ...judged.flatMap(({ reason }) => (reason === first ? [] : [reason]))];
}

function pausedReason({ since, pause: { name, until, zone } }: Hold): Reason {
  return { code: 'Paused', since, pause: name, until, ...(zone !== undefined && { zone }) };
}

/** Why taints do not matter to this pod, if so. */
function exemption(pod: Pod, node: Node | null, leave: LeaveOptions): Reason | null {
  if (pod.nodeName === '') return { code: 'NotBound' };
  if (!node) return { code: 'NodeUnknown', nodeName: pod.nodeName };
  if (pod.deletionTimestamp !== null) return { code: 'Terminating', since: pod.deletionTimestamp };
  if (pod.mirror) return { code: 'StaticPod' };
  if (leave.optedOutPods && pod.optedOut) return { code: 'OptedOut' };
  const finished = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  return leave.finishedPods && finished ? { code: 'Finished', phase: pod.phase } : null;
}

/**
 * The DaemonSet controller starts no pod where a taint is not tolerated at all; what a policy gives is
 * nothing to it.
 */
function isReturning({ owner }: Pod, reasons: readonly TaintReason[]): boolean {
  const isTolerated = (reason: TaintReason): boolean =>
    reason.code !== 'NoToleration' && !('given' in reason);
  return owner?.kind === 'DaemonSet' && reasons.every(isTolerated);
}
