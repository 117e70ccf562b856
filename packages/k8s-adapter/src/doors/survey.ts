// Reads the state of a cluster: nodes, pods, policies, limits, and who evicts there.

export { isFresh } from '../evictors/judge.ts';
export { isDead } from '../survey/dead-nodes.ts';
export {
  type DeviceEvictor,
  type DeviceSurvey,
  deviceDuty,
  deviceEvictor,
  devicePaths,
  hiddenText,
  noDevicesText,
  type RuleObject,
  rulesPathOf,
  surveyDevices,
} from '../survey/devices.ts';
export {
  drainsOn,
  type MarkedDrain,
  type RunningDrain,
  runningDrains,
  workOn,
} from '../survey/drained-nodes.ts';
export {
  assumingNumbers,
  comparesNumbers,
  type Evictor,
  evictsBeside,
  isOursAlone,
  leaderAccount,
  readEvictor,
  upstreamEvictionReason,
  upstreamVerdict,
} from '../survey/evictors.ts';
export {
  type Condition,
  evictsPods,
  type NodeFacts,
  nodeFacts,
  type ObjectMeta,
  type PodFacts,
  zoneLabel,
  zoneNames,
} from '../survey/facts.ts';
export { jobEnds } from '../survey/job-ends.ts';
export { nodeClockText } from '../survey/lease-renewal.ts';
export { readLimits, readLimitsIn, type TrippedLimit } from '../survey/limits.ts';
export {
  createNodeDrain,
  type DrainControllerFault,
  deleteNodeDrain,
  drainControllerFault,
  listNodeDrains,
  type NodeDrainObject,
  nodeDrainReference,
  readDrainControllers,
  readNodeDrain,
  releaseNodeDrain,
} from '../survey/node-drains.ts';
export { readDeviceRules } from '../survey/pod-devices.ts';
export {
  type ClusterPolicies,
  filesFirst,
  followed,
  noPolicies,
  policiesInForce,
  policyEvents,
  readClusterPolicies,
  readUnfollowed,
  withKnown,
} from '../survey/policies.ts';
export {
  type ClockEvent,
  ClusterReader,
  inTurns,
  namedNodes,
  namespacePath,
  namespacesPath,
  type PodName,
  pausesPath,
  podPathOf,
  podsPathOf,
} from '../survey/reader.ts';
export { ifThere, selected, unless } from '../survey/refusals.ts';
export {
  describeRight,
  isAllowed,
  isAllowedTo,
  type Right,
  rightOf,
  whoAmI,
} from '../survey/rights.ts';
export {
  type ForecastSurvey,
  managerGraceMs,
  type NodeSurvey,
  ownIn,
  readInterceptions,
  type Survey,
  surveyCluster,
  surveyNodes,
} from '../survey/survey.ts';
export {
  evictsUnderPressure,
  type OwnSettings,
  pressureController,
  readTaintManagers,
  type TaintManager,
  taintController,
  taintManagersIn,
} from '../survey/taint-managers.ts';
export { type WorkloadKind, type WorkloadName, workloadNames } from '../survey/workloads.ts';
