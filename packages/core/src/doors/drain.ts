// Draining nodes by a taint: a plan, and a machine that carries it out.

// Settings.

export {
  type DrainConfig,
  type DrainTarget,
  type Respect,
  resolveDrainConfig,
} from '../drain/config.ts';

// How drains show that they are at work.

export {
  drainHeartbeatMs,
  drainStaleMs,
  drainText,
  nodeDrainer,
  noExecuteFault,
  type OtherEvictors,
  ownDeletions,
} from '../model/working-drain.ts';

// What would happen.

export {
  type DrainPlan,
  type PlanInput,
  type PlannedPod,
  type PlanPod,
  planDrain,
} from '../drain/plan.ts';
export { type DeletionSite, deletedByPolicy } from '../drain/policy-deletions.ts';
export {
  type PredictedBlocker,
  type PredictionSite,
  predictBlockers,
} from '../drain/predicted-blockers.ts';

// What is told of pods that an admission webhook keeps for itself.

export {
  interceptedReason,
  interceptionIn,
  interceptionRepeatMs,
} from '../eviction/interception.ts';

// Carrying it out.

export type { DrainCommand, DrainMachine } from '../drain/machine.ts';
export { StandaloneDrain } from '../drain/standalone.ts';
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
} from '../drain/state.ts';

// Carrying out what a NodeDrain says, for one run of a program.

export { budgetPolicyOf, looksAtAllPods, soloDrainConfig } from '../drain/objects/settings.ts';

// Carrying out NodeDrains of the cluster.

export type {
  AskForDrain,
  DeleteDrain,
  DoneBefore,
  DrainCondition,
  DrainQuestion,
  GuardDrain,
  NodeDrainCommand,
  NodeDrainWrite,
  ReadEvictionRequests,
  RestartRollout,
  SetDrainConditions,
  WriteDrainNode,
  WriteEvictionRequest,
} from '../drain/objects/command.ts';
export type {
  NodeDrainNodeState,
  NodeDrainPhase,
  NodeDrainPodState,
  NodeDrainState,
} from '../drain/objects/state.ts';
export {
  describeEvictionRequest,
  type EvictionRequest,
  type EvictionResponder,
  isOpenRequest,
} from '../model/eviction-request.ts';

// Which pods are left alone or in the way, as kubectl drain has it.

export {
  type DrainFault,
  type DrainFilterResult,
  type DrainOptions,
  drainFaultsText,
  drainFaultText,
  drainFlag,
  filterPod,
} from '../drain/filters.ts';
export { stayingText } from '../drain/staying.ts';

// Disruption budgets.

export {
  type Budget,
  budgetsOver,
  isShut,
  type OperatorSign,
  operatorOf,
  operatorSignOf,
} from '../model/budget.ts';
