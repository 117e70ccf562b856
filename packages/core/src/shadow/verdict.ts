// Judges a pod that kube-controller-manager deleted, or taintmgr would have evicted.
import { describeReason, type Reason } from '../eviction/reason.ts';
import type { PodExplanation } from '../explain.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';
import type { Taint } from '../model/taint.ts';
import type { EvictionMode, PolicyMark } from '../policy/eviction-policy.ts';
import { limitId } from '../policy/limit.ts';
import type { ShadowConfig } from './config.ts';
import type { ShadowEntry, ShadowReason } from './report.ts';

/** When the engine evicted a pod, and how. */
interface OurEviction {
  readonly at: Instant;
  readonly asks: boolean;
  readonly because: readonly Reason[];
  /**
   * A live read found it gone, or terminating: another program was first, and nothing was seen of
   * it yet.
   */
  readonly isTooLate: boolean;
}

export type Sent = Omit<OurEviction, 'isTooLate'> & { readonly pod: PodRef };

/** A pod that one of the two has evicted. */
export interface Case {
  readonly pod: PodRef;
  /** As it is in the cluster; null: it is gone, or was never marked by a taint manager. */
  real: Pod | null;
  /** When kube-controller-manager marked it; null: it did not. */
  theirs: Instant | null;
  /** True when it is terminating, or gone, since it was marked. */
  isDeleted: boolean;
  isGone: boolean;
  ours: OurEviction | null;
  /** The reasons that decided when it was marked: later its taint may be gone. */
  because: readonly Reason[];
  /** There is a verdict, or there will be none. */
  isClosed: boolean;
  /** The pod is gone, and Events have not said yet whether kube-controller-manager deleted it. */
  isDoubted: boolean;
}

/** A pod of which there is no observation yet. */
export function newCase(pod: PodRef): Case {
  return {
    ...{ pod: podRef(pod), real: null, theirs: null, isDeleted: false, isGone: false, ours: null },
    ...{ because: [], isClosed: false, isDoubted: false },
  };
}

/** The verdict on one pod. */
export type Verdict = Pick<ShadowEntry, 'verdict' | 'byMs' | 'reason' | 'message'>;

/** Of a pod that both have evicted, kube-controller-manager at `theirs`: who was first. */
export function comparedVerdict(
  { at, because, isTooLate }: OurEviction,
  theirs: Instant,
  config: Pick<ShadowConfig, 'sameMsMax'>,
): Verdict {
  const byMs = isTooLate ? null : at - theirs;
  const verdict = byMs === null ? 'later' : timedVerdict(byMs, config);
  const { reason, message } = wordsOf(because[0]);
  return { verdict, byMs, reason: verdict === 'later' ? reason : null, message };
}

/** A budget refused it until kube-controller-manager had deleted it: for how long is unknown. */
export function refusedVerdict(message: string): Verdict {
  return { verdict: 'later', byMs: null, reason: 'BudgetRefused', message };
}

/** Of a pod that kube-controller-manager has left alone for as long as it was followed. */
export function lonelyVerdict({ because }: Pick<OurEviction, 'because'>): Verdict {
  const { message } = wordsOf(because[0]);
  return { verdict: 'onlyTaintmgr', byMs: null, reason: null, message };
}

/** The report about it; `at`: by the clock of the cluster. */
export function entryOf(
  { pod, ours, because: marked }: Case,
  { verdict, byMs, reason, message }: Verdict,
  at: Instant,
  mode: EvictionMode,
): ShadowEntry {
  const because = ours?.because ?? marked;
  const asks = ours?.asks ?? asksBudgets(because, mode);
  const isAsked = verdict !== 'kept' && asks;
  return { pod, at, ...subjectOf(because), asksBudgets: isAsked, verdict, byMs, reason, message };
}

