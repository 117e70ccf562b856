// Asks one cluster: the way in, requests, answers, and who evicts there. Loads no loop and no part of a
// controller.

export { ApiClient, type ApiClientOptions } from '../client/client.ts';
export { closeToOthers, openPrivate } from '../client/private-file.ts';
export type { Evictors } from '../evictors/judge.ts';
export { taintEvictors } from '../evictors/verdict-words.ts';
export { connectionOptions } from '../kubeconfig/connection-flags.ts';
export { extraHeader } from '../kubeconfig/entries.ts';
export { type ClusterConfig, loadKubeconfig, withheldText } from '../kubeconfig/kubeconfig.ts';
export { decidingKinds } from '../manifests/followed.ts';
export { isMissing } from '../proto/answer.ts';
export { namespaceFromJson } from '../proto/convert.ts';
export {
  deviceTaintRuleFromJson,
  resourceClaimFromJson,
  resourceSliceFromJson,
} from '../proto/convert-devices.ts';
export { claimsPath, type DevicePaths } from '../proto/device-requests.ts';
export { lastWriteOf } from '../proto/managed-fields.ts';
export { type ApiRequest, listRequest, objectRequest, type Selectors } from '../proto/requests.ts';
export type { Access, Authorization } from '../transport/access.ts';
export { ApiError, ConnectionError } from '../transport/errors.ts';
export { HttpTransport } from '../transport/http-transport.ts';
export type { KubeConfigLike } from '../transport/kube-config.ts';
