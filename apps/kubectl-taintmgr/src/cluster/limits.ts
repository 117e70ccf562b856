import type { Instant } from '@taintmgr/core';
import { type LeaseName, limitRecordFrom } from '@taintmgr/k8s-adapter';
import type { ClusterReader } from './reader.ts';

/** A limit of the controller that holds evictions until it is resumed. */
export interface TrippedLimit {
  /** As `resume` takes it. */
  readonly id: string;
  readonly since: Instant;
  /** What was evicted within its window then, of how many pods; null: it has no window. */
  readonly evicted: number | null;
  readonly of: number | null;
}

/** What the lease of limits says. */
export interface KeptLimits {
  readonly lease: LeaseName;
  readonly tripped: readonly TrippedLimit[];
}

/** Where deploy/ keeps it, and where the controller does by default. */
const leases: readonly LeaseName[] = ['taintmgr-system', 'kube-system'].map((namespace) => ({
  namespace,
  name: 'taintmgr-controller-limits',
}));

/** The limits that have tripped; null: nobody keeps any. `at`: where they are kept, if known. */
export async function readLimits(
  reader: ClusterReader,
  at: LeaseName | null,
): Promise<KeptLimits | 'forbidden' | null> {
  let isForbidden = false;
  for (const lease of at ? [at] : leases) {
    const found = await reader.lease(lease.namespace, lease.name);
    isForbidden ||= found === 'forbidden';
    if (found === null || found === 'forbidden') continue;
    const { record } = limitRecordFrom(found);
    const tripped = Object.entries(record ?? {}).flatMap(([key, limit]) => {
      if (!limit.tripped) return [];
      const { since, count } = limit.tripped;
      const id = key.slice(0, key.lastIndexOf('@'));
      return [{ id, since, evicted: count?.evicted ?? null, of: count?.of ?? null }];
    });
    return { lease, tripped };
  }
  return isForbidden ? 'forbidden' : null;
}