/** Both programs evict the pod, taintmgr later by this time; negative: earlier. */
function timedVerdict(
  byMs: Millis,
  { sameMsMax }: Pick<ShadowConfig, 'sameMsMax'>,
): 'same' | 'earlier' | 'later' {
  if (Math.abs(byMs) <= sameMsMax) return 'same';
  return byMs < 0 ? 'earlier' : 'later';
}

/** Of a pod that only kube-controller-manager has evicted so far. */
type Judgement =
  | {
      readonly kind: 'verdict';
      readonly verdict: 'later' | 'kept';
      /** Null: unknown. */
      readonly byMs: Millis | null;
      readonly reason: ShadowReason | null;
      readonly message: string;
    }
  /** Nothing can be said before then. */
  | { readonly kind: 'wait'; readonly until: Instant };

/** When things happened, by our own time; `wall`: what the cluster's clock shows at `now`. */
interface JudgedAt {
  readonly now: Instant;
  readonly wall: Instant;
  /** When kube-controller-manager evicted the pod. */
  readonly theirs: Instant;
}

/**
 * Judges a pod that kube-controller-manager has deleted and that taintmgr has not evicted, by
 * taintmgr's decision about it now, as if it were still there. A pod that has to leave later is
 * looked at again then: its taint may be gone by that time.
 */
export function judgeDeleted(
  { decision, attempt }: Pick<PodExplanation, 'decision' | 'attempt'>,
  { now, wall, theirs }: JudgedAt,
  { settleMs, followMs }: Pick<ShadowConfig, 'settleMs' | 'followMs'>,
): Judgement {
  const [decisive] = decision.because;
  const said = wordsOf(decisive);
  const until = theirs + followMs;
  if (decision.kind === 'keep') return { kind: 'verdict', verdict: 'kept', byMs: null, ...said };
  const left = decision.kind === 'evict' ? decision.deadline - wall : 0;
  if (left > 0) {
    const dueAt = now + left;
    if (dueAt <= until) return { kind: 'wait', until: dueAt + settleMs };
    return { kind: 'verdict', verdict: 'later', byMs: dueAt - theirs, ...said };
  }
  if (now < until) return { kind: 'wait', until };
  return { kind: 'verdict', verdict: 'later', byMs: null, ...(heldBy(attempt) ?? said) };
}

interface Said {
  readonly reason: ShadowReason | null;
  readonly message: string;
}

function wordsOf(reason: Reason | undefined): Said {
  if (!reason) return { reason: null, message: '' };
  return { reason: reason.code, message: describeReason(reason) };
}

/** The limit or budget that holds a pod back that is due; null: none that its attempt knows of. */
function heldBy(attempt: PodExplanation['attempt']): Said | null {
  if (attempt?.kind === 'queued' && attempt.hit !== null) {
    return { reason: 'LimitReached', message: `held by limit ${limitId(attempt.hit)}` };
  }
  if (attempt?.kind === 'blocked') {
    const { message } = attempt.setback;
    return { reason: 'BudgetRefused', message };
  }
  return null;
}

/** True when a pod that goes for these reasons is evicted, so that budgets are asked. */
function asksBudgets(because: readonly Reason[], mode: EvictionMode): boolean {
  const policy = decisiveTaint(because)?.policy;
  if (!policy) return mode !== 'delete';
  return ['Evict', 'EvictThenDelete', 'Request'].includes(policy.action);
}

/** The taint that decided and the policy that counted for it; '' where there is none. */
function subjectOf(because: readonly Reason[]): {
  readonly taint: string;
  readonly policy: string;
} {
  const decisive = decisiveTaint(because);
  return { taint: decisive?.taint.key ?? '', policy: decisive?.policy?.name ?? '' };
}

interface TaintAndPolicy {
  readonly taint: Taint;
  readonly policy?: PolicyMark;
}

/** The first reason that has to do with a taint: what goes before it concerns them all. */
function decisiveTaint(because: readonly Reason[]): TaintAndPolicy | undefined {
  return because.find((reason) => 'taint' in reason);
}
