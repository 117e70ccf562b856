// What is done about which taint, how much of it at once, and which condition becomes which taint.

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
export type { NodeDrain, NodeDrainSpec } from '../policy/node-drain.ts';
export { canFitBoth, canOverlap, contradiction, isForNoExecute } from '../policy/overlap.ts';
export { actionRights, type PodRight, podRightRemedies } from '../policy/pod-rights.ts';
export type {
  EvictionPause,
  EvictionPauseScope,
  EvictionPolicy,
  NodeTaintRule,
  PolicyAction,
  PolicyMatch,
  TaintPattern,
} from '../policy/values.ts';

// The kinds of taintmgr.dev/v1alpha1: their manifests, and what the API server is told of them.

export { type CustomResourceDefinition, customResourceDefinitions } from '../policy/kinds/crd.ts';
export type { EvictionPauseSpec, EvictionPauseStatus } from '../policy/kinds/eviction-pause.ts';
export type { EvictionPolicySpec } from '../policy/kinds/eviction-policy.ts';
export {
  fittedStatus,
  type KindName,
  policyApiVersion,
  policyKinds,
  type StatusOf,
} from '../policy/kinds/kinds.ts';
export {
  type NamedTaintManager,
  type PolicyObject,
  readManifest,
} from '../policy/kinds/manifest.ts';
export { metadataFaults } from '../policy/kinds/metadata-faults.ts';
export type { NodeDrainStatus } from '../policy/kinds/node-drain/status.ts';
export { drainFinalizer } from '../policy/kinds/node-drain/value.ts';
export type { NodeTaintRuleSpec } from '../policy/kinds/node-taint-rule.ts';
export {
  drainMarksFeature,
  lastReplicaFeature,
  type TaintManagerStatus,
} from '../policy/kinds/taint-manager.ts';
export type { ManifestFault } from '../policy/schema/fault.ts';
export type { Judged } from '../policy/schema/judge.ts';

// Which pods a pause is for.

export { coversNamespace } from '../policy/pause-scope.ts';

// Takeover.

export { isTakenOver, takeoverLabel, takeoverProgram } from '../policy/takeover.ts';

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
