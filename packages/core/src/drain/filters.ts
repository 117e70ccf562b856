import type { Pod } from '../model/pod.ts';

/** Which pods a drain may take along; the names and defaults are kubectl drain's. */
export interface DrainOptions {
  /** Take pods that no controller would start again. */
  readonly force: boolean;
  /** Leave DaemonSet pods where they are instead of refusing. */
  readonly ignoreDaemonSets: boolean;
  /** Take pods whose emptyDir data is lost with them. */
  readonly deleteEmptyDirData: boolean;
}

/** Why a drain leaves a pod or refuses to begin. */
export type DrainFault = 'DaemonSet' | 'OrphanedDaemonSetPod' | 'EmptyDir' | 'Unmanaged';

/** What a drain does with a pod that its taint would evict. */
export type DrainFilterResult =
  | { readonly kind: 'take' }
  /** Left on the node without further ado. */
  | { readonly kind: 'leave'; readonly fault: 'DaemonSet' }
  /** The drain does not begin while this pod is there, unless the named flag is given. */
  | { readonly kind: 'refuse'; readonly faults: readonly DrainFault[] };

/** The flag that overrides a fault. */
export const drainFlag: Readonly<Record<DrainFault, string>> = {
  DaemonSet: '--ignore-daemonsets',
  OrphanedDaemonSetPod: '--force',
  EmptyDir: '--delete-emptydir-data',
  Unmanaged: '--force',
};

/** A fault in words. */
export const drainFaultText: Readonly<Record<DrainFault, string>> = {
  DaemonSet: 'managed by a DaemonSet, which would recreate it',
  OrphanedDaemonSetPod: 'its DaemonSet is gone, nothing would recreate it',
  EmptyDir: 'has local storage (emptyDir), whose data would be lost',
  Unmanaged: 'is not managed by a controller',
};

/** Each fault and the flag that overrides it. */
export function drainFaultsText(faults: readonly DrainFault[]): string {
  return faults.map((fault) => `${drainFaultText[fault]} (${drainFlag[fault]})`).join('; ');
}

/**
 * Judges one pod. Finished pods are taken whatever they are; otherwise every fault is named, so
 * that one answer shows all flags that are missing. `isOrphan`: the DaemonSet it names is not there.
 */
export function filterPod(
  pod: Pod,
  options: DrainOptions,
  isOrphan: boolean = false,
): DrainFilterResult {
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return { kind: 'take' };
  if (isDaemonSetPod(pod) && !isOrphan) {
    return options.ignoreDaemonSets
      ? { kind: 'leave', fault: 'DaemonSet' }
      : { kind: 'refuse', faults: ['DaemonSet'] };
  }
  const faults: DrainFault[] = [];
  if (isOrphan && isDaemonSetPod(pod) && !options.force) faults.push('OrphanedDaemonSetPod');
  if (pod.hasEmptyDir && !options.deleteEmptyDirData) faults.push('EmptyDir');
  if (pod.owner === null && !options.force) faults.push('Unmanaged');
  return faults.length === 0 ? { kind: 'take' } : { kind: 'refuse', faults };
}

/** Whether a DaemonSet of today's API started it, so that it would be back at once. */
function isDaemonSetPod({ owner }: Pod): boolean {
  return owner?.kind === 'DaemonSet' && owner.apiVersion === 'apps/v1';
}
