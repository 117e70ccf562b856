// Reads the Summary API of a kubelet.
import { type Instant, parseTime } from '../../kernel/time.ts';
import { type Signal, signalNames } from '../signals.ts';
import type {
  ContainerUsage,
  DiskUsage,
  NodeObservation,
  PodUsage,
  Sample,
  VolumeUsage,
} from './observation.ts';

/** A value of JSON that may be anything. */
type Json = unknown;

interface Source {
  /** Where the object with the fields is. */
  readonly at: (node: Json) => Json;
  readonly available: (object: Json) => number | null;
  readonly capacity: (object: Json) => number | null;
}

const systemContainer = (name: string) => (node: Json) => {
  const found = list(field(node, 'systemContainers')).find((one) => field(one, 'name') === name);
  return field(found, 'memory');
};

const memory = {
  available: (object: Json) => number(object, 'availableBytes'),
  capacity: (object: Json) =>
    plus(number(object, 'availableBytes'), number(object, 'workingSetBytes')),
};
const bytes = {
  available: (object: Json) => number(object, 'availableBytes'),
  capacity: (object: Json) => number(object, 'capacityBytes'),
};
const inodes = {
  available: (object: Json) => number(object, 'inodesFree'),
  capacity: (object: Json) => number(object, 'inodes'),
};
const nodefs = (node: Json) => field(node, 'fs');
const imagefs = (node: Json) => field(field(node, 'runtime'), 'imageFs');
const containerfs = (node: Json) => field(field(node, 'runtime'), 'containerFs');

/** The fields of the Summary API from which each signal is read. */
const sources: Readonly<Record<Signal, Source>> = {
  'memory.available': { at: (node) => field(node, 'memory'), ...memory },
  'allocatableMemory.available': { at: systemContainer('pods'), ...memory },
  'nodefs.available': { at: nodefs, ...bytes },
  'nodefs.inodesFree': { at: nodefs, ...inodes },
  'imagefs.available': { at: imagefs, ...bytes },
  'imagefs.inodesFree': { at: imagefs, ...inodes },
  'containerfs.available': { at: containerfs, ...bytes },
  'containerfs.inodesFree': { at: containerfs, ...inodes },
  'pid.available': {
    at: (node) => field(node, 'rlimit'),
    available: (object) => minus(number(object, 'maxpid'), number(object, 'curproc')),
    capacity: (object) => number(object, 'maxpid'),
  },
};

/** On Windows memory runs out when the commit charge does. */
const windowsMemory: Source = {
  at: systemContainer('windows-global-commit-memory'),
  available: (object) => number(object, 'availableBytes'),
  capacity: (object) => plus(number(object, 'availableBytes'), number(object, 'usageBytes')),
};

/**
 * Reads an answer of the Summary API (`nodes/NODE/proxy/stats/summary`), which may be any value:
 * missing fields are left out, invalid numbers become NaN for others to doubt.
 */
export function readSummary(summary: unknown): NodeObservation {
  const node = field(summary, 'node');
  const samples: Partial<Record<Signal, Sample>> = {};
  for (const signal of signalNames) {
    const sample =
      (signal === 'memory.available' ? sampleFrom(node, windowsMemory) : null) ??
      sampleFrom(node, sources[signal]);
    if (sample) samples[signal] = sample;
  }
  return { samples, pods: list(field(summary, 'pods')).flatMap(podUsage) };
}

/** Null unless both fields are there. */
function sampleFrom(node: Json, source: Source): Sample | null {
  const object = source.at(node);
  const [available, capacity] = [source.available(object), source.capacity(object)];
  if (available === null || capacity === null) return null;
  return { available, capacity, time: time(object) };
}

/** Empty for a pod without a name. */
function podUsage(pod: Json): readonly PodUsage[] {
  const uid = field(field(pod, 'podRef'), 'uid');
  if (typeof uid !== 'string' || uid === '') return [];
  return [
    {
      uid,
      workingSetBytes: number(field(pod, 'memory'), 'workingSetBytes'),
      processes: number(field(pod, 'process_stats'), 'process_count'),
      storageBytes: number(field(pod, 'ephemeral-storage'), 'usedBytes'),
      containers: list(field(pod, 'containers')).map(containerUsage),
      volumes: list(field(pod, 'volume')).map(volumeUsage),
    },
  ];
}

function containerUsage(container: Json): ContainerUsage {
  return {
    name: name(container),
    workingSetBytes: number(field(container, 'memory'), 'workingSetBytes'),
    rootfs: diskUsage(field(container, 'rootfs')),
    logs: diskUsage(field(container, 'logs')),
  };
}

function volumeUsage(volume: Json): VolumeUsage {
  return { name: name(volume), ...diskUsage(volume) };
}

function diskUsage(disk: Json): DiskUsage {
  return { usedBytes: number(disk, 'usedBytes'), inodesUsed: number(disk, 'inodesUsed') };
}

function name(object: Json): string {
  const text = field(object, 'name');
  return typeof text === 'string' ? text : '';
}

function time(object: Json): Instant | null {
  const text = field(object, 'time');
  return typeof text === 'string' ? parseTime(text) : null;
}

/** Null where absent, NaN for an invalid number. */
function number(object: Json, key: string): number | null {
  const value = field(object, key) ?? null;
  return value === null || typeof value === 'number' ? value : Number.NaN;
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function minus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a - b;
}

function list(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function field(value: Json, key: string): Json {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, Json>>)[key];
}
