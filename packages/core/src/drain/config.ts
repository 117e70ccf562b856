// Settings of one drain: its taint, filters, order, budgets and time limits.
import type { BudgetPolicy } from '../attempt/delete-or-evict.ts';
import {
  noOthers,
  oneOf,
  refuse,
  trueOrFalse,
  wholeNumber,
  withDefaults,
} from '../kernel/checks.ts';
import type { Instant, Millis } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import { selects } from '../model/selector.ts';
import type { Taint } from '../model/taint.ts';
import type { MatchOptions } from '../model/toleration.ts';
import { poolLimit } from '../policy/condition-rule.ts';
import type { HeededAnnotation, WaitCompleted } from '../policy/node-drain.ts';
import { isInGroup, type PodGroup } from '../policy/pod-group.ts';
import type { DrainFault, DrainNodePhase, NodesAtOnce, Wave } from './state.ts';

/** Which tolerations of the taint a drain respects. */
export type Respect =
  /** All: a pod stays for as long as it tolerates the taint. */
  | 'tolerations'
  /** Those without a time limit; those with one are not waited for. */
  | 'limitless'
  /** None: every pod goes, and at once. */
  | 'nothing';

/** A node to be drained. */
export interface DrainTarget {
  readonly name: string;
  /** `region/zone`; '': none. */
  readonly zone: string;
  /** One wave is done with before the next begins; left out: it is in the one without a name. */
  readonly wave?: Wave;
  /** Pods of it have gone in an earlier run; left out: none has. */
  readonly hasWorked?: boolean;
  /** The phase in which an earlier run left the node; left out: its turn is still to come. */
  readonly phase?: DrainNodePhase;
}

/** One drain: what is to happen to which nodes, and its limits. */
export interface DrainConfig extends MatchOptions {
  /** The taint that is on the nodes, or about to be. */
  readonly taint: Taint;
  /** In the order in which they are drained; waves in the order of their first nodes. */
  readonly targets: readonly DrainTarget[];
  readonly respect: Respect;
  readonly budgets: BudgetPolicy;
  readonly filters: DrainOptions;
  /** DaemonSets that pods name and that are gone, as `namespace/name`. */
  readonly goneDaemonSets: ReadonlySet<string>;
  /** The uids of pods that were on their way out before the drain began. */
  readonly leaving: ReadonlySet<string>;
  /** Pods that terminate for longer than this are not waited for; null: all are. */
  readonly skipTerminatingMs: Millis | null;
  /** Null: each pod's own. */
  readonly gracePeriodSeconds: number | null;
  /** Nodes being drained at one time, at most. */
  readonly nodesAtOnceMax: NodesAtOnce;
  /** So many nodes do not count, as long as nothing is left there but pods that are held up. */
  readonly heldUpNodesMax: number;
  /** Pods on their way out at one time, at most; 0: no limit. */
  readonly podsAtOnceMax: number;
  /** Pods that may finish first; null: none. */
  readonly waitCompleted: WaitCompleted | null;
  /** Annotations of others that hold a pod for as long as it has them. */
  readonly heeds: readonly HeededAnnotation[];
  /** In which order those of one node go. */
  readonly podOrder: PodOrder;
  /** Try each pod once. */
  readonly once: boolean;
  /**
   * Nobody looks on: no node begins after one where everything was denied, and a sign of life that is
   * denied is tried again.
   */
  readonly isUnattended: boolean;
  /** One node may take so long, from when its turn came; null: for ever. */
  readonly nodeTimeoutMs: Millis | null;
  /** Requests sent and not yet answered, at most. */
  readonly requestsInFlightMax: number;
  /** Wait after a budget refused, where the API server names no time. */
  readonly blockedRetryWaitMs: Millis;
  /** Wait after an admission webhook kept an eviction for itself, where it names no time. */
  readonly interceptedRetryWaitMs: Millis;
  /** Wait after another first failure; it doubles with each further one. */
  readonly retryWaitMsMin: Millis;
  readonly retryWaitMsMax: Millis;
  /** An accepted eviction that is not seen to happen for so long is tried again. */
  readonly confirmationWaitMs: Millis;
  /** A pod that its owner makes anew on the node is evicted again so many times; then it stays. */
  readonly returnsMax: number;
  /** Wait before a pod that came back is evicted again; it doubles with each further return. */
  readonly returnWaitMsMin: Millis;
  /** Show on each node that is being drained that we are at work there (command `renewMark`). */
  readonly marksNodes: boolean;
  /** Requests that others may have sent before they saw our mark are waited for so long. */
  readonly handoverMs: Millis;
  /** Names in metadata.managedFields of programs that leave marked nodes' pods to us. */
  readonly partners: readonly string[];
  /** Our name in metadata.managedFields: what bears it is our own doing. */
  readonly fieldManager: string;
}

