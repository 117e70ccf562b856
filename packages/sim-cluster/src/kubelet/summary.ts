import type { KubeObject } from '../objects/kube-object.ts';

/** The Summary API of a kubelet, as far as it is served here; times in RFC 3339. */
export interface Summary {
  readonly node: {
    readonly nodeName: string;
    readonly systemContainers: readonly ContainerSummary[];
    readonly startTime: string;
    readonly cpu: CpuSummary;
    readonly memory: MemorySummary;
    readonly fs?: FsSummary;
    readonly runtime?: { readonly imageFs: FsSummary; readonly containerFs: FsSummary };
    readonly rlimit?: { readonly time: string; readonly maxpid: number; readonly curproc: number };
  };
  readonly pods: readonly PodSummary[];
}

interface PodSummary {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly startTime: string;
  readonly containers: readonly ContainerSummary[];
  readonly cpu: CpuSummary;
  readonly memory: MemorySummary;
  readonly volume?: readonly (FsSummary & { readonly name: string })[];
  readonly 'ephemeral-storage'?: FsSummary;
  readonly process_stats: { readonly process_count: number };
}

interface ContainerSummary {
  readonly name: string;
  readonly startTime: string;
  readonly cpu: CpuSummary;
  readonly memory: MemorySummary;
  readonly rootfs?: FsSummary;
  readonly logs?: FsSummary;
}

interface CpuSummary {
  readonly time: string;
  readonly usageNanoCores: number;
  readonly usageCoreNanoSeconds: number;
}

interface MemorySummary {
  readonly time: string;
  readonly availableBytes?: number;
  readonly usageBytes: number;
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
}

interface FsSummary {
  readonly time: string;
  readonly availableBytes: number;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly inodesFree: number;
  readonly inodes: number;
  readonly inodesUsed: number;
}

/** The space for files that something takes up. */
export interface Space {
  readonly bytes: number;
  readonly inodes: number;
}

/** A file system: how large, and how much of it everybody together has taken. */
export interface FileSystem {
  readonly capacity: Space;
  readonly taken: Space;
}

/** The usage of one pod. */
export interface PodShare {
  readonly pod: KubeObject;
  readonly memoryBytes: number;
  readonly processes: number;
  readonly rootfs: Space;
  readonly logs: Space;
  /** By the name of the volume; only those that the kubelet measures. */
  readonly volumes: Readonly<Record<string, Space & { readonly isLocal: boolean }>>;
}

/** Everything that is measured on a node at one time. */
export interface Measures {
  readonly nodeName: string;
  /** RFC 3339. */
  readonly startTime: string;
  readonly time: string;
  readonly memoryBytes: number;
  readonly allocatableMemoryBytes: number;
  /** The memory of all users, pods included. */
  readonly memoryUsedBytes: number;
  readonly nodeFs: FileSystem;
  readonly imageFs: FileSystem;
  readonly containerFs: FileSystem;
  readonly images: Space;
  readonly processesMax: number;
  readonly processes: number;
  readonly pods: readonly PodShare[];
}

const nothing: Space = { bytes: 0, inodes: 0 };

/** The room that all of them take together. */
export function sumOf(spaces: readonly Space[]): Space {
  return spaces.reduce(
    (sum, { bytes, inodes }) => ({ bytes: sum.bytes + bytes, inodes: sum.inodes + inodes }),
    nothing,
  );
}

/** The space that a pod uses in volumes on the node's own file system. */
export function localVolumes({ volumes }: PodShare): Space {
  return sumOf(Object.values(volumes).filter(({ isLocal }) => isLocal));
}

