// The only door of the package.

// The contract: what goes in, what comes out.

export type { Blocker, BlockerCode, BlockerVerdict } from './attempt/blocker.ts';
export type { BudgetPolicy } from './attempt/budget-policy.ts';
export type { BudgetNumbers, Outcome, Setback } from './attempt/outcome.ts';
export type { Command, Notice, Report } from './command.ts';
export { type Config, defaultConfig, resolveConfig, type Semantics } from './config.ts';
// The engine.
export { lifecycleRules } from './differences/lifecycle-rules.ts';
export { type NodePressureRuleName, nodePressureRules } from './differences/pressure-rules.ts';
export { type Rule, type RuleName, rules } from './differences/rules.ts';
export type { Comparison } from './differences/shadow.ts';
export {
  type DrainConfig,
  type DrainTarget,
  defaultDrainConfig,
  type Respect,
  resolveDrainConfig,
} from './drain/config.ts';
export { carriesTaint, withTaint } from './drain/decide.ts';
export {
  type DrainFault,
  type DrainOptions,
  type DrainVerdict,
  drainFaultText,
  drainFlag,
  drainVerdict,
} from './drain/filters.ts';
export { type DrainCommand, DrainMachine } from './drain/machine.ts';
export {
  type DrainPlan,
  type PlanInput,
  type PlannedPod,
  type PlanPod,
  planDrain,
} from './drain/plan.ts';
export {
  type PredictedBlocker,
  type PredictionSite,
  predictBlockers,
} from './drain/predicted-blockers.ts';
export type {
  Departure,
  DrainFailure,
  DrainNode,
  DrainNodePhase,
  DrainNote,
  DrainPod,
  DrainPodState,
  DrainStop,
  ForeignDeletion,
  TaintNode,
} from './drain/state.ts';
export { createEngine, type Engine } from './engine.ts';
export type { Event, PauseScope } from './event.ts';
export type {
  EvictionCommand,
  LimitCommand,
  LimitReport,
  PodReport,
} from './eviction/command.ts';
export { confirmEviction } from './eviction/confirm.ts';
export type { Decision, LeaveOptions } from './eviction/decide.ts';
export { describeCount, describeLimit } from './eviction/limits/text.ts';
export type { Cause, Reason, ReasonCode, StartSource } from './eviction/reason.ts';
export type { ObservedTaint } from './eviction/taint-clock.ts';
export { describeReason } from './eviction/text.ts';
export type { Work } from './eviction/work.ts';
export type { Explanation, NodeExplanation, PodExplanation, Subject } from './explain.ts';
export { shardOf } from './kernel/shard.ts';
export {
  endOfSecond,
  formatDuration,
  formatTime,
  formatTimeMillis,
  type Instant,
  type Millis,
  parseDuration,
  parseTime,
} from './kernel/time.ts';
export type { NodeCommand } from './lifecycle/command.ts';
export {
  defaultLifecycleConfig,
  type Flapping,
  type LifecycleConfig,
  type MassUnreachable,
  resolveLifecycleConfig,
} from './lifecycle/config.ts';
export { type Forecast, forecastOf, type Observation } from './lifecycle/forecast.ts';
export type {
  HoldReason,
  LifecycleReason,
  LifecycleReport,
  NodeHealth,
  NodeWrite,
  ZoneStatus,
} from './lifecycle/reason.ts';
export { describeHold, describeLifecycleReason } from './lifecycle/text.ts';
export {
  type ZoneCounts,
  type ZoneRates,
  type ZoneState,
  zoneRate,
  zoneState,
} from './lifecycle/zones.ts';
export { type Budget, budgetsOver, isShut } from './model/budget.ts';
export {
  type Lease,
  mergeConditions,
  type Node,
  type NodeCondition,
  type NodeRef,
  readyOf,
} from './model/node.ts';
export type { DaemonSet, Disruption, Owner, Pod, PodRef } from './model/pod.ts';
// Pure functions worth having on their own.
export { describePodView, type PodView, type PodViews } from './model/pod-view.ts';
export {
  formatAmount,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  quantityValue,
} from './model/quantity.ts';
export {
  type LabelExpression,
  type LabelSelector,
  type Labels,
  selects,
} from './model/selector.ts';
export type { Taint, TaintEffect, TaintName } from './model/taint.ts';
export {
  formatTaint,
  parseTaint,
  parseTaintChanges,
  type TaintChanges,
} from './model/taint-spec.ts';
export { type MatchOptions, type Toleration, toleratesTaint } from './model/toleration.ts';
export { zoneKey, zoneName } from './model/zone.ts';
// Which pods have to be known, and how they are.
export { type AllPodsNeed, allPodsNeeds, concernsPods } from './pod-needs.ts';
export type { ConditionRule } from './policy/condition-rule.ts';
export type { EvictionMode, Policy, TaintPolicy } from './policy/eviction-policy.ts';
export {
  defaultWindowMs,
  type LimitCount,
  type LimitHit,
  type LimitRule,
  type LimitScope,
  type LimitStatus,
  limitId,
} from './policy/limit.ts';
export {
  type LimitRecord,
  needsRecord,
  type RecordedLimit,
  type ResumeRequest,
} from './policy/limit-record.ts';
// Node pressure: a machine of its own, for as many nodes as one likes.
export { admissionFault } from './pressure/admission.ts';
export type { EvictedStatus, PressureCommand, PressureReport } from './pressure/command.ts';
export {
  defaultPressureConfig,
  type PressureConfig,
  type PressurePool,
  resolvePressureConfig,
} from './pressure/config.ts';
export type { PodBreach, PressureDecision } from './pressure/decide.ts';
export type { PressureEvent, PressureNode } from './pressure/event.ts';
export type {
  ConditionExplanation,
  PodInOrder,
  PressureExplanation,
  SignalExplanation,
} from './pressure/explain.ts';
export type { LocalBreach } from './pressure/local-limits.ts';
export { createPressureMachine, type PressureMachine } from './pressure/machine.ts';
export type { FilesystemLayout, ReclaimFunction } from './pressure/observation/filesystems.ts';
export type {
  ContainerUsage,
  DiskUsage,
  NodeObservation,
  PodUsage,
  Sample,
  VolumeUsage,
} from './pressure/observation/observation.ts';
export { readSummary } from './pressure/observation/summary.ts';
export type {
  PressureContainer,
  PressurePod,
  PressureVolume,
  ResourceList,
  ResourceRequirements,
} from './pressure/pods/pod.ts';
export { computeQosClass, type QosClass, qosClassOf } from './pressure/pods/qos.ts';
export type { PodRefusal, PressureReason, PressureReasonCode } from './pressure/reason.ts';
export type { ComparatorName, PressureSemantics } from './pressure/semantics.ts';
export {
  type PressureSettings,
  type PressureSettingsInput,
  parseEvictionFlag,
  resolvePressureSettings,
} from './pressure/settings/settings.ts';
export {
  formatThreshold,
  type Threshold,
  type ThresholdValue,
} from './pressure/settings/thresholds.ts';
export {
  type PressureConditionType,
  type PressureResource,
  pressureConditions,
  type Signal,
  signals as pressureSignals,
} from './pressure/signals.ts';
export { describePressureReason } from './pressure/text.ts';
export type { ThresholdPhase, ThresholdState } from './pressure/threshold-states.ts';
export type { PressureWork } from './pressure/work.ts';
