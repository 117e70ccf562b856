// An API server for real clients, in front of a simulated cluster.
export type { Tokens } from './auth/authenticator.ts';
export { serviceAccountUser } from './auth/authorizer.ts';
export type { Denial, Right } from './auth/rights.ts';
export { installDefinitions } from './crd/install.ts';
export {
  type EmbeddedCluster,
  type EmbeddedOptions,
  startEmbedded,
  topologies,
} from './embedded.ts';
export { createCertificate } from './https/certificate.ts';
export { writeKubeconfig } from './https/kubeconfig.ts';
export { type HttpsServer, startHttps } from './https/server.ts';
export { callOverHttps } from './https/webhook-call.ts';
export type { KubernetesVersion } from './kinds/releases.ts';
export { encodeFrame, encodeObject } from './protobuf/encode.ts';
export { ApiServer, type ApiServerOptions } from './server/api-server.ts';
export { evictionDefinition, evictionRequestDefinition } from './server/eviction-requests.ts';
export { ServedCluster, type ServedClusterOptions } from './server/served-cluster.ts';
