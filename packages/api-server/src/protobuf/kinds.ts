// The protobuf fields of nodes and leases, and which kinds are often read.
import { type Fields, objectMeta, pointer } from './fields.ts';
import { podSpec, podStatus } from './pod-fields.ts';
import { daemonSet } from './workload-fields.ts';

const taint: Fields = {
  key: [1, 'string'],
  value: [2, 'string'],
  effect: [3, 'string'],
  timeAdded: [4, 'time*'],
};

const nodeCondition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastHeartbeatTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const nodeInfo: Fields = {
  machineID: [1, 'string'],
  systemUUID: [2, 'string'],
  bootID: [3, 'string'],
  kernelVersion: [4, 'string'],
  osImage: [5, 'string'],
  containerRuntimeVersion: [6, 'string'],
  kubeletVersion: [7, 'string'],
  kubeProxyVersion: [8, 'string'],
  operatingSystem: [9, 'string'],
  architecture: [10, 'string'],
  swap: [11, pointer({ capacity: [1, 'integer*'] })],
};

const runtimeHandler: Fields = {
  name: [1, 'string'],
  features: [
    2,
    pointer({ recursiveReadOnlyMounts: [1, 'boolean*'], userNamespaces: [2, 'boolean*'] }),
  ],
};

const nodeStatus: Fields = {
  capacity: [1, 'quantityMap'],
  allocatable: [2, 'quantityMap'],
  phase: [3, 'string'],
  conditions: [4, [nodeCondition]],
  addresses: [5, [{ type: [1, 'string'], address: [2, 'string'] }]],
  daemonEndpoints: [6, { kubeletEndpoint: [1, { Port: [1, 'integer'] }] }],
  nodeInfo: [7, nodeInfo],
  images: [8, [{ names: [1, 'strings'], sizeBytes: [2, 'integer'] }]],
  volumesInUse: [9, 'strings'],
  volumesAttached: [10, [{ name: [1, 'string'], devicePath: [2, 'string'] }]],
  runtimeHandlers: [12, [runtimeHandler]],
  features: [13, pointer({ supplementalGroupsPolicy: [1, 'boolean*'] })],
};

const nodeSpec: Fields = {
  podCIDR: [1, 'string'],
  externalID: [2, 'string'],
  providerID: [3, 'string'],
  unschedulable: [4, 'boolean'],
  taints: [5, [taint]],
  podCIDRs: [7, 'strings'],
};

const leaseSpec: Fields = {
  holderIdentity: [1, 'string*'],
  leaseDurationSeconds: [2, 'integer*'],
  acquireTime: [3, 'microTime*'],
  renewTime: [4, 'microTime*'],
  leaseTransitions: [5, 'integer*'],
  strategy: [6, 'string*'],
  preferredHolder: [7, 'string*'],
};

const metadata: Fields[string] = [1, objectMeta];

/** The kinds that controllers read all the time. */
export const objects: Readonly<Record<string, Fields>> = {
  Pod: { metadata, spec: [2, podSpec], status: [3, podStatus] },
  Node: { metadata, spec: [2, nodeSpec], status: [3, nodeStatus] },
  Lease: { metadata, spec: [2, leaseSpec] },
  DaemonSet: daemonSet,
};
