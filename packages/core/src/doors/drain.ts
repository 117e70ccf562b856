// Draining nodes by a taint: a plan, and a machine that carries it out.

// Settings.

export { drainBudgetsOf } from '../drain/pod-turns.ts';
export { type DrainConfig, resolveDrainConfig } from '../policy/node-drain.ts';

// The marks by which drains show that they are at work.

export {
  drainStaleMs,
  drainText,
  nodeDrainer,
  noExecuteFault,
  type OtherEvictors,
  ownDeletions,
} from '../model/working-drain.ts';

// Forecasts of a drain.

export {
  type DeletionSite,
  type DrainPlan,
  deletedByPolicy,
  type PlanInput,
  type PlannedPod,
  type PlanPod,
  type PredictedBlocker,
  type PredictionSite,
  planDrain,
  predictBlockers,
} from '../drain/plan.ts';

// Events about pods that an admission webhook keeps for itself.

export { interceptedReason, interceptionIn, interceptionRepeatMs } from '../eviction/pod-events.ts';

// The machine that carries out a drain.

export type { DrainCommand, DrainMachine } from '../drain/drain-machine.ts';
export type {
  Departure,
  DrainFailure,
  DrainFault,
  DrainNode,
  DrainNodePhase,
  DrainNote,
  DrainPod,
  DrainPodState,
  DrainStop,
  DrainTarget,
  ForeignDeletion,
} from '../drain/state.ts';

// A NodeDrain that a program carries out by itself.

export { looksAtAllPods, type SoloDrainConfig, soloDrainConfig } from '../drain/target-waves.ts';

// NodeDrains of the cluster.

export type {
  AskForDrain,
  DeleteDrain,
  DoneBefore,
  DrainCondition,
  DrainQuestion,
  GuardDrain,
  NodeDrainCommand,
  NodeDrainWrite,
  RestartRollout,
  SetDrainConditions,
  WriteDrainNode,
} from '../drain/drain-commands.ts';
export type {
  NodeDrainNodeState,
  NodeDrainPhase,
  NodeDrainPodState,
  NodeDrainState,
} from '../drain/node-drain-state.ts';
export type { ReadEvictionRequests, WriteEvictionRequest } from '../eviction/eviction-command.ts';
export { givenUpReason } from '../eviction/requests/eviction-requests.ts';
export {
  describeEvictionRequest,
  type EvictionRequest,
  type EvictionResponder,
  isOpenRequest,
  taintEviction,
} from '../model/eviction-request.ts';

// Pods that are left alone or in the way, as kubectl drain has it.

export {
  drainFaultsText,
  drainFaultText,
  drainFlag,
} from '../drain/pod-filters.ts';
export { stayingText } from '../drain/state.ts';

// Disruption budgets.

export {
  type Budget,
  budgetsAsked,
  budgetsOver,
  isShut,
  type OperatorSign,
  operatorOf,
  operatorSignOf,
} from '../model/budget.ts';
