// What one taint of its node means for a pod: whether it goes for it, when, and why.
import { endOfSecond, finite, type Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import type { Taint } from '../model/taint.ts';
import { decidingToleration, type MatchOptions, type Toleration } from '../model/toleration.ts';
import type { WorkingDrain } from '../model/working-drain.ts';
import type { Governance, PolicyMark } from '../policy/eviction-policy.ts';
import type { SeenDrain } from './drains.ts';
import { givenBack, type Pause } from './paused-time.ts';
import type { Reason, StartSource } from './reason.ts';
import { countsFrom, type ObservedTaint } from './taint-clock.ts';
import { minTolerationNanos } from './upstream/wait.ts';

/** A reason that has to do with a taint. */
export type TaintReason = Extract<Reason, { taint: Taint }>;

/** What the time of a taint depends on for one pod. */
export interface TaintCase {
  readonly pod: Pod;
  /** As it counts for the pod's namespace, pauses given back. */
  readonly observed: ObservedTaint;
  /** For pods that count from their binding. */
  readonly pauses: readonly Pause[];
  readonly governance: Governance;
  /** Whether we decide; otherwise kube-controller-manager does. */
  readonly isOurs: boolean;
  /** The drain whose taint it is; null: it is none's. */
  readonly drain: SeenDrain | null;
}

interface Start {
  readonly start: Instant;
  readonly startSource: StartSource;
}

/** A deadline further away than any clock reaches: the largest instant of an ECMAScript Date. */
export const endOfTime: Instant = 8.64e15;

/**
 * What one taint means for a pod. The policy that counts for the two says so; see choice.ts:
 *
 * - `Keep`: the pod is never evicted for this taint while the policy counts.
 * - `Upstream`: as kube-controller-manager does it: it counts from when the taint was seen to come
 *   and the pod was there, no minimum age, and seconds that wrap around an int64.
 * - Any other, or none: the first toleration that covers the taint counts, from the taint's start or
 *   from the pod's binding, whichever is later; without one the binding does not matter.
 *
 * A pod with no toleration of the taint counts as one with a toleration of the seconds that the
 * policy gives. Where nobody can tell whether a policy counts, the pod stays, and so does one about
 * which kube-controller-manager decides. The pods of a drain's taint are left to the drain, for as
 * long as that lives.
 */
export function taintReason(of: TaintCase, options: MatchOptions): TaintReason {
  const { pod, observed, governance, drain } = of;
  const { taint } = observed;
  const { by, undecided } = governance;
  const own = decidingToleration(pod.tolerations, taint, options);
  if (own?.tolerationSeconds === null) return { code: 'ToleratedForever', taint, toleration: own };
  if (!of.isOurs) return { code: 'NotTakenOver', taint, namespace: pod.namespace };
  if (undecided) {
    const { name, action } = undecided;
    const policy = { name, action: action ?? 'Keep' };
    return { code: 'PolicyUndecided', taint, policy, namespace: pod.namespace };
  }
  if (by?.action === 'Keep') return { code: 'KeptByPolicy', taint, policy: by };
  if (drain && !drain.isStale) return { code: 'LeftToDrain', taint, drain: drain.drain };
  const given = own ? null : givenToleration(taint, governance);
  const toleration = own ?? given;
  const what = {
    taint,
    ...(given && { given: true as const }),
    ...policyOf(by),
    ...staleOf(drain),
  };
  return by?.action === 'Upstream'
    ? upstreamReason(of, toleration, what)
    : preciseReason(of, toleration, what);
}

type What = {
  readonly taint: Taint;
  readonly given?: true;
  readonly policy?: PolicyMark;
  readonly staleDrain?: WorkingDrain;
};

function preciseReason(of: TaintCase, toleration: Toleration | null, what: What): TaintReason {
  const { observed, governance } = of;
  const { minTaintAgeMs } = governance;
  const notBefore = minTaintAgeMs > 0 ? countsFrom(observed) + minTaintAgeMs : observed.start;
  if (!toleration) {
    const { start, startSource } = observed;
    return { code: 'NoToleration', ...what, start, startSource, deadline: notBefore };
  }
  const { start, startSource } = startFor(of, countsFrom(observed), observed.startSource);
  const deadline = Math.max(notBefore, expiry(start, toleration));
  return { code: 'TolerationExpires', ...what, toleration, start, startSource, deadline };
}

/** Pods are deleted at once, or so long after taint and pod were there. */
function upstreamReason(of: TaintCase, toleration: Toleration | null, what: What): TaintReason {
  const { observed, pauses } = of;
  const seenAt = givenBack(observed.seenAt, pauses);
  const { start, startSource } = startFor(of, seenAt, 'firstSeen');
  if (!toleration) return { code: 'NoToleration', ...what, start, startSource, deadline: start };
  const nanos = minTolerationNanos([toleration]);
  if (nanos < 0n) return { code: 'ToleratedForever', taint: what.taint, toleration };
  const deadline = start + Number(nanos) / 1_000_000;
  return { code: 'TolerationExpires', ...what, toleration, start, startSource, deadline };
}

function givenToleration(
  taint: Taint,
  { defaultTolerationSeconds }: Governance,
): Toleration | null {
  if (defaultTolerationSeconds === null) return null;
  const { key, effect } = taint;
  const tolerationSeconds = defaultTolerationSeconds;
  return { key, operator: 'Exists', value: '', effect, tolerationSeconds };
}

/** A pod that came after the taint is given the whole time it tolerates, pauses not counted. */
function startFor(
  { pod, pauses }: TaintCase,
  start: Instant,
  startSource: Start['startSource'],
): Start {
  const written = finite(pod.boundAt);
  if (written === null) return { start, startSource };
  const bound = givenBack(endOfSecond(written), pauses);
  return bound > start ? { start: bound, startSource: 'podBound' } : { start, startSource };
}

/** Negative seconds count as none, and so does what is no number; the end of time never comes. */
function expiry(start: Instant, { tolerationSeconds }: Toleration): Instant {
  const seconds = Number(tolerationSeconds);
  return seconds > 0 ? Math.min(endOfTime, start + seconds * 1000) : start;
}

function policyOf(by: PolicyMark | null): { readonly policy?: PolicyMark } {
  return by ? { policy: by } : {};
}

function staleOf(seen: SeenDrain | null): { readonly staleDrain?: WorkingDrain } {
  return seen ? { staleDrain: seen.drain } : {};
}

/** From when it counts; what never ends has no start. */
export function startOf(reason: TaintReason): Instant {
  return 'start' in reason ? reason.start : Number.NEGATIVE_INFINITY;
}

/** When the pod goes for it; infinity: never. */
export function deadlineOf(reason: TaintReason): Instant {
  return 'deadline' in reason ? reason.deadline : Number.POSITIVE_INFINITY;
}
