// Reads YAML: files whose faults name their line, and the manifests of policies in them. Separate,
// because the library that reads YAML takes long to load.

export {
  type FilePolicy,
  PolicyPathError,
  readPolicyFiles,
  readPolicyManifests,
} from '../client/policy-files.ts';
export { windowFault } from '../drain/windows.ts';
export { didYouMean, nearest } from '../manifests/did-you-mean.ts';
export { policyEvent } from '../manifests/followed.ts';
export { depthMax, goScalar, readGoYaml } from '../manifests/go-yaml.ts';
export { type PlacedPolicy, policiesOf } from '../manifests/policies.ts';
export {
  FaultyFile,
  type Field,
  FileFault,
  readAllPositioned,
  readPositioned,
  type TextBegin,
} from '../manifests/positioned.ts';
