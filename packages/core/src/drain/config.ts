// Settings of one drain: its spec, and the choices of its program (who looks on, marks, handover, pace).
import type { BudgetPolicy } from '../attempt/delete-or-evict.ts';
import type { Millis } from '../kernel/time.ts';
import type { Taint } from '../model/taint.ts';
import type { MatchOptions } from '../model/toleration.ts';
import type { NodeDrainSpec } from '../policy/node-drain.ts';

/** A drain as its spec asks for it, and the choices of the program that carries it out. */
export interface DrainConfig extends MatchOptions {
  readonly spec: NodeDrainSpec;
  /** False: pods of DaemonSets are refused, as by kubectl drain without --ignore-daemonsets. */
  readonly leavesDaemonSets: boolean;
  /** DaemonSets that pods name and that are gone, as `namespace/name`. */
  readonly goneDaemonSets: ReadonlySet<string>;
  /** The uids of pods that were on their way out before the drain began. */
  readonly leaving: ReadonlySet<string>;
  /** Try each pod once. */
  readonly once: boolean;
  /**
   * Nobody looks on: no node begins after one where everything was denied, and a sign of life that is
   * denied is tried again.
   */
  readonly isUnattended: boolean;
  /** Show on each node that is being drained that we are at work there (command `renewMark`). */
  readonly marksNodes: boolean;
  /** Requests that others may have sent before they saw our mark are waited for so long. */
  readonly handoverMs: Millis;
  /** Names in metadata.managedFields of programs that leave marked nodes' pods to us. */
  readonly partners: readonly string[];
  /** Our name in metadata.managedFields: what bears it is our own doing. */
  readonly fieldManager: string;
  readonly pace: DrainPace;
}

/** The choices of a program that carries out one drain. */
export type DrainProgram = Omit<DrainConfig, 'spec'>;

/** The number of requests at one time, and the waits between tries. */
interface DrainPace {
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
}

const defaultPace: DrainPace = {
  requestsInFlightMax: 50,
  blockedRetryWaitMs: 5000,
  interceptedRetryWaitMs: 15_000,
  retryWaitMsMin: 200,
  retryWaitMsMax: 10_000,
  confirmationWaitMs: 30_000,
};

/** A drain as kubectl drain has it, for somebody who looks on, but for what is said otherwise. */
export function resolveDrainConfig(
  options: Pick<DrainConfig, 'spec'> & Partial<DrainConfig>,
): DrainConfig {
  return {
    comparisonOperators: false,
    leavesDaemonSets: false,
    goneDaemonSets: new Set(),
    leaving: new Set(),
    once: false,
    isUnattended: false,
    marksNodes: false,
    handoverMs: 0,
    partners: [],
    fieldManager: 'kubectl-taintmgr',
    pace: defaultPace,
    ...options,
  };
}

/** The taint that is on the nodes, or about to be. */
export function drainTaint({ taint }: Pick<NodeDrainSpec, 'taint'>): Taint {
  return { ...taint, timeAdded: null };
}

/** The same as the eviction of a pod takes it. */
export function budgetPolicyOf({ budgets }: Pick<NodeDrainSpec, 'budgets'>): BudgetPolicy {
  const { policy, deleteAfter = 0 } = budgets;
  if (policy === 'DeleteAfter') return { kind: 'deleteAfter', afterMs: deleteAfter };
  return { kind: policy === 'Ignore' ? 'ignore' : 'respect' };
}
