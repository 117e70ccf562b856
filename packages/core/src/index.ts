// The engine: events in, commands out. Machines and policies have separate entry points.

// The engine.

export { type Config, defaultConfig, resolveConfig, type Semantics } from './config.ts';
export { type CarriedDrain, createEngine, type Engine, type TakeoverStatus } from './engine.ts';

// Input: events, and the objects they carry.

export type { Event } from './event.ts';
export { makeNode, makePod, type NodeInput, type PodInput } from './model/builders.ts';
export type { Lease, Node, NodeCondition, NodeRef, PastPause } from './model/node.ts';
export type {
  DaemonSet,
  Disruption,
  Namespace,
  Owner,
  Pod,
  PodRef,
  PodView,
  PodViews,
} from './model/pod.ts';
export type { Labels } from './model/selector.ts';
export type { Taint } from './model/taint.ts';
export type { Toleration } from './model/toleration.ts';
export type { DrainMarkName, WorkingDrain } from './model/working-drain.ts';

// Output: commands, and their outcomes.

export {
  type PolicyDenial,
  policyDenial,
  type WebhookDenial,
  webhookDenial,
} from './attempt/blocker.ts';
export type { BudgetNumbers, Outcome } from './attempt/outcome.ts';
export type { Command } from './command.ts';
export { confirmEviction } from './eviction/confirm.ts';
export type { EvictionCommand, LimitCommand } from './eviction/eviction-command.ts';
export type { NodeCommand } from './lifecycle/node-command.ts';

// Reports for people.

export type { Notice, Report } from './command.ts';
export type { LimitReport, PodReport } from './eviction/eviction-command.ts';
export type { LifecycleReport } from './lifecycle/reason.ts';

// Explanations, and their words.

export type { AttemptState } from './attempt/attempt.ts';
export { type Blocker, blockerOf } from './attempt/blocker.ts';
export type { Counts, PolicyCounts } from './counts.ts';
export type { Decision } from './eviction/decide.ts';
export {
  type Cause,
  describeReason,
  type Reason,
  type ReasonCode,
  type StartSource,
} from './eviction/reason.ts';
export type { ObservedTaint } from './eviction/taint-clock.ts';
export type { Explanation, NodeExplanation, PodExplanation, Subject } from './explain.ts';
export { describePodView } from './model/pod.ts';

// The pods that have to be known.

export { type AllPodsNeed, allPodsNeeds, concernsPods } from './config.ts';

// Pauses, which hold deadlines.

export type { KnownPause } from './store.ts';

// Taints, tolerations and selectors.

export { type LabelExpression, type LabelSelector, selects } from './model/selector.ts';
export { formatTaint, parseTaint, type TaintName } from './model/taint.ts';
export { type MatchOptions, toleratesTaint } from './model/toleration.ts';

// Parts of objects.

export { maintenanceOf, readyOf, zoneName } from './model/node.ts';
export { parseQuantity, type Quantity, quantityValue } from './model/quantity.ts';
