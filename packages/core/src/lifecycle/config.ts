// Limits and choices of the node lifecycle with their defaults.
import {
  noOthers,
  numberFrom,
  oneOf,
  refuse,
  trueOrFalse,
  wholeNumber,
  withDefaults,
} from '../kernel/checks.ts';
import type { Millis } from '../kernel/time.ts';
import type { LabelSelector } from '../model/selector.ts';
import {
  type ConditionRule,
  checkConditionRule,
  type RetiredRule,
} from '../policy/condition-rule.ts';
import type { ZoneRates } from './zone-rates.ts';

/** When many nodes become unreachable at once, the controller itself may be cut off. */
export interface MassUnreachable {
  /** The share of all nodes that count, above 0 to 1, from which on it is suspect. */
  readonly share: number;
  /** The smallest number of such nodes. */
  readonly nodesMin: number;
  /** Within this time. */
  readonly withinMs: Millis;
  /** For this time no new taint follows from it. */
  readonly holdMs: Millis;
}

/** A node that becomes unreachable again and again has to stay ready for longer before its taint goes. */
export interface Flapping {
  /** The number of times within `withinMs`. */
  readonly times: number;
  /** The window in which times count. */
  readonly withinMs: Millis;
  /** The time for which such a node has to be healthy before its taint is removed. */
  readonly healthyMs: Millis;
}

/**
 * The limits and choices of the node lifecycle machine, with kube-controller-manager's defaults
 * where it has them. Times are in milliseconds, rates in nodes a second. Under `upstream-1.36` those
 * from `zoneMembers` on do not count.
 */
export interface LifecycleConfig extends ZoneRates {
  /**
   * The treatment of nodes that are not ready: `taints`, or, as kube-controller-manager did before
   * 1.27 on request, `pods`: their pods are deleted after `podEvictionTimeoutMs`. The latter under
   * `upstream-1.36` only.
   */
  readonly enforcement: 'taints' | 'pods';
  /** With `pods`: the time between a node's failure and the deletion of its pods. */
  readonly podEvictionTimeoutMs: Millis;
  /** Between two looks at the nodes. */
  readonly nodeMonitorPeriodMs: Millis;
  /** The time a node may send no heartbeat before it counts as unreachable. */
  readonly nodeMonitorGracePeriodMs: Millis;
  /** The same for a node whose kubelet has not reported yet, from its creation. */
  readonly nodeStartupGracePeriodMs: Millis;
  /** The nodes that count for the state of their zone. */
  readonly zoneMembers: LabelSelector;
  /** The treatment of a zone that is down as a whole while others live: go on, or wait. */
  readonly fullDisruption: 'evict' | 'hold';
  /** Pods of unreachable nodes are marked not ready: with their zone's consent, or whatever it is. */
  readonly podReadiness: 'limited' | 'at-once';
  /** Null: never suspect. */
  readonly massUnreachable: MassUnreachable | null;
  /** The time for which a node has to be healthy before its NoExecute taint is removed. */
  readonly healthyMs: Millis;
  /** For nodes that fail again and again; null: `healthyMs` holds for all. */
  readonly flapping: Flapping | null;
  /** The rules that turn conditions into taints. */
  readonly conditionRules: readonly ConditionRule[];
  /** Rules that an earlier run may have had: the taints that they put on go, unless a rule wants them. */
  readonly retiredRules: readonly RetiredRule[];
  /** Writes sent and not yet answered, at most. */
  readonly writesInFlightMax: number;
  /**
   * Another program watches the nodes: nothing is written. Only zones, the guard against mass
   * unreachability and their consequences for deadlines and readiness are kept, also by replicas
   * that do not lead.
   */
  readonly observes: boolean;
}

/** The defaults. Rates and periods are those of kube-controller-manager 1.36. */
export const defaultLifecycleConfig: LifecycleConfig = {
  enforcement: 'taints',
  podEvictionTimeoutMs: 300_000,
  nodeMonitorPeriodMs: 5_000,
  nodeMonitorGracePeriodMs: 50_000,
  nodeStartupGracePeriodMs: 60_000,
  nodeEvictionRate: 0.1,
  secondaryNodeEvictionRate: 0.01,
  largeClusterSizeThreshold: 50,
  unhealthyZoneThreshold: 0.55,
  zoneMembers: {
    matchExpressions: [{ key: 'node.kubernetes.io/exclude-disruption', operator: 'DoesNotExist' }],
  },
  fullDisruption: 'evict',
  podReadiness: 'limited',
  massUnreachable: { share: 0.5, nodesMin: 3, withinMs: 20_000, holdMs: 60_000 },
  healthyMs: 0,
  flapping: null,
  conditionRules: [],
  retiredRules: [],
  writesInFlightMax: 50,
  observes: false,
};

/** Fills in the defaults. Throws RangeError naming the field, the value and what is allowed. */
export function resolveLifecycleConfig(options: Partial<LifecycleConfig>): LifecycleConfig {
  noOthers('lifecycle.', options, defaultLifecycleConfig);
  const config = withDefaults(defaultLifecycleConfig, options);
  trueOrFalse('lifecycle.', config, defaultLifecycleConfig);
  oneOf('lifecycle.enforcement', config.enforcement, ['taints', 'pods']);
  oneOf('lifecycle.fullDisruption', config.fullDisruption, ['evict', 'hold']);
  oneOf('lifecycle.podReadiness', config.podReadiness, ['limited', 'at-once']);
  for (const [field, min] of wholeNumbers) wholeNumber(`lifecycle.${field}`, config[field], min);
  for (const field of rates) numberFrom(`lifecycle.${field}`, config[field], 0);
  const { massUnreachable, flapping } = config;
  if (massUnreachable) checkMassUnreachable(massUnreachable);
  if (flapping) checkFlapping(flapping);
  for (const [index, rule] of config.conditionRules.entries()) {
    checkConditionRule(`lifecycle.conditionRules[${index}].`, rule);
  }
  return config;
}

const wholeNumbers = [
  ['podEvictionTimeoutMs', 0],
  ['nodeMonitorPeriodMs', 1],
  ['nodeMonitorGracePeriodMs', 1],
  ['nodeStartupGracePeriodMs', 1],
  ['largeClusterSizeThreshold', 0],
  ['healthyMs', 0],
  ['writesInFlightMax', 1],
] as const;

const rates = ['nodeEvictionRate', 'secondaryNodeEvictionRate', 'unhealthyZoneThreshold'] as const;

function checkMassUnreachable({ share, nodesMin, withinMs, holdMs }: MassUnreachable): void {
  const isShare = share > 0 && share <= 1;
  refuse('lifecycle.massUnreachable.share', share, isShare, 'a number above 0, at most 1');
  wholeNumber('lifecycle.massUnreachable.nodesMin', nodesMin, 1);
  wholeNumber('lifecycle.massUnreachable.withinMs', withinMs, 1);
  wholeNumber('lifecycle.massUnreachable.holdMs', holdMs, 0);
}

function checkFlapping({ times, withinMs, healthyMs }: Flapping): void {
  wholeNumber('lifecycle.flapping.times', times, 1);
  wholeNumber('lifecycle.flapping.withinMs', withinMs, 1);
  wholeNumber('lifecycle.flapping.healthyMs', healthyMs, 0);
}
