// Running the engine against a cluster, in real time.

export { type DriveOptions, drive } from './driver.ts';
export {
  Loop,
  type LoopAction,
  type LoopInput,
  type LoopOptions,
  type Machine,
  type Notice,
  type ReflectorStatus,
} from './loop.ts';
export { LoopClock, type MachineClocks } from './loop-clock.ts';

// Which pods are read.

export {
  defaultPodWatch,
  type PodWatch,
  type Scope as PodScope,
} from './pod-watch/scope.ts';

// The same on a virtual clock, against a cluster in this process.

export {
  type Exchange,
  type ExchangeSink,
  VirtualDriver,
  type VirtualOptions,
  type VirtualTime,
} from './virtual.ts';

// Who else evicts here.

export { EvictorSearch, type FindOptions, findEvictors } from './evictors/find.ts';
export {
  type Duty,
  duties,
  type Evictors,
  type Evidence,
  type LeaseSight,
  type Verdict,
} from './evictors/verdict.ts';
export {
  switchOff,
  type TaintEvictors,
  taintEvictors,
  verdictText,
  whyUnknown,
} from './evictors/words.ts';

// Flight records: what the engine was told and what it did.

export { flightHeadFrom, flightLineFrom } from './flight/reading.ts';
export {
  type FlightEnd,
  type FlightEnding,
  type FlightHead,
  type FlightStep,
  flightApiVersion,
  flightLine,
} from './flight/record.ts';
export { redactCommand, redactEvent } from './flight/redaction.ts';

// Node pressure: an agent of its own beside the engine.

export { ownConditionType, ownTaintKey } from './pressure/conditions.ts';
export { pressureNodeFromJson, pressurePodFromJson } from './pressure/convert.ts';
export type { EvictUnderPressure, PressureRemoval } from './pressure/eviction.ts';
export type { SetPressureConditions } from './pressure/executor.ts';
export {
  PressureLoop,
  type PressureLoopOptions,
  type PressureMachineLike,
  type PressureNotice,
} from './pressure/loop.ts';
export { summaryRequest } from './pressure/requests.ts';
export { defaultPollOptions, type PollOptions } from './pressure/summary-poller.ts';

// Reaching a cluster.

export { type ConnectionFlag, connectionFlags, connectionOptions } from './connection-flags.ts';
export { KubeconfigError } from './kubeconfig/file.ts';
export { extraHeader } from './kubeconfig/impersonation.ts';
export { treeFault } from './kubeconfig/tree.ts';
export {
  type ClusterConfig,
  homeOrNull,
  type KubeconfigOptions,
  loadKubeconfig,
  type Surroundings,
} from './kubeconfig.ts';
export type { Sink, Transport } from './sink.ts';
export type { Access, Authorization, TlsMaterial } from './transport/access.ts';
export {
  type KubeletAddress,
  type KubeletsOptions,
  summariesFromKubelets,
} from './transport/kubelets.ts';
export { HttpTransport } from './transport.ts';
export { type TypedApi, typedApi } from './typed-api.ts';

// Single requests for commands.

export {
  ApiClient,
  type ApiClientOptions,
  ApiError,
  ConnectionError,
  WrongServerError,
} from './client.ts';
export { Backoff } from './proto/backoff.ts';
export {
  type ClusterEvent,
  type EventSubject,
  newEventRequest,
} from './proto/event-requests.ts';
export {
  type ApiRequest,
  type DeletionOptions,
  deletePodRequest,
  evictPodRequest,
  getNodeRequest,
  type ListOptions,
  listRequest,
  nodesPath,
  podsPath,
  type RemovalOptions,
  type Selectors,
  setTaintsRequest,
  type TaintObject,
} from './proto/request.ts';

// Reading what the API sends.

export type { Failure, FailureCause } from './proto/answer.ts';
export { type ClockNotice, clockReasons, describeClock } from './proto/clock-watch.ts';
export { nodeFromJson, podFromJson } from './proto/convert.ts';
export type { ElectionNotice, ElectionOptions } from './proto/election.ts';
export { defaultElectionTiming, type ElectionTiming } from './proto/election-timing.ts';
export type { MayAct } from './proto/errands.ts';
export type { ExecuteOptions, KeepTaintStarts, Removal } from './proto/execute.ts';
export type { LeaseName } from './proto/lease-requests.ts';
export {
  type LimitRecordNotice,
  limitRecordFrom,
  limitsAnnotation,
  resumeAnnotation,
  resumeLimitsRequest,
} from './proto/limit-record.ts';
