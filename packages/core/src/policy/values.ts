// The manifests of policies, taint rules and pauses, as the engine takes them: times in
// milliseconds, selectors as they are matched, missing fields as null.
import type { Instant, Millis } from '../kernel/time.ts';
import type { LabelSelector } from '../model/selector.ts';
import type { ConditionRule } from './condition-rule.ts';
import type { LimitRule } from './limit.ts';

/** The way a policy makes pods leave. */
export type PolicyAction =
  /** DELETE, as kube-controller-manager does: disruption budgets are not asked. */
  | 'Delete'
  /** The Eviction API: disruption budgets are respected, for as long as it takes. */
  | 'Evict'
  /** The Eviction API, and DELETE when `deleteAfterMs` is over. */
  | 'EvictThenDelete'
  /**
   * The pod's responder is asked to move it (EvictionRequest); where there is none, the Eviction
   * API.
   */
  | 'Request'
  /** The pods stay. */
  | 'Keep'
  /** As kube-controller-manager does it, whatever the flags say. */
  | 'KubeControllerManager';

/** The taints that a policy is for: patterns, in which `*` stands for any characters. */
export interface TaintPattern {
  /** Pattern of the key; left out: every key. */
  readonly key?: string;
  /** Pattern of the value; left out: every value. */
  readonly value?: string;
  /** Pattern of the effect; left out: every effect. */
  readonly effect?: string;
}

/** The scope of a policy. Everything given must match; null: no condition. */
export interface PolicyMatch {
  /** A list of taints, one of which must match. Empty: every NoExecute taint. */
  readonly taints: readonly TaintPattern[];
  /** Selects nodes. */
  readonly nodes: LabelSelector | null;
  /** `names` are patterns, of which one must match (none: every name); so must the selector. */
  readonly namespaces: {
    readonly names: readonly string[];
    readonly selector: LabelSelector | null;
  } | null;
  /** Selects pods. */
  readonly pods: LabelSelector | null;
  /** A priority within the bounds, and (where any are given) one of these PriorityClasses. */
  readonly podPriority: {
    readonly min: number | null;
    readonly max: number | null;
    readonly classes: readonly string[];
  } | null;
}

/**
 * An EvictionPolicy. Of those that match a pod and its taint and name an action, the one with the
 * highest priority counts, with equal priority the first by name. Fields that it leaves out are as
 * the process is configured. The limits of every policy that matches hold.
 */
export interface EvictionPolicy {
  /** metadata.name. */
  readonly name: string;
  /** '' where it comes from a file. */
  readonly uid: string;
  /** metadata.generation: raised by each change of the spec. */
  readonly generation: number;
  /** Higher counts first. */
  readonly priority: number;
  /** The pods and taints that the policy is for. */
  readonly match: PolicyMatch;
  /** Null: it only limits. */
  readonly action: PolicyAction | null;
  /** A younger taint is not acted on; null: as configured. */
  readonly minTaintAgeMs: Millis | null;
  /** With `EvictThenDelete`: how long after the deadline budgets are asked; null: as configured. */
  readonly deleteAfterMs: Millis | null;
  /** Instead of the pod's own; null: as configured. */
  readonly gracePeriodSeconds: number | null;
  /** A pod with no toleration of the taint counts as one that tolerates it for this time. */
  readonly defaultTolerationSeconds: number | null;
  /** Limits count only the pods that the policy matches. */
  readonly limits: readonly LimitRule[];
}

/** A NodeTaintRule: which condition becomes which taint. */
export interface NodeTaintRule extends ConditionRule {
  /** metadata.uid; '' for a rule of a file. */
  readonly uid: string;
  /** metadata.generation: raised by each change of the spec. */
  readonly generation: number;
}

/** Where an EvictionPause holds evictions. Everything given must match; nothing given: everywhere. */
export interface EvictionPauseScope {
  /** Zones, as `region/zone`; empty: all. */
  readonly zones: readonly string[];
  /** Selects nodes; null: all. */
  readonly nodes: LabelSelector | null;
  /** Patterns of taint keys; empty: all. */
  readonly taintKeys: readonly string[];
  /** Patterns of namespaces; empty: all. */
  readonly namespaces: readonly string[];
}

/** An EvictionPause: evictions that are held until the pause is deleted, or until it is over. */
export interface EvictionPause {
  /** metadata.name. */
  readonly name: string;
  /** metadata.uid; '' for a pause of a file. */
  readonly uid: string;
  /** The pods that it holds. */
  readonly scope: EvictionPauseScope;
  /** Hold too the marking of pods as not ready, and the tainting of unhealthy nodes. */
  readonly readiness: boolean;
  /** Deadlines stand still, so that pods have the time back that the pause took. */
  readonly deadlines: boolean;
  /** The reason, in words; '': none is given. */
  readonly reason: string;
  /** The end, by the cluster's clock; null: when the object is deleted. */
  readonly until: Instant | null;
  /** As the leader has written it; before that, when the pause was made. */
  readonly since: Instant;
  /**
   * Of the hold of a zone, which is no object: that zone. Such a pause ends when one of the zone's
   * nodes is ready.
   */
  readonly zone?: string;
}
