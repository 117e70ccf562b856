import { oneOf, positive, refuse, wholeNumber } from '../kernel/checks.ts';
import type { Millis } from '../kernel/time.ts';
import type { Policy } from '../policy/eviction-policy.ts';
import { isWindowed, type LimitRule } from '../policy/limit.ts';
import type { LeaveOptions } from './decide.ts';

/**
 * Limits and choices of the taint eviction, with what is done about taints for which no EvictionPolicy
 * counts. Times are in milliseconds. Under `upstream-1.36` only leader and comparisonOperators count.
 */
export interface EvictionConfig extends Policy {
  readonly leave: LeaveOptions;
  readonly limits: readonly LimitRule[];
  /** Keep what limits have counted where it survives us (commands `readLimits`, `keepLimits`). */
  readonly keepLimits: boolean;
  /** Write down on nodes since when taints count that do not say it themselves. */
  readonly keepTaintStarts: boolean;
  /**
   * Respect Node.deadline: shorter grace periods, and with `evict-then-delete` budgets are asked
   * for a shorter time, so that pods have ended by then. Off, because any client that may annotate
   * a node can cut both short.
   */
  readonly heedNodeDeadlines: boolean;
  /**
   * Decide only about pods of namespaces that are labelled so (policy/scope.ts). About all others
   * kube-controller-manager decides, which evicts in the same cluster.
   */
  readonly takeover: boolean;
  /** Decide about NoExecute taints of devices too, as far as events tell of devices. */
  readonly deviceTaints: boolean;
  /** True when this replica acts from the start; false for one that waits to be elected. */
  readonly leader: boolean;
  /** Tolerations with operator Lt and Gt count (feature gate TaintTolerationComparisonOperators). */
  readonly comparisonOperators: boolean;
  /** Evictions sent and not yet answered, at most; fewer while the API server is overloaded. */
  readonly evictionsInFlightMax: number;
  /** Wait after the first failed attempt; it doubles with each further one. */
  readonly retryWaitMsMin: Millis;
  readonly retryWaitMsMax: Millis;
  /** Wait after a disruption budget refused, where the API server names no time. */
  readonly blockedRetryWaitMs: Millis;
  /** Wait after an admission webhook kept an eviction for itself, where it names no time. */
  readonly interceptedRetryWaitMs: Millis;
  /** An accepted eviction that the watch does not confirm within this time is looked at again. */
  readonly confirmationWaitMs: Millis;
}

export const defaultEvictionConfig: EvictionConfig = {
  mode: 'delete',
  deleteAfterMs: null,
  gracePeriodSeconds: null,
  minTaintAgeMs: 0,
  leave: { finishedPods: false, returningDaemonSetPods: false, optedOutPods: false },
  limits: [],
  keepLimits: false,
  keepTaintStarts: true,
  heedNodeDeadlines: false,
  takeover: false,
  deviceTaints: false,
  leader: true,
  comparisonOperators: false,
  evictionsInFlightMax: 50,
  retryWaitMsMin: 200,
  retryWaitMsMax: 10_000,
  blockedRetryWaitMs: 5_000,
  interceptedRetryWaitMs: 15_000,
  confirmationWaitMs: 30_000,
};

/** A shorter window is a matter of `podsPerSecond`. */
const windowMsMin: Millis = 1_000;

/** Throws RangeError naming the field, the value and what is allowed. */
export function checkEvictionConfig(config: EvictionConfig): void {
  wholeNumber('evictionsInFlightMax', config.evictionsInFlightMax, 1);
  wholeNumber('retryWaitMsMin', config.retryWaitMsMin, 1);
  wholeNumber('retryWaitMsMax', config.retryWaitMsMax, config.retryWaitMsMin);
  wholeNumber('blockedRetryWaitMs', config.blockedRetryWaitMs, 1);
  wholeNumber('interceptedRetryWaitMs', config.interceptedRetryWaitMs, 1);
  wholeNumber('confirmationWaitMs', config.confirmationWaitMs, 1);
  checkPolicy(config);
  for (const [index, limit] of config.limits.entries()) checkLimit(`limits[${index}].`, limit);
}

function checkPolicy({ mode, deleteAfterMs, gracePeriodSeconds, minTaintAgeMs }: Policy): void {
  oneOf('mode', mode, ['delete', 'evict', 'evict-then-delete']);
  if (deleteAfterMs !== null) wholeNumber('deleteAfterMs', deleteAfterMs, 0);
  if (gracePeriodSeconds !== null) wholeNumber('gracePeriodSeconds', gracePeriodSeconds, 1);
  wholeNumber('minTaintAgeMs', minTaintAgeMs, 0);
}

function checkLimit(path: string, limit: LimitRule): void {
  const { per, podsPerSecond, burst, percent, pods, windowMs, onLimit } = limit;
  oneOf(`${path}per`, per, ['total', 'zone', 'namespace', 'node', 'taint', 'workload']);
  oneOf(`${path}onLimit`, onLimit, ['queue', 'trip']);
  const counts = podsPerSecond !== undefined || isWindowed(limit);
  refuse(`${path}podsPerSecond`, podsPerSecond, counts, 'a rate here, or a percent, or pods');
  if (podsPerSecond !== undefined) positive(`${path}podsPerSecond`, podsPerSecond, 1e6);
  if (burst !== undefined) wholeNumber(`${path}burst`, burst, 1);
  if (percent !== undefined) positive(`${path}percent`, percent, 100);
  if (pods !== undefined) wholeNumber(`${path}pods`, pods, 1);
  if (windowMs === undefined) return;
  wholeNumber(`${path}windowMs`, windowMs, windowMsMin);
  refuse(
    `${path}windowMs`,
    windowMs,
    isWindowed(limit),
    'none here, or a percent or pods beside it',
  );
}
