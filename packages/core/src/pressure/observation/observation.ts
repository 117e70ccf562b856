// Observations of a node's signals, and their faults.
import { type ClusterTime, finite, type Instant, type Millis } from '../../kernel/time.ts';
import { type Signal, signalNames } from '../signals.ts';

/** The observed amount of a signal. */
export interface Sample {
  /** Available bytes, inodes or processes. */
  readonly available: number;
  /** All of them. */
  readonly capacity: number;
  /** When the node measured it; null where it does not say. */
  readonly time: Instant | null;
}

/** The room that something takes up on a disk; null: not said. */
export interface DiskUsage {
  /** Bytes. */
  readonly usedBytes: number | null;
  /** Inodes. */
  readonly inodesUsed: number | null;
}

/** The observed usage of one container. */
export interface ContainerUsage {
  /** Name of the container. */
  readonly name: string;
  /** Memory of the working set in bytes; null: not said. */
  readonly workingSetBytes: number | null;
  /** Its writable layer. */
  readonly rootfs: DiskUsage;
  /** Its logs. */
  readonly logs: DiskUsage;
}

/** The observed usage of one volume. */
export interface VolumeUsage extends DiskUsage {
  /** Name of the volume in the pod. */
  readonly name: string;
}

/** The observed usage of one pod; null: not said. */
export interface PodUsage {
  /** podRef.uid, as the kubelet has it. */
  readonly uid: string;
  /** Memory of the working set in bytes. */
  readonly workingSetBytes: number | null;
  /** Number of processes. */
  readonly processes: number | null;
  /** Everything of the pod on local disks, as the node adds it up. */
  readonly storageBytes: number | null;
  /** Its containers. */
  readonly containers: readonly ContainerUsage[];
  /** Its volumes on local disks. */
  readonly volumes: readonly VolumeUsage[];
}

/** The view of a node at one time. A signal that is not there was not seen. */
export interface NodeObservation {
  /** Samples by their signals. */
  readonly samples: Readonly<Partial<Record<Signal, Sample>>>;
  /** The pods that the node measured. */
  readonly pods: readonly PodUsage[];
}

/** A fault of a sample, as far as it can be seen from outside the node. */
export type SampleFault =
  | { readonly code: 'SignalMissing'; readonly signal: Signal }
  /** Not a number, negative, or more than there can be. */
  | { readonly code: 'SignalNonsense'; readonly signal: Signal; readonly sample: Sample }
  | { readonly code: 'SignalWithoutTime'; readonly signal: Signal }
  /** Negative: from the future. */
  | { readonly code: 'SignalStale'; readonly signal: Signal; readonly age: Millis };

/** The same with its times by our own clock: nodes follow the cluster's, more or less. */
export function byOurTime(observation: NodeObservation, clock: ClusterTime): NodeObservation {
  const samples = Object.entries(observation.samples).map(([signal, sample]) => {
    const time = finite(sample.time);
    return [signal, { ...sample, time: time === null ? null : clock.when(time) }];
  });
  return { ...observation, samples: Object.fromEntries(samples) };
}

/** True when the number can be an amount of something. */
export function isAmount(value: number | null | undefined): value is number {
  return value != null && Number.isFinite(value) && value >= 0;
}

/** The fault of the sample of a signal at `now`; null: there is none. */
export function sampleFault(
  now: Instant,
  signal: Signal,
  sample: Sample | undefined,
  ageMax: Millis,
): SampleFault | null {
  if (!sample) return { code: 'SignalMissing', signal };
  const { available, capacity } = sample;
  if (!isAmount(available) || !isAmount(capacity) || available > capacity || capacity === 0) {
    return { code: 'SignalNonsense', signal, sample };
  }
  const time = finite(sample.time);
  if (time === null) return { code: 'SignalWithoutTime', signal };
  const age = now - time;
  return Math.abs(age) > ageMax ? { code: 'SignalStale', signal, age } : null;
}

/** The samples with which nothing is wrong. */
export function soundSamples(
  now: Instant,
  { samples }: NodeObservation,
  ageMax: Millis,
): NodeObservation['samples'] {
  const sound: Partial<Record<Signal, Sample>> = {};
  for (const signal of signalNames) {
    const sample = samples[signal];
    if (sample && sampleFault(now, signal, sample, ageMax) === null) sound[signal] = sample;
  }
  return sound;
}