/** All at once, as kubectl drain does. */
const together: PodOrder = { byPriority: false, last: [] };

/** kubectl drain's defaults, and for what it does not have, those that change least. */
const defaultDrainConfig: Omit<DrainConfig, 'taint' | 'targets'> = {
  respect: 'tolerations',
  comparisonOperators: false,
  budgets: { kind: 'respect' },
  filters: { force: false, ignoreDaemonSets: false, deleteEmptyDirData: false },
  goneDaemonSets: new Set(),
  leaving: new Set(),
  skipTerminatingMs: null,
  gracePeriodSeconds: null,
  nodesAtOnceMax: 1,
  heldUpNodesMax: 0,
  podsAtOnceMax: 0,
  waitCompleted: null,
  heeds: [],
  podOrder: together,
  once: false,
  isUnattended: false,
  nodeTimeoutMs: null,
  requestsInFlightMax: 50,
  blockedRetryWaitMs: 5000,
  interceptedRetryWaitMs: 15_000,
  retryWaitMsMin: 200,
  retryWaitMsMax: 10_000,
  confirmationWaitMs: 30_000,
  returnsMax: 3,
  returnWaitMsMin: 5000,
  marksNodes: false,
  handoverMs: 0,
  partners: [],
  fieldManager: 'kubectl-taintmgr',
};

/** Fills in the defaults. Throws RangeError naming the field, the value and what is allowed. */
export function resolveDrainConfig(
  options: Pick<DrainConfig, 'taint' | 'targets'> & Partial<DrainConfig>,
): DrainConfig {
  const { taint, targets } = options;
  const defaults: DrainConfig = { ...defaultDrainConfig, taint, targets };
  noOthers('', options, defaults);
  const config = withDefaults(defaults, options);
  trueOrFalse('', config, defaultDrainConfig);
  oneOf('respect', config.respect, ['tolerations', 'limitless', 'nothing']);
  oneOf('budgets.kind', config.budgets.kind, ['respect', 'deleteAfter', 'ignore']);
  if (config.budgets.kind === 'deleteAfter') {
    wholeNumber('budgets.afterMs', config.budgets.afterMs, 0);
  }
  for (const [field, min] of [
    ['skipTerminatingMs', 0],
    ['gracePeriodSeconds', 0],
    ['nodeTimeoutMs', 1],
  ] as const) {
    const value = config[field];
    if (value !== null) wholeNumber(field, value, min);
  }
  if (config.waitCompleted) {
    wholeNumber('waitCompleted.timeout', config.waitCompleted.timeout, 0);
  }
  for (const field of ['podsAtOnceMax', 'heldUpNodesMax', 'returnsMax'] as const) {
    wholeNumber(field, config[field], 0);
  }
  const { nodesAtOnceMax } = config;
  const isLimit = poolLimit(nodesAtOnceMax, 100) !== null;
  const wanted = 'a whole number from 0, or a percentage such as "10%"';
  refuse('nodesAtOnceMax', nodesAtOnceMax, isLimit, wanted);
  for (const field of [
    'requestsInFlightMax',
    'blockedRetryWaitMs',
    'interceptedRetryWaitMs',
    'retryWaitMsMin',
    'returnWaitMsMin',
  ] as const) {
    wholeNumber(field, config[field], 1);
  }
  wholeNumber('retryWaitMsMax', config.retryWaitMsMax, config.retryWaitMsMin);
  wholeNumber('confirmationWaitMs', config.confirmationWaitMs, 1);
  wholeNumber('handoverMs', config.handoverMs, 0);
  const names = config.targets.map(({ name }) => name);
  refuse('targets', names, new Set(names).size === names.length, 'each node once');
  return config;
}

/** Which pods a drain may take along; the names and defaults are kubectl drain's. */
export interface DrainOptions {
  /** Take pods that no controller would start again. */
  readonly force: boolean;
  /** Leave DaemonSet pods where they are instead of refusing. */
  readonly ignoreDaemonSets: boolean;
  /** Take pods whose emptyDir data is lost with them. */
  readonly deleteEmptyDirData: boolean;
}

