/** The signals that a kubelet watches; `available` of each must not fall below its thresholds. */
export type Signal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'containerfs.available'
  | 'containerfs.inodesFree'
  | 'pid.available';

/** The resource that a signal measures, by the name that messages give it. */
export type PressureResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** The conditions of a node that report its pressure. */
export type PressureConditionType = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** A file system of a node: the kubelet's own, that of images, that of writable layers. */
export type FilesystemName = 'nodefs' | 'imagefs' | 'containerfs';

/** The fixed properties of a signal. */
export interface SignalRule {
  readonly resource: PressureResource;
  readonly condition: PressureConditionType;
  /** Null: not about a file system. */
  readonly filesystem: FilesystemName | null;
}

const disk = { condition: 'DiskPressure' } as const;
const memory = { resource: 'memory', condition: 'MemoryPressure', filesystem: null } as const;

/** Every signal with its properties. */
export const signals: Readonly<Record<Signal, SignalRule>> = {
  'memory.available': memory,
  'allocatableMemory.available': memory,
  'nodefs.available': { ...disk, resource: 'ephemeral-storage', filesystem: 'nodefs' },
  'nodefs.inodesFree': { ...disk, resource: 'inodes', filesystem: 'nodefs' },
  'imagefs.available': { ...disk, resource: 'ephemeral-storage', filesystem: 'imagefs' },
  'imagefs.inodesFree': { ...disk, resource: 'inodes', filesystem: 'imagefs' },
  'containerfs.available': { ...disk, resource: 'ephemeral-storage', filesystem: 'containerfs' },
  'containerfs.inodesFree': { ...disk, resource: 'inodes', filesystem: 'containerfs' },
  'pid.available': { resource: 'pids', condition: 'PIDPressure', filesystem: null },
};

/** Every signal, in the order of the table. */
export const signalNames = Object.keys(signals) as readonly Signal[];

/** True when a kubelet prints what is available in binary units. */
export function isInBytes(signal: Signal): boolean {
  const { resource } = signals[signal];
  return resource === 'memory' || resource === 'ephemeral-storage';
}

/** True when the name is that of a signal. */
export function isSignal(name: string): name is Signal {
  return Object.hasOwn(signals, name);
}

/** The words of a kubelet about a condition. */
export interface ConditionText {
  readonly reason: string;
  readonly message: string;
  /** The reason of the node's Event: `Node <name> status is now: <eventReason>`. */
  readonly eventReason: string;
}

/** Of a node's Event the reason is the same, with the node in place of its kubelet. */
function said(reason: string, message: string): ConditionText {
  return { reason, message, eventReason: reason.replace('Kubelet', 'Node') };
}

/** The words for each condition when it is true and when it is not, and its NoSchedule taint. */
export const pressureConditions: Readonly<
  Record<
    PressureConditionType,
    { readonly True: ConditionText; readonly False: ConditionText; readonly taint: string }
  >
> = {
  MemoryPressure: {
    True: said('KubeletHasInsufficientMemory', 'kubelet has insufficient memory available'),
    False: said('KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    taint: 'node.kubernetes.io/memory-pressure',
  },
  DiskPressure: {
    True: said('KubeletHasDiskPressure', 'kubelet has disk pressure'),
    False: said('KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    taint: 'node.kubernetes.io/disk-pressure',
  },
  PIDPressure: {
    True: said('KubeletHasInsufficientPID', 'kubelet has insufficient PID available'),
    False: said('KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    taint: 'node.kubernetes.io/pid-pressure',
  },
};

/** Every condition, in the order of the table. */
export const pressureConditionTypes: readonly PressureConditionType[] = Object.keys(
  pressureConditions,
) as readonly PressureConditionType[];
