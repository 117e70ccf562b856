// API objects and summaries as events for the node pressure machine.

import type { NodeCondition } from '@taintmgr/core';
import {
  type PressureConditionType,
  type PressureContainer,
  type PressureNode,
  type PressurePod,
  type PressureVolume,
  pressureConditions,
  type ResourceList,
  type ResourceRequirements,
} from '@taintmgr/core/pressure';
import { isMarkedMirror, nodeFromJson, podFromJson } from '../proto/convert.ts';
import { asInteger, asList, asRecord, asText, isRecord, type JsonRecord } from '../proto/json.ts';
import {
  type Kinds,
  type Message,
  nodeMessage,
  podMessage,
  protobufKinds,
} from '../proto/protobuf.ts';

const sourceAnnotation = 'kubernetes.io/config.source';

/** Reads a v1 Node. Never throws: a field of a wrong type is read as an absent one. */
export function pressureNodeFromJson(value: unknown): PressureNode {
  const { name, uid, labels = {}, conditions = [] } = nodeFromJson(value);
  const held = conditions.flatMap(({ type, status }): readonly PressureConditionType[] => {
    const own = status === 'True' ? pressureTypeOf(type) : null;
    return own === null ? [] : [own];
  });
  return { name, uid, labels, conditions: held };
}

/** Where the kubelet of a node listens. */
export interface KubeletAddress {
  /** A name or an IP address. */
  readonly host: string;
  /** The port of `status.daemonEndpoints`, else 10250. */
  readonly port: number;
}

/** As kube-apiserver chooses: the first of these types that a node has. */
const addressTypes = ['InternalIP', 'ExternalIP', 'Hostname'];
const kubeletPort = 10_250;

/** Where the kubelet of a v1 Node listens; null for one that has no address. Never throws. */
export function kubeletAddressFromJson(value: unknown): KubeletAddress | null {
  const { status } = recordsOf(value);
  const addresses = asList(status.addresses).map(asRecord);
  const [host = ''] = addressTypes.flatMap((type) =>
    addresses.filter((one) => one.type === type).map(({ address }) => asText(address)),
  );
  const endpoint = asRecord(asRecord(status.daemonEndpoints).kubeletEndpoint);
  const port = asInteger(endpoint.Port);
  return host === '' ? null : { host, port: port || kubeletPort };
}

/** Reads a v1 Pod. Never throws: a field of a wrong type is read as an absent one. */
export function pressurePodFromJson(value: unknown): PressurePod {
  const { namespace, name, uid, nodeName, phase, deletionTimestamp, generation } =
    podFromJson(value);
  const { metadata, spec, status } = recordsOf(value);
  const source = asText(asRecord(metadata.annotations)[sourceAnnotation]);
  return {
    namespace,
    name,
    uid,
    nodeName,
    phase,
    deletionTimestamp,
    generation,
    priority: asInteger(spec.priority) ?? 0,
    isStatic: source !== '' && source !== 'api',
    // As the kubelet has it, which never evicts such a pod either.
    isMirror: isMarkedMirror(metadata),
    gracePeriodSeconds: asInteger(spec.terminationGracePeriodSeconds),
    qosClass: asText(status.qosClass),
    containers: asList(spec.containers).map(containerFromJson),
    initContainers: asList(spec.initContainers).map(containerFromJson),
    resources: isRecord(spec.resources) ? requirementsFrom(spec.resources) : null,
    overhead: resourceList(spec.overhead) ?? {},
    volumes: asList(spec.volumes).map(volumeFromJson),
  };
}

function recordsOf(value: unknown): Record<'metadata' | 'spec' | 'status', JsonRecord> {
  const { metadata, spec, status } = asRecord(value);
  return { metadata: asRecord(metadata), spec: asRecord(spec), status: asRecord(status) };
}

function containerFromJson(value: unknown): PressureContainer {
  const { name, resources, restartPolicy } = asRecord(value);
  return {
    name: asText(name),
    ...requirementsFrom(asRecord(resources)),
    ...(restartPolicy === 'Always' && { sidecar: true }),
  };
}

function requirementsFrom({ requests, limits }: JsonRecord): ResourceRequirements {
  const read = { requests: resourceList(requests), limits: resourceList(limits) };
  return {
    ...(read.requests && { requests: read.requests }),
    ...(read.limits && { limits: read.limits }),
  };
}

/** Quantities by resource; the API server writes them as strings, and accepts numbers. */
function resourceList(value: unknown): ResourceList | null {
  if (!isRecord(value)) return null;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.flatMap(([name, quantity]) =>
      typeof quantity === 'string' || typeof quantity === 'number'
        ? [[name, String(quantity)]]
        : [],
    ),
  );
}

/** The kind of a volume: the one field besides its name says. */
function volumeFromJson(value: unknown): PressureVolume {
  const { name, ...sources } = asRecord(value);
  const kind = Object.keys(sources)[0] ?? '';
  const { medium, sizeLimit } = asRecord(sources[kind]);
  return {
    name: asText(name),
    kind,
    ...(kind === 'emptyDir' && typeof medium === 'string' && { medium }),
    ...(kind === 'emptyDir' && typeof sizeLimit === 'string' && { sizeLimit }),
  };
}

const requirements: Message = { 1: ['limits', 'quantityMap'], 2: ['requests', 'quantityMap'] };

const container: Message = {
  1: ['name', 'word'],
  8: ['resources', requirements],
  24: ['restartPolicy', 'word'],
};

/** The kinds of volumes, in the order of the field numbers of VolumeSource, which begin with 1. */
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

/**
 * Conditions have our own types: a kubelet corrects its MemoryPressure with its next look, every
 * ten seconds, regardless of the writer, and leaves conditions of unknown types alone. The type of
 * a condition shows its owner, after a restart too.
 */
const prefix = 'taintmgr.dev/';

/** The type that we write for a kubelet's, e.g. `taintmgr.dev/MemoryPressure`. */
export function ownConditionType(type: PressureConditionType): string {
  return prefix + type;
}

/** The kubelet's type that stands for one of ours; null for those of others. */
export function pressureTypeOf(type: string): PressureConditionType | null {
  const name = type.startsWith(prefix) ? type.slice(prefix.length) : '';
  return isPressureType(name) ? name : null;
}

/** A condition as we write it, for one that the machine wants written in a kubelet's name. */
export function ownCondition(condition: NodeCondition): NodeCondition {
  const { type, status } = condition;
  if (!isPressureType(type) || (status !== 'True' && status !== 'False')) return condition;
  const message =
    status === 'True'
      ? 'less is available than the thresholds of taintmgr ask for'
      : 'as much is available as the thresholds of taintmgr ask for';
  const { reason } = pressureConditions[type][status];
  return { ...condition, type: ownConditionType(type), reason, message };
}

/** The taint for a condition of ours, as condition rules put it on. */
export function ownTaintKey(type: PressureConditionType): string {
  return pressureConditions[type].taint.replace('node.kubernetes.io/', prefix);
}

function isPressureType(name: string): name is PressureConditionType {
  return Object.hasOwn(pressureConditions, name);
}
