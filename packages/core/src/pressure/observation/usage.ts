import { isLocal, type PressurePod } from '../pods/pressure-pod.ts';
import { type Signal, signals } from '../signals.ts';
import { type DiskPart, type FilesystemLayout, measuredParts } from './filesystems.ts';
import { type ContainerUsage, type DiskUsage, isAmount, type PodUsage } from './observation.ts';

/**
 * The usage of a pod that a signal measures: bytes, inodes or processes. A part that is not said counts as
 * nothing as long as something is said; null where nothing is.
 */
export function usageOf(
  pod: PressurePod,
  usage: PodUsage,
  signal: Signal,
  layout: FilesystemLayout,
): number | null {
  switch (signals[signal].resource) {
    case 'memory':
      return amount(usage.workingSetBytes);
    case 'pids':
      return amount(usage.processes);
    case 'ephemeral-storage':
      return diskUsage(pod, usage, measuredParts(signal, layout), 'usedBytes');
    case 'inodes':
      return diskUsage(pod, usage, measuredParts(signal, layout), 'inodesUsed');
  }
}

/** Bytes of logs, and of the writable layer where it counts; a missing value counts as nothing. */
export function containerStorage({ rootfs, logs }: ContainerUsage, withRoot: boolean): number {
  const root = withRoot ? amount(rootfs.usedBytes) : null;
  return (amount(logs.usedBytes) ?? 0) + (root ?? 0);
}

function diskUsage(
  pod: PressurePod,
  usage: PodUsage,
  parts: readonly DiskPart[],
  field: keyof DiskUsage,
): number | null {
  const said = parts
    .flatMap((part) => disksOf(part, pod, usage))
    .map((disk) => amount(disk[field]))
    .filter((value) => value !== null);
  // Where nothing of a pod is measured, it is known to use nothing.
  if (said.length === 0) return parts.length === 0 ? 0 : null;
  return said.reduce((sum, value) => sum + value, 0);
}

function disksOf(part: DiskPart, pod: PressurePod, usage: PodUsage): readonly DiskUsage[] {
  switch (part) {
    case 'root':
      return usage.containers.map(({ rootfs }) => rootfs);
    case 'logs':
      return usage.containers.map(({ logs }) => logs);
    case 'volumes': {
      const local = pod.volumes.filter(isLocal);
      return usage.volumes.filter((volume) => local.some(({ name }) => name === volume.name));
    }
  }
}

function amount(value: number | null): number | null {
  return isAmount(value) ? value : null;
}
