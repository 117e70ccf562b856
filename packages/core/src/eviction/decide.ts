import type { Node, Pod, Taint, Toleration } from '../model.ts';
import type { Reason, StartSource } from '../reason.ts';
import type { Instant } from '../time.ts';
import type { ObservedTaint } from './taint-ledger.ts';
import { decidingToleration, type MatchOptions } from './tolerations.ts';

/** The verdict on one pod. `because` begins with the reason that decided. */
export type Decision =
  | { readonly kind: 'keep'; readonly because: readonly Reason[] }
  /** To be evicted at `deadline`; in the past means at once. */
  | { readonly kind: 'evict'; readonly deadline: Instant; readonly because: readonly Reason[] };

type TaintReason = Extract<Reason, { taint: Taint }>;

/** A deadline further away than any clock reaches: the largest instant of an ECMAScript Date. */
const endOfTime: Instant = 8.64e15;

/**
 * Decides about a pod, given its node and the node's NoExecute taints: for each taint the first
 * toleration that covers it counts, from the taint's start or from the pod's binding, whichever is
 * later; the earliest deadline wins. The machine that acts and everyone who explains call this.
 */
export function decide(
  pod: Pod,
  node: Node | null,
  taints: readonly ObservedTaint[],
  options: MatchOptions,
): Decision {
  const exempt = exemption(pod, node);
  if (exempt) return { kind: 'keep', because: [exempt] };
  if (taints.length === 0) return { kind: 'keep', because: [{ code: 'NoTaint' }] };
  const reasons = taints.map((observed) => judgeTaint(pod, observed, options));
  const first = reasons.reduce((a, b) => (deadlineOf(b) < deadlineOf(a) ? b : a));
  const because = [first, ...reasons.filter((reason) => reason !== first)];
  const deadline = deadlineOf(first);
  return deadline < endOfTime ? { kind: 'evict', deadline, because } : { kind: 'keep', because };
}

/** Why taints do not matter to this pod, if so. */
function exemption(pod: Pod, node: Node | null): Reason | null {
  if (pod.nodeName === '') return { code: 'NotBound' };
  if (!node) return { code: 'NodeUnknown', nodeName: pod.nodeName };
  if (pod.deletionTimestamp !== null) return { code: 'Terminating', since: pod.deletionTimestamp };
  if (pod.mirror) return { code: 'StaticPod' };
  return null;
}

function judgeTaint(pod: Pod, observed: ObservedTaint, options: MatchOptions): TaintReason {
  const { taint } = observed;
  const toleration = decidingToleration(pod.tolerations, taint, options);
  const { start, startSource } = startFor(pod, observed);
  if (!toleration) return { code: 'NoToleration', taint, start, startSource };
  if (toleration.tolerationSeconds === null) return { code: 'ToleratedForever', taint, toleration };
  const deadline = expiry(start, toleration);
  return { code: 'TolerationExpires', taint, toleration, start, startSource, deadline };
}

/** A pod that came after the taint is given the whole time it tolerates. */
function startFor(
  pod: Pod,
  observed: ObservedTaint,
): { readonly start: Instant; readonly startSource: StartSource } {
  const { start, startSource } = observed;
  return pod.boundAt !== null && pod.boundAt > start
    ? { start: pod.boundAt, startSource: 'podBound' }
    : { start, startSource };
}

/** Negative seconds count as none; a time past the end of time never comes. */
function expiry(start: Instant, toleration: Toleration): Instant {
  const seconds = Math.max(0, Number(toleration.tolerationSeconds));
  return Math.min(endOfTime, start + seconds * 1000);
}

function deadlineOf(reason: TaintReason): Instant {
  switch (reason.code) {
    case 'NoToleration':
      return reason.start;
    case 'TolerationExpires':
      return reason.deadline;
    case 'ToleratedForever':
      return Number.POSITIVE_INFINITY;
  }
}
