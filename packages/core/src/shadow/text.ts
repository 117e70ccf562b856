// The reasons of verdicts in words, for tables that count them.
import type { ShadowReason } from './report.ts';

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
