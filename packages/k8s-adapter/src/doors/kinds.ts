// The kinds of taintmgr.dev/v1alpha1: their manifests, and their definitions for the API server. Needs
// neither a client nor YAML.

export { type CustomResourceDefinition, customResourceDefinitions } from '../kinds/crd.ts';
export { actionHint } from '../kinds/eviction-policy.ts';
export { fittedStatus } from '../kinds/fitted-status.ts';
export {
  type KindName,
  policyApiVersion,
  policyKinds,
  type StatusOf,
} from '../kinds/kinds.ts';
export {
  metadataFaults,
  type NamedTaintManager,
  type PolicyObject,
  readManifest,
} from '../kinds/manifest.ts';
export { drainFinalizer } from '../kinds/node-drain.ts';
export type { NodeDrainStatus } from '../kinds/node-drain-status.ts';
export {
  drainMarksFeature,
  lastReplicaFeature,
  type PublishedShadow,
  type TaintManagerStatus,
} from '../kinds/taint-manager.ts';
export { type Judged, type ManifestFault, mendable } from '../kinds/validation.ts';
