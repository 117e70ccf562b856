// A simulated cluster: its kubelets, objects for it, time and chance.
export type { Fault, FaultRule } from './api/faults.ts';
export { PlainServer } from './api/plain-server.ts';
export { bringToRest, type RestingCluster } from './at-rest/at-rest.ts';
export {
  daemonSet,
  deployment,
  job,
  namespace,
  node,
  pdb,
  pod,
  statefulSet,
  taint,
  toleration,
  type WorkloadOptions,
} from './builders.ts';
export { Cluster, type ClusterPart } from './cluster.ts';
export { type Clock, RealClock, type Timer, VirtualClock } from './kernel/clock.ts';
export { type Random, seededRandom } from './kernel/prng.ts';
export type { Kubelet } from './kubelet/kubelet.ts';
export type { NodeConditionType, NodeDescription } from './kubelet/node-status.ts';
export { hasUnreadyContainers } from './kubelet/pod-status.ts';
export type { StatsFault } from './kubelet/stats-faults.ts';
export {
  defaultTiming,
  type KubeletTiming,
  type PodTiming,
  type RangeMs,
} from './kubelet/timing.ts';
export { ApiError } from './objects/errors.ts';
export type { Json, KubeObject, ObjectMeta, OwnerReference } from './objects/kube-object.ts';
export type { Taint, TimedToleration } from './objects/tolerations.ts';
export type { ClientObject } from './objects/wire-form.ts';
export type { SelectsDevice } from './scheduler/device-pools.ts';
export { Placement, type PlacementOptions } from './scheduler/placement.ts';
export { amountsOf, requestsOf } from './scheduler/resources.ts';
export { type UnknownRule, unknownRulesOf } from './scheduler/unknown-rules.ts';
export type { Change, ClusterApi } from './store/cluster-api.ts';
export { type Topology, threeZones, topologyObjects, withSystemPods } from './topology.ts';
export type { ApiRequest, Exchange, ResponseSink } from './wire/exchange.ts';
export type { Rule, User } from './write/admission.ts';
export { type LoadReport, loadRefusal, type Unloaded } from './write/load.ts';
