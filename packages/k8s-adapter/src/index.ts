// Runs the engine against a cluster: loops, transport, kubeconfigs, and objects of the API.

// The loop around an engine: its options, its inputs and outputs, and its news for people.

export { type ClockNotice, describeClock } from './controller/clock/clock-watch.ts';
export { DeviceSight } from './controller/device-sources.ts';
export type {
  ElectionOptions,
  ElectionTiming,
} from './controller/election/election.ts';
export { Loop, type LoopOptions, type Notice } from './controller/engine-loop.ts';
export type { MayAct } from './controller/executor.ts';
export type { LoopAction, LoopInput, Machine } from './controller/loop-parts.ts';
export { resumeLimitsRequest } from './controller/procedures/limit-record.ts';
export type { StatedCondition } from './controller/status-conditions.ts';
export type { PublishOptions, StatedStatus } from './controller/status-publisher.ts';
export { defaultPodWatch, type PodWatch } from './pod-watch/pod-source.ts';
export type { ReflectorStatus, Scope as PodScope } from './pod-watch/source.ts';

// The same loop around the node pressure machine.

export {
  PressureLoop,
  type PressureLoopOptions,
  type PressureNotice,
} from './controller/pressure-loop.ts';
export type { PressureRemoval } from './controller/procedures/pressure.ts';
export {
  type KubeletAddress,
  ownConditionType,
  ownTaintKey,
  pressureNodeFromJson,
  pressurePodFromJson,
} from './pressure/convert.ts';
export { defaultPollOptions, type PollOptions } from './pressure/summary-poller.ts';

// Following collections, without a machine.

export { type WatchedCollection, WatchLoop, type WatchNotice } from './controller/watch-loop.ts';

// Running a loop: in real time against a cluster, or on a virtual clock against one in this process.

export { type DriveOptions, drive } from './driver/driver.ts';
export type { MachineClocks } from './driver/runner.ts';
export {
  type Exchange,
  type ExchangeSink,
  exchangeSink,
  VirtualDriver,
  type VirtualOptions,
  type VirtualTime,
} from './driver/virtual.ts';

// Finding a cluster by kubectl's rules and flags, and logging in.

export { type ConnectionFlag, connectionFlags } from './kubeconfig/connection-flags.ts';
export {
  type ClusterConfig,
  type KubeconfigOptions,
  kubeconfigNames,
  loadKubeconfig,
  type Surroundings,
} from './kubeconfig/kubeconfig.ts';
export { shownUrl } from './kubeconfig/proxy.ts';
export {
  ApiError,
  ConnectionError,
  KubeconfigError,
  WrongServerError,
} from './transport/errors.ts';

// Sending requests: the transport, the client for commands, the typed API of client-node.

export { ApiClient, type ApiClientOptions } from './client/client.ts';
export { lookForDevices } from './client/devices.ts';
export { type KubeletsOptions, summariesFromKubelets } from './client/kubelets.ts';
export { type TypedApi, typedApi } from './client/typed-api.ts';
export type { Failure, FailureCause, FailureStage, ResponseHeaders } from './proto/answer.ts';
export { Backoff } from './proto/backoff.ts';
export type { Access, Authorization, TlsMaterial } from './transport/access.ts';
export { HttpTransport } from './transport/http-transport.ts';
export type { KubeConfigLike } from './transport/kube-config.ts';
export { giveAnswer, type Sink, type Transport } from './transport/sink.ts';

// Objects of the API as the engine takes them.

export {
  type DecidingKind,
  decidingKinds,
  isHoldingPause,
  policyEvent,
  selectsNamespaces,
} from './manifests/followed.ts';
export { pauseRecords } from './manifests/pause-records.ts';
export {
  budgetFromJson,
  daemonSetFromJson,
  namespaceFromJson,
  nodeFromJson,
  nodeLeaseFromJson,
  podFromJson,
} from './proto/convert.ts';
export { lastWriteOf } from './proto/managed-fields.ts';

// Requests as values.

export { summaryRequest } from './pressure/requests.ts';
export { type ClusterEvent, type EventSubject, newEventRequest } from './proto/event-requests.ts';
export type { LeaseName } from './proto/lease-requests.ts';
export {
  type ApiRequest,
  applyRequest,
  type DeletionOptions,
  deletePodRequest,
  evictPodRequest,
  getNodeRequest,
  isWatch,
  type ListOptions,
  listRequest,
  nodesPath,
  objectRequest,
  podsPath,
  type RemovalOptions,
  type Selectors,
  type TaintObject,
  taintManagersPath,
} from './proto/requests.ts';

// The departures that a leader keeps.

export type { HistoryOptions, KeptHistory } from './controller/history/keeper.ts';
export { gzip } from './driver/gzip.ts';
export { HistorySearch } from './history/search.ts';

// Who else evicts here.

export {
  controllersAnnotation,
  EvictorSearch,
  type FindOptions,
  findEvictors,
} from './client/find-evictors.ts';
export { type Actor, actorOf } from './evictors/actor.ts';
export {
  type Duty,
  type DutyVerdict,
  declarationText,
  declaredIn,
  declaringFlag,
  duties,
  type Evictors,
  type Evidence,
  evictedByOther,
  type LeaseSight,
} from './evictors/judge.ts';
export type { Asker } from './evictors/look.ts';
export { type ReadSettings, readSettings } from './evictors/settings.ts';
export {
  contradictionText,
  otherEvictors,
  switchOff,
  type TaintEvictors,
  taintEvictors,
  verdictText,
  wayToKnow,
  whyUnknown,
} from './evictors/verdict-words.ts';

// kube-controller-manager's taint eviction, to try things against.

export {
  type UpstreamLoopOptions,
  UpstreamManager,
  upstreamLoop,
  upstreamUserAgent,
} from './client/upstream-manager.ts';
export {
  type UpstreamDeviceHeard,
  UpstreamDeviceLoop,
  type UpstreamDeviceLoopOptions,
  type UpstreamDeviceNotice,
} from './controller/upstream-devices.ts';

// Takeover: the policies by which the API server refuses what kube-controller-manager would evict.

export type { PolicyState } from './controller/takeover/installer.ts';
export { driftText } from './controller/takeover/notice.ts';
export { type Drift, installedOptions, installedVersion, takeoverDrift } from './takeover/drift.ts';
export {
  type TakeoverManifest,
  type TakeoverOptions,
  takeoverLabel,
  takeoverManager,
  takeoverManifests,
  takeoverPath,
  takeoverVersion,
} from './takeover/manifests.ts';

// Flight records: the inputs and the actions of the engine.

export {
  type FlightEnd,
  type FlightEnding,
  type FlightHead,
  type FlightStep,
  flightApiVersion,
  flightHeadFrom,
  flightLine,
  flightLineFrom,
} from './flight/record.ts';
export { redactCommand, redactEvent } from './flight/redaction.ts';
