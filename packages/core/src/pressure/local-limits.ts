import { quantityValue } from '../model/quantity.ts';
import type { FilesystemLayout } from './observation/filesystems.ts';
import { isAmount, type PodUsage } from './observation/observation.ts';
import { containerStorage } from './observation/usage.ts';
import type { LocalLimits } from './pods/demand.ts';

/** A limit on local storage that a pod exceeds. */
export interface LocalBreach {
  readonly kind: 'emptyDir' | 'pod' | 'container';
  /** The volume or the container; '' for the pod itself. */
  readonly name: string;
  readonly usedBytes: number;
  readonly limit: string;
}

/** The signal that metrics count such evictions under. */
export const localLimitSignals: Readonly<Record<LocalBreach['kind'], string>> = {
  emptyDir: 'emptydirfs.limit',
  pod: 'ephemeralpodfs.limit',
  container: 'ephemeralcontainerfs.limit',
};

/**
 * The first limit that the pod exceeds: of its emptyDir volumes, of the pod, of its containers.
 * Null: none. Usage equal to the limit does not exceed it, and unseen usage does not either.
 */
export function localBreach(
  limits: LocalLimits,
  usage: PodUsage,
  layout: FilesystemLayout,
): LocalBreach | null {
  return emptyDirBreach(limits, usage) ?? podBreach(limits, usage) ?? containerBreach();

  function containerBreach(): LocalBreach | null {
    for (const container of usage.containers) {
      const found = limits.containers.find(({ name }) => name === container.name);
      if (!found) continue;
      const used = containerStorage(container, layout === 'single');
      if (used > quantityValue(found.limit)) {
        return { kind: 'container', name: found.name, usedBytes: used, limit: found.limit.text };
      }
    }
    return null;
  }
}

function emptyDirBreach({ emptyDirs }: LocalLimits, { volumes }: PodUsage): LocalBreach | null {
  for (const { name, limit } of emptyDirs) {
    const used = volumes.find((volume) => volume.name === name)?.usedBytes;
    if (isAmount(used) && used > quantityValue(limit)) {
      return { kind: 'emptyDir', name, usedBytes: used, limit: limit.text };
    }
  }
  return null;
}

function podBreach({ pod }: LocalLimits, { storageBytes }: PodUsage): LocalBreach | null {
  if (pod === null || !isAmount(storageBytes) || storageBytes <= quantityValue(pod)) return null;
  return { kind: 'pod', name: '', usedBytes: storageBytes, limit: pod.text };
}

/** The message about a pod that goes because of a limit on local storage. */
export function localLimitMessage({ kind, name, limit }: LocalBreach): string {
  switch (kind) {
    case 'emptyDir':
      return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `;
    case 'pod':
      return `Pod ephemeral local storage usage exceeds the total limit of containers ${limit}. `;
    case 'container':
      return `Container ${name} exceeded its local ephemeral storage limit "${limit}". `;
  }
}
