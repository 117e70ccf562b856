// The limits of the controller: which have tripped, and what the others count.

import type { LimitCount, LimitRecord, RecordedLimit } from '@taintmgr/core/policy';
import type { Instant, Millis } from '@taintmgr/core/time';
import { type LeaseName, limitRecordFrom } from '@taintmgr/k8s-adapter/client';
import type { ClusterReader } from './reader.ts';

/** A limit of the controller that holds evictions until it is resumed. */
export interface TrippedLimit {
  /** As `resume` takes it. */
  readonly id: string;
  readonly since: Instant;
  /** What it had counted then; null: it has no window. */
  readonly count: LimitCount | null;
}

/** A limit in whose window pods were evicted. How many may be, only the controller's flags say. */
export interface CountingLimit {
  readonly id: string;
  readonly evicted: number;
  /** Of how many pods; null: not known. */
  readonly of: number | null;
  readonly windowMs: Millis;
  /** When the first of them stops counting. */
  readonly roomAt: Instant;
}

/** What the lease of limits says. */
export interface KeptLimits {
  readonly lease: LeaseName;
  readonly tripped: readonly TrippedLimit[];
  readonly counting: readonly CountingLimit[];
  /** All of it as it is written. */
  readonly record: LimitRecord;
}

/** Where deploy/ keeps it, and where the controller does by default. */
const leases: readonly LeaseName[] = ['taintmgr-system', 'kube-system'].map((namespace) => ({
  namespace,
  name: 'taintmgr-controller-limits',
}));

/** What limits count as of `now`; null: nobody keeps any. `at`: where they are kept, if known. */
export async function readLimits(
  reader: ClusterReader,
  now: Instant,
  at: LeaseName | null = null,
): Promise<KeptLimits | 'forbidden' | null> {
  const places = at ? [at] : leases;
  const reads = await Promise.all(
    places.map(({ namespace, name }) => reader.lease(namespace, name)),
  );
  for (const [index, lease] of places.entries()) {
    const found = reads[index];
    if (found === null || found === 'forbidden') continue;
    const record = limitRecordFrom(found).record ?? {};
    const kept = Object.entries(record);
    return {
      lease,
      record,
      tripped: kept.flatMap(([key, limit]) => trippedLimit(key, limit)),
      counting: kept.flatMap(([key, limit]) => countingLimit(key, limit, now)),
    };
  }
  return reads.includes('forbidden') ? 'forbidden' : null;
}

function trippedLimit(key: string, { tripped }: RecordedLimit): readonly TrippedLimit[] {
  return tripped ? [{ id: idIn(key), since: tripped.since, count: tripped.count }] : [];
}

function countingLimit(
  key: string,
  { evicted, of, tripped }: RecordedLimit,
  now: Instant,
): readonly CountingLimit[] {
  const windowMs = windowIn(key);
  if (tripped || windowMs === null) return [];
  const counted = evicted.filter(([at]) => at > now - windowMs);
  if (counted.length === 0) return [];
  const sum = counted.reduce((total, [, count]) => total + count, 0);
  const roomAt = Math.min(...counted.map(([at]) => at)) + windowMs;
  return [{ id: idIn(key), evicted: sum, of, windowMs, roomAt }];
}

/** Keys are `id@600s`, or `id@rate` where there is no window; `zone=` where nodes name no zone. */
function idIn(key: string): string {
  return key.slice(0, key.lastIndexOf('@')).replace(/^(\w+)=(?= nodes=|$)/, '$1');
}

function windowIn(key: string): Millis | null {
  const [, seconds] = /@(\d+(?:\.\d+)?)s$/.exec(key) ?? [];
  return seconds === undefined ? null : Number(seconds) * 1000;
}