/** The answer of stats/summary; with `isShort` (only_cpu_and_memory) nothing about files. */
export function summaryOf(measures: Measures, isShort: boolean): Summary {
  const { nodeName, startTime, time, memoryBytes, memoryUsedBytes, pods } = measures;
  const { nodeFs, imageFs, containerFs, images, processesMax: maxpid } = measures;
  const podMemory = pods.reduce((sum, pod) => sum + pod.memoryBytes, 0);
  const podsAvailable = Math.max(0, measures.allocatableMemoryBytes - podMemory);
  const memory = memoryOf(time, memoryUsedBytes, Math.max(0, memoryBytes - memoryUsedBytes));
  const rootfs = sumOf(pods.map((pod) => pod.rootfs));
  const files = {
    fs: fsOf(time, nodeFs, nodeFs.taken),
    runtime: {
      imageFs: fsOf(time, imageFs, images),
      containerFs: fsOf(time, containerFs, rootfs),
    },
    rlimit: { time, maxpid, curproc: measures.processes },
  };
  const cgroup = memoryOf(time, podMemory, podsAvailable);
  return {
    node: {
      nodeName,
      systemContainers: [
        { name: 'pods', startTime, cpu: cpuOf(time, pods.length), memory: cgroup },
      ],
      startTime,
      cpu: cpuOf(time, pods.length + 1),
      memory,
      ...(isShort ? {} : files),
    },
    pods: pods.map((pod) => podOf(pod, measures, isShort)),
  };
}

function podOf(share: PodShare, measures: Measures, isShort: boolean): PodSummary {
  const { pod, memoryBytes, rootfs, logs, volumes } = share;
  const { time, nodeFs, containerFs } = measures;
  const { name, namespace = '', uid = '' } = pod.metadata;
  const startTime: string = pod.status?.startTime ?? time;
  const containers: readonly { readonly name: string }[] = pod.spec.containers ?? [];
  const parts = {
    volume: Object.entries(volumes).map(([volume, space]) => ({
      ...fsOf(time, nodeFs, space),
      name: volume,
    })),
    'ephemeral-storage': fsOf(time, nodeFs, sumOf([rootfs, logs, localVolumes(share)])),
  };
  return {
    podRef: { name, namespace, uid },
    startTime,
    containers: containers.map((container, index) => ({
      name: container.name,
      startTime,
      cpu: cpuOf(time, 1),
      memory: memoryOf(time, part(memoryBytes, index, containers.length)),
      ...(isShort
        ? {}
        : {
            rootfs: fsOf(time, containerFs, partOf(rootfs, index, containers.length)),
            logs: fsOf(time, nodeFs, partOf(logs, index, containers.length)),
          }),
    })),
    cpu: cpuOf(time, containers.length),
    memory: memoryOf(time, memoryBytes),
    ...(isShort ? {} : parts),
    process_stats: { process_count: share.processes },
  };
}

/** One of `count` whole parts, as equal as possible, that add up to the whole. */
function part(whole: number, index: number, count: number): number {
  return Math.floor((whole * (index + 1)) / count) - Math.floor((whole * index) / count);
}

function partOf({ bytes, inodes }: Space, index: number, count: number): Space {
  return { bytes: part(bytes, index, count), inodes: part(inodes, index, count) };
}

/** Nothing here depends on the processor: each pod takes a hundredth of a core. */
function cpuOf(time: string, pods: number): CpuSummary {
  return { time, usageNanoCores: pods * 10_000_000, usageCoreNanoSeconds: pods * 36_000_000_000 };
}

function memoryOf(time: string, bytes: number, availableBytes?: number): MemorySummary {
  return {
    time,
    ...(availableBytes === undefined ? {} : { availableBytes }),
    usageBytes: bytes,
    workingSetBytes: bytes,
    rssBytes: bytes,
    pageFaults: 0,
    majorPageFaults: 0,
  };
}

/** A file system from the view of a user of that much of it. */
function fsOf(time: string, { capacity, taken }: FileSystem, used: Space): FsSummary {
  return {
    time,
    availableBytes: Math.max(0, capacity.bytes - taken.bytes),
    capacityBytes: capacity.bytes,
    usedBytes: used.bytes,
    inodesFree: Math.max(0, capacity.inodes - taken.inodes),
    inodes: capacity.inodes,
    inodesUsed: used.inodes,
  };
}
