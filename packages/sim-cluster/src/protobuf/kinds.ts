// The protobuf fields of every kind but Pod.
import { type Fields, LABEL_SELECTOR, LIST_META, OBJECT_META, STATUS } from './fields.ts';
import { POD_SPEC, POD_STATUS } from './pod-fields.ts';

const TAINT: Fields = {
  key: [1, 'string'],
  value: [2, 'string'],
  effect: [3, 'string'],
  timeAdded: [4, 'time*'],
};

const NODE_CONDITION: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastHeartbeatTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const NODE_INFO: Fields = {
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
};

const NODE_STATUS: Fields = {
  capacity: [1, 'quantityMap'],
  allocatable: [2, 'quantityMap'],
  phase: [3, 'string'],
  conditions: [4, [NODE_CONDITION]],
  addresses: [5, [{ type: [1, 'string'], address: [2, 'string'] }]],
  daemonEndpoints: [6, { kubeletEndpoint: [1, { Port: [1, 'integer'] }] }],
  nodeInfo: [7, NODE_INFO],
  images: [8, [{ names: [1, 'strings'], sizeBytes: [2, 'integer'] }]],
  volumesInUse: [9, 'strings'],
};

const OBJECTS: Readonly<Record<string, Fields>> = {
  Pod: { metadata: [1, OBJECT_META], spec: [2, POD_SPEC], status: [3, POD_STATUS] },
  Node: {
    metadata: [1, OBJECT_META],
    spec: [
      2,
      {
        podCIDR: [1, 'string'],
        externalID: [2, 'string'],
        providerID: [3, 'string'],
        unschedulable: [4, 'boolean'],
        taints: [5, [TAINT]],
        podCIDRs: [7, 'strings'],
      },
    ],
    status: [3, NODE_STATUS],
  },
  Lease: {
    metadata: [1, OBJECT_META],
    spec: [
      2,
      {
        holderIdentity: [1, 'string*'],
        leaseDurationSeconds: [2, 'integer*'],
        acquireTime: [3, 'microTime*'],
        renewTime: [4, 'microTime*'],
        leaseTransitions: [5, 'integer*'],
        strategy: [6, 'string*'],
        preferredHolder: [7, 'string*'],
      },
    ],
  },
  DaemonSet: {
    metadata: [1, OBJECT_META],
    spec: [
      2,
      {
        selector: [1, { pointer: LABEL_SELECTOR }],
        template: [2, { metadata: [1, OBJECT_META], spec: [2, POD_SPEC] }],
        minReadySeconds: [4, 'integer'],
        revisionHistoryLimit: [6, 'integer*'],
      },
    ],
    status: [
      3,
      {
        currentNumberScheduled: [1, 'integer'],
        numberMisscheduled: [2, 'integer'],
        desiredNumberScheduled: [3, 'integer'],
        numberReady: [4, 'integer'],
        observedGeneration: [5, 'integer'],
        updatedNumberScheduled: [6, 'integer'],
        numberAvailable: [7, 'integer'],
        numberUnavailable: [8, 'integer'],
      },
    ],
  },
};

/** The kinds that are answered in protobuf, those of their lists, and Status. */
export const ANSWER_KINDS: Readonly<Record<string, Fields>> = {
  ...OBJECTS,
  ...Object.fromEntries(
    Object.entries(OBJECTS).map(([kind, fields]) => [
      `${kind}List`,
      { metadata: [1, LIST_META], items: [2, [fields]] } satisfies Fields,
    ]),
  ),
  Status: STATUS,
};