/** The verdict of kubectl drain's filters on a pod that the taint would evict. */
export type DrainFilterResult =
  | { readonly kind: 'take' }
  /** Left on the node without further ado. */
  | { readonly kind: 'leave'; readonly fault: 'DaemonSet' }
  /** The drain does not begin while this pod is there, unless the named flag is given. */
  | { readonly kind: 'refuse'; readonly faults: readonly DrainFault[] };

/** The flag that overrides a fault. */
export const drainFlag: Readonly<Record<DrainFault, string>> = {
  DaemonSet: '--ignore-daemonsets',
  OrphanedDaemonSetPod: '--force',
  EmptyDir: '--delete-emptydir-data',
  Unmanaged: '--force',
};

/** A fault in words. */
export const drainFaultText: Readonly<Record<DrainFault, string>> = {
  DaemonSet: 'managed by a DaemonSet, which would recreate it',
  OrphanedDaemonSetPod: 'its DaemonSet is gone, nothing would recreate it',
  EmptyDir: 'has local storage (emptyDir), whose data would be lost',
  Unmanaged: 'is not managed by a controller',
};

/** Each fault and the flag that overrides it. */
export function drainFaultsText(faults: readonly DrainFault[]): string {
  return faults.map((fault) => `${drainFaultText[fault]} (${drainFlag[fault]})`).join('; ');
}

/**
 * Judges one pod. Finished pods are taken whatever they are; otherwise every fault is named, so
 * that one answer shows all flags that are missing. `isOrphan`: the DaemonSet it names is not there.
 */
export function filterPod(
  pod: Pod,
  options: DrainOptions,
  isOrphan: boolean = false,
): DrainFilterResult {
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return { kind: 'take' };
  if (isDaemonSetPod(pod) && !isOrphan) {
    return options.ignoreDaemonSets
      ? { kind: 'leave', fault: 'DaemonSet' }
      : { kind: 'refuse', faults: ['DaemonSet'] };
  }
  const faults: DrainFault[] = [];
  if (isOrphan && isDaemonSetPod(pod) && !options.force) faults.push('OrphanedDaemonSetPod');
  if (pod.hasEmptyDir && !options.deleteEmptyDirData) faults.push('EmptyDir');
  if (pod.owner === null && !options.force) faults.push('Unmanaged');
  return faults.length === 0 ? { kind: 'take' } : { kind: 'refuse', faults };
}

/** True if a DaemonSet of today's API started it, so that it would be back at once. */
function isDaemonSetPod({ owner }: Pod): boolean {
  return owner?.kind === 'DaemonSet' && owner.apiVersion === 'apps/v1';
}

/** When a pod that may finish goes if it has not; null: it is not given time, or its node's turn is to come. */
export function finishBy(
  pod: Pod,
  wait: WaitCompleted | null,
  begunAt: Instant | null,
): Instant | null {
  const time = wait !== null && mayFinish(pod, wait) ? wait.timeout : null;
  return time === null || begunAt === null ? null : begunAt + time;
}

/** True if it has done what it was given time for: it is left where it is, with its logs. */
export function hasFinished(pod: Pod, wait: WaitCompleted | null): boolean {
  const isOver = pod.phase === 'Succeeded' || pod.phase === 'Failed';
  return isOver && wait !== null && mayFinish(pod, wait);
}

function mayFinish({ owner, labels = {} }: Pod, { podSelector }: WaitCompleted): boolean {
  if (podSelector) return selects(podSelector, labels);
  return owner?.kind === 'Job' && owner.apiVersion.startsWith('batch/');
}

/** Pods of one rank go together, and are gone before those of the next rank begin. */
export interface PodOrder {
  /** Those of a lower priority first. */
  readonly byPriority: boolean;
  /** After all others, one group after the other: what the others may need to the end. */
  readonly last: readonly PodGroup[];
}

/** The place among the groups that go last (0: it is in none), and the priority that counts. */
export type PodRank = readonly [group: number, priority: number];

export function rankOf(
  pod: Pick<Pod, 'namespace' | 'labels' | 'priority'>,
  { byPriority, last }: PodOrder,
): PodRank {
  const group = last.findLastIndex((one) => isInGroup(one, pod)) + 1;
  return [group, byPriority ? (pod.priority ?? 0) : 0];
}

/** Negative: the first goes before the second. */
export function compareRanks(one: PodRank, other: PodRank): number {
  return one[0] - other[0] || one[1] - other[1];
}
