// What the shadow reports: kube-controller-manager's evictions held against ours.
import type { ReasonCode } from '../eviction/reason.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { PodRef } from '../model/pod.ts';

/** What taintmgr would have done about a pod, held against what kube-controller-manager did. */
export type ShadowVerdict =
  /** Both evict it in the same instant. */
  | 'same'
  /** Both evict it, taintmgr before kube-controller-manager. */
  | 'earlier'
  /** Both evict it, taintmgr after kube-controller-manager. */
  | 'later'
  /** kube-controller-manager deleted it; taintmgr would not have evicted it. */
  | 'kept'
  /** taintmgr would have evicted it; kube-controller-manager did not, for as long as it was followed. */
  | 'onlyTaintmgr';

/** Why it would have been later or not at all: what decided, or what held it back. */
export type ShadowReason = ReasonCode | 'LimitReached' | 'BudgetRefused';

/** What came of one pod. */
export interface ShadowEntry {
  readonly pod: PodRef;
  /** When the verdict was given, by the clock of the cluster. */
  readonly at: Instant;
  readonly verdict: ShadowVerdict;
  /** How much later taintmgr would have been, negative: earlier; null: nobody can say. */
  readonly byMs: Millis | null;
  /** Whether taintmgr would have asked the disruption budgets. */
  readonly asksBudgets: boolean;
  /** The key of the taint that decided; '' where none did. */
  readonly taint: string;
  /** The policy that counted; '' where none did. */
  readonly policy: string;
  readonly reason: ShadowReason | null;
  /** The same in words. */
  readonly message: string;
}

/** So many pods of each verdict. */
export type ShadowCounts = Readonly<Record<ShadowVerdict, number>> & {
  /** Of those that kube-controller-manager deleted, these would have been asked budgets about. */
  readonly budgetsAsked: number;
};

/** The counts of one taint key, namespace or policy; see the names below for the odd ones. */
export interface ShadowRow extends ShadowCounts {
  readonly name: string;
}

/** What has no name, and all those together that there was no room for. */
export const noName = '(none)';
export const otherNames = '(others)';

/** So many verdicts, and how far apart the two were. */
export interface ShadowSpan {
  readonly meanMs: Millis;
  readonly maxMs: Millis;
}

export interface ShadowReport {
  /** Since when it counts, by the clock of the cluster; null: not everything was read yet. */
  readonly since: Instant | null;
  readonly counts: ShadowCounts;
  /** Null: there was none of which that is known. */
  readonly earlierBy: ShadowSpan | null;
  readonly laterBy: ShadowSpan | null;
  /** Pods on whom there is no verdict yet. */
  readonly following: number;
  /** kube-controller-manager marked them for deletion, and they were not deleted. */
  readonly notDeleted: number;
  /** taintmgr would have evicted them; somebody else than a taint manager removed them before. */
  readonly leftOtherwise: number;
  /** Given up, because too many pods were followed at once. */
  readonly givenUp: number;
  /** The most pods first. */
  readonly taints: readonly ShadowRow[];
  readonly namespaces: readonly ShadowRow[];
  readonly policies: readonly ShadowRow[];
  /** Why pods would have left later or not at all, the most pods first. */
  readonly reasons: readonly {
    readonly verdict: 'later' | 'kept';
    readonly reason: ShadowReason;
    readonly pods: number;
  }[];
  /** The latest first. */
  readonly recent: readonly ShadowEntry[];
}

const texts: Readonly<Record<ShadowReason, string>> = {
  NotBound: 'the pod was not bound to a node',
  NodeUnknown: 'its node was deleted before its time came',
  NoTaint: 'the taint was gone before its time came',
  StaticPod: 'a static pod: deleting it through the API does not stop it',
  Terminating: 'it was already terminating',
  Finished: 'it had already finished',
  LastReplica: 'it was the last ready replica of taintmgr itself',
  OptedOut: 'its owner opted out by annotation',
  ReturningDaemonSetPod: 'its DaemonSet would have recreated it at once',
  Paused: 'an EvictionPause or the hold of a zone held its deadline',
  NoToleration:
    'the taint had to last for a while first (minTaintAge), or a limit or a pause held it',
  TolerationExpires: 'the pod, or its policy, gives it more time',
  ToleratedForever: 'it tolerates the taint without limit',
  KeptByPolicy: 'an EvictionPolicy keeps it',
  PolicyUndecided: 'an EvictionPolicy may be for it: the labels of its namespace were not known',
  LeftToDrain: 'a drain of its node evicts it',
  NotTakenOver: 'its namespace is not taken over',
  NodeNotReady: 'its node was given more time',
  TimerKept: 'a timer for earlier taints still ran',
  GivenUp: 'it was given up until its taints or tolerations change',
  LimitReached: 'a limit held it until it was no longer followed',
  BudgetRefused: 'a PodDisruptionBudget or a webhook refused until it was no longer followed',
};

const known = new Map<string, string>(Object.entries(texts));

/** What a reason means; null: it is not one that we know. */
export function reasonText(reason: string): string | null {
  return known.get(reason) ?? null;
}
