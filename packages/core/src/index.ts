// The only door of the package.

// The contract: what goes in, what comes out.

export type { Blocker, BlockerCode, Verdict } from './attempt/blocker.ts';
export type {
  Command,
  EvictionCommand,
  LimitCommand,
  LimitReport,
  NodeCommand,
  PodReport,
  Report,
  TaintName,
  Telling,
} from './command.ts';
export type { Config, Semantics } from './config.ts';
export { defaultConfig, resolveConfig } from './config.ts';
// The engine.
export { lifecycleRules } from './differences/lifecycle-rules.ts';
export type { NodePressureRuleName } from './differences/pressure-rules.ts';
export { nodePressureRules } from './differences/pressure-rules.ts';
export type { Rule, RuleName } from './differences/rules.ts';
export { rules } from './differences/rules.ts';
export type { Comparison } from './differences/shadow.ts';
export type { BudgetPolicy, DrainConfig, DrainTarget, Respect } from './drain/config.ts';
export { defaultDrainConfig, resolveDrainConfig } from './drain/config.ts';
export { hasTaint, withTaint } from './drain/decide.ts';
export type { Departure, ForeignDeletion } from './drain/departure.ts';
export type { DrainFault, DrainOptions, DrainVerdict } from './drain/filters.ts';
export { drainFaultText, drainFlag, drainVerdict } from './drain/filters.ts';
export type { DrainCommand } from './drain/machine.ts';
export { DrainMachine } from './drain/machine.ts';
export type { DrainPlan, PlanInput, PlannedPod, PlanPod } from './drain/plan.ts';
export { planDrain } from './drain/plan.ts';
export type { ForeseenBlocker, ForeseenSite } from './drain/predicted-blockers.ts';
export { foreseeBlockers } from './drain/predicted-blockers.ts';
export type {
  DrainFailure,
  DrainNode,
  DrainNodePhase,
  DrainNote,
  DrainPod,
  DrainPodState,
  DrainStop,
  TaintNode,
} from './drain/state.ts';
export type { Engine } from './engine.ts';
export { createEngine } from './engine.ts';
export type { BudgetNumbers, Event, Outcome, PauseScope, Setback } from './event.ts';
export { confirmEviction } from './eviction/confirm.ts';
export type { Decision, LeaveOptions } from './eviction/decide.ts';
export { describeCount, describeLimit } from './eviction/limits/text.ts';
// Which pods have to be known, and how they are.
export { type AllPodsNeed, allPodsNeeds, concernsPods } from './eviction/pod-needs.ts';
export type { Cause, Reason, ReasonCode, StartSource } from './eviction/reason.ts';
export type { ObservedTaint } from './eviction/taint-clock.ts';
export { describeReason } from './eviction/text.ts';
export type { Work } from './eviction/work.ts';
export type { Explanation, NodeExplanation, PodExplanation, Subject } from './explain.ts';
export { shardOf } from './kernel/shard.ts';
export type { Instant, Millis } from './kernel/time.ts';
export {
  endOfSecond,
  formatDuration,
  formatTime,
  formatTimeMillis,
  parseDuration,
  parseTime,
} from './kernel/time.ts';
export { mergeConditions, readyOf } from './lifecycle/condition-taints.ts';
export type { Flapping, LifecycleConfig, MassSilence } from './lifecycle/config.ts';
export { defaultLifecycleConfig, resolveLifecycleConfig } from './lifecycle/config.ts';
export { type Outlook, outlookOf, type Sighting } from './lifecycle/forecast.ts';
export type {
  HoldReason,
  LifecycleReason,
  LifecycleReport,
  NodeHealth,
  NodeWrite,
  ZoneStatus,
} from './lifecycle/reason.ts';
export { describeHold, describeLifecycleReason } from './lifecycle/text.ts';
export type { ZoneCensus, ZoneRates, ZoneState } from './lifecycle/zones.ts';
export { zoneKey, zoneName, zoneRate, zoneState } from './lifecycle/zones.ts';
export type { Budget } from './model/budget.ts';
// Pure functions worth having on their own.
export { budgetsOver, isShut } from './model/budget.ts';
export { describePodView, type PodView, type PodViews } from './model/pod-view.ts';
export type { Quantity, QuantityFormat } from './model/quantity.ts';
export { formatAmount, parseQuantity, quantityValue } from './model/quantity.ts';
export { selects } from './model/selector.ts';
export {
  formatTaint,
  parseTaint,
  parseTaintChanges,
  type TaintChanges,
} from './model/taint-spec.ts';
export { type MatchOptions, toleratesTaint } from './model/toleration.ts';
export type {
  DaemonSet,
  Disruption,
  LabelExpression,
  LabelSelector,
  Labels,
  Lease,
  Node,
  NodeCondition,
  NodeRef,
  Owner,
  Pod,
  PodRef,
  Taint,
  TaintEffect,
  Toleration,
} from './model.ts';
export type { ConditionRule } from './policy/condition-rule.ts';
export type { EvictionMode, Policy, TaintPolicy } from './policy/eviction-policy.ts';
export type {
  LimitCount,
  LimitHit,
  LimitRule,
  LimitScope,
  LimitStatus,
} from './policy/limit.ts';
export { defaultWindowMs, limitId } from './policy/limit.ts';
export type { LimitRecord, RecordedLimit, ResumeRequest } from './policy/limit-record.ts';
export { needsRecord } from './policy/limit-record.ts';
// Node pressure: a machine of its own, for as many nodes as one likes.
export { admissionFault } from './pressure/admission.ts';
export type { EvictedStatus, PressureCommand, PressureReport } from './pressure/command.ts';
export type { PressureConfig, PressurePool } from './pressure/config.ts';
export { defaultPressureConfig, resolvePressureConfig } from './pressure/config.ts';
export type { PodBreach, PressureDecision } from './pressure/decide.ts';
export type { PressureEvent, PressureNode } from './pressure/event.ts';
export type {
  ConditionExplanation,
  PodInOrder,
  PressureExplanation,
  SignalExplanation,
} from './pressure/explain.ts';
export type { LocalBreach } from './pressure/local-limits.ts';
export type { PressureMachine } from './pressure/machine.ts';
export { createPressureMachine } from './pressure/machine.ts';
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
export type { QosClass } from './pressure/pods/qos.ts';
export { computeQosClass, qosClassOf } from './pressure/pods/qos.ts';
export type { ComparatorName } from './pressure/rank.ts';
export type { PodRefusal, PressureReason, PressureReasonCode } from './pressure/reason.ts';
export type { PressureSemantics } from './pressure/semantics.ts';
export type { PressureSettings, PressureSettingsInput } from './pressure/settings/settings.ts';
export { parseEvictionFlag, resolvePressureSettings } from './pressure/settings/settings.ts';
export type { Threshold, ThresholdValue } from './pressure/settings/thresholds.ts';
export { formatThreshold } from './pressure/settings/thresholds.ts';
export type { PressureConditionType, PressureResource, Signal } from './pressure/signals.ts';
export { pressureConditions, signals as pressureSignals } from './pressure/signals.ts';
export { describePressureReason } from './pressure/text.ts';
export type { ThresholdPhase, ThresholdState } from './pressure/threshold-states.ts';
export type { PressureWork } from './pressure/work.ts';
