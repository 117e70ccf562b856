// The contract: what goes in, what comes out.
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
// The engine.
export { lifecycleRules } from './compare/lifecycle-rules.ts';
export type { Rule, RuleName } from './compare/rules.ts';
export { rules } from './compare/rules.ts';
export type { Comparison } from './compare/shadow.ts';
export type { Config, Semantics } from './config.ts';
export { defaultConfig, resolveConfig } from './config.ts';
export type { Budget } from './drain/budget.ts';
// Pure functions worth having on their own.
export { budgetsOver, isShut } from './drain/budget.ts';
export type { BudgetPolicy, DrainConfig, DrainTarget, Respect } from './drain/config.ts';
export { defaultDrainConfig, resolveDrainConfig } from './drain/config.ts';
export type { Departure, ForeignDeletion } from './drain/departure.ts';
export type { DrainFault, DrainOptions, DrainVerdict } from './drain/filters.ts';
export { drainFaultText, drainFlag, drainVerdict } from './drain/filters.ts';
export type { ForeseenBlocker, ForeseenSite } from './drain/foreseen.ts';
export { foreseeBlockers } from './drain/foreseen.ts';
export { hasTaint, withTaint } from './drain/judge.ts';
export type { DrainCommand } from './drain/machine.ts';
export { DrainMachine } from './drain/machine.ts';
export type { DrainPlan, PlanInput, PlannedPod, PlanPod } from './drain/plan.ts';
export { planDrain } from './drain/plan.ts';
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
export type { Blocker, BlockerCode, Verdict } from './eviction/blocker.ts';
export { confirmEviction } from './eviction/confirm.ts';
export type { Decision, LeaveOptions } from './eviction/decide.ts';
export type {
  LimitCount,
  LimitHit,
  LimitRule,
  LimitScope,
  LimitStatus,
} from './eviction/limit.ts';
export { defaultWindowMs, limitId } from './eviction/limit.ts';
export type { LimitRecord, RecordedLimit, ResumeRequest } from './eviction/limit-record.ts';
export { needsRecord } from './eviction/limit-record.ts';
export type { EvictionMode, Policy, TaintPolicy } from './eviction/policy.ts';
export type { ObservedTaint } from './eviction/taint-ledger.ts';
export { type MatchOptions, toleratesTaint } from './eviction/tolerations.ts';
export type { Work } from './eviction/work.ts';
export type { Explanation, NodeExplanation, PodExplanation, Subject } from './explain/explain.ts';
export { describeCount, describeLimit } from './explain/limit-text.ts';
export { describeReason } from './explain/text.ts';
export type { ConditionRule } from './lifecycle/condition-rule.ts';
export { mergeConditions, readyOf } from './lifecycle/conditions.ts';
export type { Flapping, LifecycleConfig, MassSilence } from './lifecycle/config.ts';
export { defaultLifecycleConfig, resolveLifecycleConfig } from './lifecycle/config.ts';
export { type Outlook, outlookOf, type Sighting } from './lifecycle/outlook.ts';
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
// Which pods have to be known, and how they are.
export { type AllPodsNeed, allPodsNeeds, concernsPods } from './pod-needs.ts';
export { describePodView, type PodView, type PodViews } from './pod-view.ts';
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
export type { FilesystemLayout, ReclaimFunction } from './pressure/filesystems.ts';
export type { ThresholdPhase, ThresholdState } from './pressure/ledger.ts';
export type { LocalBreach } from './pressure/local-limits.ts';
export type { PressureMachine } from './pressure/machine.ts';
export { createPressureMachine } from './pressure/machine.ts';
export type {
  ContainerUsage,
  DiskUsage,
  NodeObservation,
  PodUsage,
  Sample,
  VolumeUsage,
} from './pressure/observation.ts';
export type {
  PressureContainer,
  PressurePod,
  PressureVolume,
  ResourceList,
  ResourceRequirements,
} from './pressure/pod.ts';
export type { QosClass } from './pressure/qos.ts';
export { computeQosClass, qosClassOf } from './pressure/qos.ts';
export type { Quantity, QuantityFormat } from './pressure/quantity.ts';
export { formatAmount, parseQuantity, quantityValue } from './pressure/quantity.ts';
export type { ComparatorName } from './pressure/rank.ts';
export type { PodRefusal, PressureReason, PressureReasonCode } from './pressure/reason.ts';
export type { NodePressureRuleName } from './pressure/rules.ts';
export { nodePressureRules } from './pressure/rules.ts';
export type { PressureSemantics } from './pressure/semantics.ts';
export type { PressureSettings, PressureSettingsInput } from './pressure/settings.ts';
export { parseEvictionFlag, resolvePressureSettings } from './pressure/settings.ts';
export type { PressureConditionType, PressureResource, Signal } from './pressure/signals.ts';
export { pressureConditions, signals as pressureSignals } from './pressure/signals.ts';
export { readSummary } from './pressure/summary.ts';
export { describePressureReason } from './pressure/text.ts';
export type { Threshold, ThresholdValue } from './pressure/thresholds.ts';
export { formatThreshold } from './pressure/thresholds.ts';
export type { PressureWork } from './pressure/work.ts';
export type { Cause, Reason, ReasonCode, StartSource } from './reason.ts';
export { selects } from './selector.ts';
export { shardOf } from './shard.ts';
export { formatTaint, parseTaint, parseTaintChanges, type TaintChanges } from './taint-spec.ts';
export type { Instant, Millis } from './time.ts';
export {
  endOfSecond,
  formatDuration,
  formatTime,
  formatTimeMillis,
  parseDuration,
  parseTime,
} from './time.ts';
