import { topLevel } from './metadata.ts';
import { always, list, listBy, map, type Struct, set, struct } from './types.ts';

const taint = struct('Taint', {
  key: 'string!',
  value: 'string',
  effect: 'string!',
  timeAdded: 'time',
});

const nodeSpec = struct('NodeSpec', {
  podCIDR: 'string',
  podCIDRs: set('string'),
  providerID: 'string',
  unschedulable: 'bool',
  taints: list(taint),
  configSource: 'any',
  externalID: 'string',
});

const nodeCondition = struct('NodeCondition', {
  type: 'string!',
  status: 'string!',
  lastHeartbeatTime: 'time!',
  lastTransitionTime: 'time!',
  reason: 'string',
  message: 'string',
});

const nodeInfo = struct('NodeSystemInfo', {
  machineID: 'string!',
  systemUUID: 'string!',
  bootID: 'string!',
  kernelVersion: 'string!',
  osImage: 'string!',
  containerRuntimeVersion: 'string!',
  kubeletVersion: 'string!',
  kubeProxyVersion: 'string!',
  operatingSystem: 'string!',
  architecture: 'string!',
  swap: 'any',
});

const nodeStatus = struct('NodeStatus', {
  capacity: map('quantity'),
  allocatable: map('quantity'),
  phase: 'string',
  conditions: listBy('type', nodeCondition),
  addresses: listBy('type', struct('NodeAddress', { type: 'string!', address: 'string!' })),
  daemonEndpoints: always(
    struct('NodeDaemonEndpoints', {
      kubeletEndpoint: always(struct('DaemonEndpoint', { Port: 'int32!' })),
    }),
  ),
  nodeInfo: always(nodeInfo),
  images: list('any'),
  volumesInUse: list('string'),
  volumesAttached: list('any'),
  config: 'any',
  runtimeHandlers: list('any'),
  features: 'any',
  declaredFeatures: list('string'),
});

/** The shape of v1 Node. */
export const node: Struct = topLevel('Node', {
  spec: always(nodeSpec),
  status: always(nodeStatus),
});
