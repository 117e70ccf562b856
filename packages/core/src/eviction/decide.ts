import { endOfSecond, finite, type Instant, type Millis } from '../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { Taint } from '../model/taint.ts';
import { decidingToleration, type MatchOptions, type Toleration } from '../model/toleration.ts';
import type { Policy } from '../policy/eviction-policy.ts';
import type { Reason, StartSource } from './reason.ts';
import { countsFrom, type ObservedTaint, type Pause } from './taint-clock.ts';

/** The verdict on one pod. `because` begins with the reason that decided. */
export type Decision =
  | { readonly kind: 'keep'; readonly because: readonly Reason[] }
  /** To be evicted at `deadline`; in the past means at once. */
  | { readonly kind: 'evict'; readonly deadline: Instant; readonly because: readonly Reason[] }
  /** Deadlines are paused; when they go on it has `remaining` left, negative when overdue. */
  | { readonly kind: 'pause'; readonly remaining: Millis; readonly because: readonly Reason[] };

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
  readonly policyFor: (taint: Taint) => Policy;
}

/** The pod's node as decisions see it. */
export interface Site {
  /** Null: not known. */
  readonly node: Node | null;
  readonly taints: readonly ObservedTaint[];
  /** Since when deadlines stand still there; null: they run. */
  readonly pausedAt: Instant | null;
  /** For how long they have stood still before. */
  readonly pauses: readonly Pause[];
}

type TaintReason = Extract<Reason, { taint: Taint }>;

/** A deadline further away than any clock reaches: the largest instant of an ECMAScript Date. */
const endOfTime: Instant = 8.64e15;

/**
 * Decides about one pod, keep it or evict it at an instant: for each NoExecute taint of its node
 * the first toleration that covers it counts, from the taint's start or from the pod's binding,
 * whichever is later; without one the binding does not matter. Times kept in whole seconds count
 * from their end, so that no pod goes earlier than it may. The earliest deadline wins. The machine
 * that acts and everyone who explains call this.
 */
export function decide(pod: Pod, site: Site, options: DecideOptions): Decision {
  const { node, taints, pausedAt } = site;
  const exempt = exemption(pod, node, options.leave);
  if (exempt) return { kind: 'keep', because: [exempt] };
  if (taints.length === 0) return { kind: 'keep', because: [{ code: 'NoTaint' }] };
  const reasons = taints.map((observed) => reasonFor(pod, observed, site.pauses, options));
  const first = reasons.reduce((a, b) => (deadlineOf(b) < deadlineOf(a) ? b : a));
  const because = [first, ...reasons.filter((reason) => reason !== first)];
  const deadline = deadlineOf(first);
  if (deadline >= endOfTime) return { kind: 'keep', because };
  if (options.leave.returningDaemonSetPods && isReturning(pod, reasons)) {
    return { kind: 'keep', because: [{ code: 'ReturningDaemonSetPod' }, ...because] };
  }
  if (pausedAt === null) return { kind: 'evict', deadline, because };
  const reason = { code: 'Paused', since: pausedAt } as const;
  const remaining = deadline - Math.max(pausedAt, startOf(first));
  return { kind: 'pause', remaining, because: [reason, ...because] };
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

/** The DaemonSet controller starts no pod where a taint is not tolerated at all. */
function isReturning({ owner }: Pod, reasons: readonly TaintReason[]): boolean {
  return owner?.kind === 'DaemonSet' && reasons.every(({ code }) => code !== 'NoToleration');
}

function reasonFor(
  pod: Pod,
  observed: ObservedTaint,
  pauses: readonly Pause[],
  options: DecideOptions,
): TaintReason {
  const { taint } = observed;
  const toleration = decidingToleration(pod.tolerations, taint, options);
  if (toleration?.tolerationSeconds === null) {
    return { code: 'ToleratedForever', taint, toleration };
  }
  const { minTaintAgeMs } = options.policyFor(taint);
  const notBefore = minTaintAgeMs > 0 ? countsFrom(observed) + minTaintAgeMs : observed.start;
  if (!toleration) {
    const { start, startSource } = observed;
    return { code: 'NoToleration', taint, start, startSource, deadline: notBefore };
  }
  const { start, startSource } = startFor(pod, observed, pauses);
  const deadline = Math.max(notBefore, expiry(start, toleration));
  return { code: 'TolerationExpires', taint, toleration, start, startSource, deadline };
}

/** A pod that came after the taint is given the whole time it tolerates, pauses not counted. */
function startFor(
  pod: Pod,
  observed: ObservedTaint,
  pauses: readonly Pause[],
): { readonly start: Instant; readonly startSource: StartSource } {
  const { startSource } = observed;
  const start = countsFrom(observed);
  const written = finite(pod.boundAt);
  if (written === null) return { start, startSource };
  const boundAt = endOfSecond(written);
  const bound = pauses.reduce(
    (sum, { from, to }) => sum + Math.max(0, to - Math.max(from, boundAt)),
    boundAt,
  );
  return bound > start ? { start: bound, startSource: 'podBound' } : { start, startSource };
}

function startOf(reason: TaintReason): Instant {
  return reason.code === 'ToleratedForever' ? Number.NEGATIVE_INFINITY : reason.start;
}

/** Negative seconds count as none, and so does what is no number; the end of time never comes. */
function expiry(start: Instant, { tolerationSeconds }: Toleration): Instant {
  const seconds = Number(tolerationSeconds);
  return seconds > 0 ? Math.min(endOfTime, start + seconds * 1000) : start;
}

function deadlineOf(reason: TaintReason): Instant {
  return reason.code === 'ToleratedForever' ? Number.POSITIVE_INFINITY : reason.deadline;
}
