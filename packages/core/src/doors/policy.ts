// Policies, limits and condition rules: the treatment of taints, and its bounds.

// Eviction policies.

export type { BudgetPolicy } from '../attempt/delete-or-evict.ts';
export type { EvictionMode, Policy } from '../policy/eviction-policy.ts';

// Policies, taint rules and pauses of the cluster, and which policy counts.

export {
  type ExplainedChoice,
  explainChoice,
  type PolicyPart,
  type PolicySubject,
  type PolicyVerdict,
} from '../policy/choice.ts';
export { actionRights, type PodRight, podRightRemedies } from '../policy/eviction-policy.ts';
export { type NodeDrain, type NodeDrainSpec, plainDrainSpec } from '../policy/node-drain.ts';
export { canFitBoth, canOverlap, contradiction, isForNoExecute } from '../policy/overlap.ts';
export type {
  EvictionPause,
  EvictionPauseScope,
  EvictionPolicy,
  NodeTaintRule,
  PolicyAction,
  PolicyMatch,
  TaintPattern,
} from '../policy/values.ts';

// The scope of a pause.

export { coversNamespace } from '../policy/scope.ts';

// Takeover.

export { isTaintReason } from '../model/pod.ts';
export { isTakenOver, takeoverLabel, takeoverProgram } from '../policy/scope.ts';

// Limits, and the record that outlives a restart.

export {
  defaultWindowMs,
  describeCount,
  isWindowed,
  type LimitCount,
  type LimitHit,
  type LimitRule,
  type LimitScope,
  type LimitStatus,
  limitId,
  resumeCommand,
} from '../policy/limit.ts';
export {
  type LimitRecord,
  needsRecord,
  type RecordedLimit,
  type ResumeRequest,
} from '../policy/limit-record.ts';

// Condition rules.

export type { ConditionRule } from '../policy/condition-rule.ts';
