// Node pressure: what a kubelet would evict, decided from what it measures.

// The machine.

export { createPressureMachine, type PressureMachine } from '../pressure/machine.ts';
export type {
  PressureCommand,
  PressureEvent,
  PressureReport,
} from '../pressure/pressure-command.ts';

// Settings.

export {
  defaultPressureConfig,
  type PressureConfig,
  type PressurePool,
  resolvePressureConfig,
} from '../pressure/config.ts';
export type { PressureSemantics } from '../pressure/rank.ts';
export {
  type PressureSettings,
  type PressureSettingsInput,
  parseEvictionFlag,
  resolvePressureSettings,
} from '../pressure/settings/settings.ts';
export { formatThreshold, type Threshold } from '../pressure/settings/thresholds.ts';

// Nodes and pods, and their measurements.

export { admissionFault } from '../pressure/admission.ts';
export type { FilesystemLayout } from '../pressure/observation/filesystems.ts';
export type {
  ContainerUsage,
  DiskUsage,
  NodeObservation,
  PodUsage,
  Sample,
  VolumeUsage,
} from '../pressure/observation/observation.ts';
export { readSummary } from '../pressure/observation/summary.ts';
export type {
  PressureContainer,
  PressurePod,
  PressureVolume,
  ResourceList,
  ResourceRequirements,
} from '../pressure/pods/pressure-pod.ts';
export type { PressureNode } from '../pressure/pressure-command.ts';

// Signals and conditions.

export {
  type PressureConditionType,
  pressureConditions,
  pressureConditionTypes,
  type Signal,
  signals as pressureSignals,
} from '../pressure/signals.ts';

// Reasons, and their words.

export type { PressureDecision } from '../pressure/decide.ts';
export type {
  ConditionExplanation,
  PodInOrder,
  PressureExplanation,
  SignalExplanation,
} from '../pressure/explain.ts';
export type { ComparatorName } from '../pressure/rank.ts';
export { describePressureReason, type PressureReason } from '../pressure/reason.ts';
export type { ThresholdPhase, ThresholdState } from '../pressure/threshold-states.ts';
