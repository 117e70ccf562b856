// What of pods and nodes the node pressure agent reads where the API server answers in protobuf.
import {
  type Kinds,
  type Message,
  nodeMessage,
  podMessage,
  protobufKinds,
} from '../proto/protobuf-schema.ts';

const requirements: Message = { 1: ['limits', 'quantityMap'], 2: ['requests', 'quantityMap'] };

const container: Message = {
  1: ['name', 'word'],
  8: ['resources', requirements],
  24: ['restartPolicy', 'word'],
};

/** What a volume can be, in the order of the field numbers of VolumeSource, which begin with 1. */
const volumeKinds = [
  ...['hostPath', 'emptyDir', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'secret'],
  ...['nfs', 'iscsi', 'glusterfs', 'persistentVolumeClaim', 'rbd', 'flexVolume', 'cinder'],
  ...['cephfs', 'flocker', 'downwardAPI', 'fc', 'azureFile', 'configMap', 'vsphereVolume'],
  ...['quobyte', 'azureDisk', 'photonPersistentDisk', 'portworxVolume', 'scaleIO', 'projected'],
  ...['storageos', 'csi', 'ephemeral', 'image'],
];

const emptyDir: Message = { 1: ['medium', 'word'], 2: ['sizeLimit', 'quantity'] };

const volumeSource: Message = Object.fromEntries(
  volumeKinds.map((kind, index) => {
    return [index + 1, [kind, kind === 'emptyDir' ? emptyDir : {}] as const];
  }),
);

/** With the fields that `convert.ts` of this folder looks at. */
export const pressureKinds: Kinds = {
  ...protobufKinds,
  Pod: podMessage({
    spec: {
      1: ['volumes', [{ 1: ['name', 'word'], 2: ['', volumeSource] }]],
      2: ['containers', [container]],
      20: ['initContainers', [container]],
      25: ['priority', 'integer'],
      32: ['overhead', 'quantityMap'],
      40: ['resources', requirements],
    },
    status: { 9: ['qosClass', 'word'] },
  }),
  Node: nodeMessage({
    5: ['addresses', [{ 1: ['type', 'word'], 2: ['address', 'word'] }]],
    6: ['daemonEndpoints', { 1: ['kubeletEndpoint', { 1: ['Port', 'integer'] }] }],
  }),
};
