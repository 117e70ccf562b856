// The door of the simulated cluster: a cluster, its API server, and objects for it.

// A cluster: nodes, workloads and the controllers that work on them.

export { bringToRest, type RestingCluster } from './at-rest/at-rest.ts';
export { Cluster, type ClusterOptions, type ClusterPart } from './cluster.ts';
export type { AttachTiming } from './controllers/attach-detach.ts';
export { evictionDefinition, evictionRequestDefinition } from './controllers/eviction-requests.ts';
export {
  type TaintManagerOptions,
  TaintManagerStandIn,
} from './controllers/taint-manager-stand-in.ts';
export { installDefinitions } from './crd/install.ts';
export {
  type EmbeddedCluster,
  type EmbeddedOptions,
  startEmbedded,
  topologies,
} from './embedded.ts';
export { type Topology, threeZones, topologyObjects, withSystemPods } from './topology.ts';
export type { LoadReport, Unloaded } from './write/load.ts';

// Its kubelets, and what is used on their nodes.

export type { Kubelet } from './kubelet/kubelet.ts';
export type { NodeStats, NodeUsage, PodUsage } from './kubelet/node-stats.ts';
export type { Machine, NodeConditionType, NodeDescription } from './kubelet/node-status.ts';
export type { PodEnd } from './kubelet/pod-status.ts';
export type { StatsFault } from './kubelet/stats-faults.ts';
export type { Summary } from './kubelet/summary.ts';
export {
  defaultTiming,
  type KubeletTiming,
  type PodTiming,
  type RangeMs,
} from './kubelet/timing.ts';
export type { Amount, Growth } from './kubelet/usage.ts';

// Objects to put into it.

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
export { isShallow } from './objects/json.ts';
export type { Json, KubeObject, ObjectMeta, OwnerReference } from './objects/kube-object.ts';
export type { TimedToleration } from './objects/tolerations.ts';

// What is read of pods.

export { hasUnreadyContainers } from './kubelet/pod-status.ts';

// The API server: by calls, and by requests as values.

export type { CallWebhook, WebhookCall, WebhookOutcome } from './admission/webhooks/call.ts';
export { ApiServer, type ApiServerOptions } from './api/api-server.ts';
export type { ServiceTime } from './api/serve.ts';
export type { DialedRequest, DialNode } from './handlers/node-proxy.ts';
export { ApiError, type Cause, type Status, type StatusDetails } from './objects/errors.ts';
export { encodeFrame, encodeObject } from './protobuf/encode.ts';
export type { Change, ClusterApi, DeleteOptions } from './store/cluster-api.ts';
export type { ApiRequest, Exchange, ResponseSink } from './wire/exchange.ts';

// What goes wrong with requests.

export type { Fault, FaultRule, Faults } from './api/faults.ts';

// Who may do what.

export type { Access, Decision } from './auth/access.ts';
export type { Tokens } from './auth/authenticator.ts';
export { type Rule, serviceAccountUser, type User } from './auth/authorizer.ts';
export type { Denial, Right } from './auth/rights.ts';

// The API server over HTTPS.

export {
  type Certificate,
  type CertificateSubject,
  createCertificate,
} from './https/certificate.ts';
export { type KubeconfigOptions, kubeconfigText, writeKubeconfig } from './https/kubeconfig.ts';
export { type HttpsOptions, type HttpsServer, startHttps } from './https/server.ts';
export { callOverHttps } from './https/webhook-call.ts';

// Time and chance.

export type { ReportBug } from './kernel/bug.ts';
export { type Clock, RealClock, type Timer, VirtualClock } from './kernel/clock.ts';
export { type Random, seededRandom } from './kernel/prng.ts';
