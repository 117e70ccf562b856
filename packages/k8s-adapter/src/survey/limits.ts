// The limits of the controller: which have tripped, and what the others count.

import type { LimitCount, LimitRecord, RecordedLimit } from '@taintmgr/core/policy';
import type { Instant, Millis } from '@taintmgr/core/time';
import { limitRecordFrom } from '../controller/procedures/limit-record.ts';
import { isFresh } from '../evictors/judge.ts';
import type { LeaseName } from '../proto/lease-requests.ts';
import type { ClusterReader } from './reader.ts';
import type { TaintManager } from './taint-managers.ts';

/** A limit of the controller that holds evictions until it is resumed. */
export interface TrippedLimit {
  /** As `resume` takes it. */
  readonly id: string;
  /** When it tripped. */
  readonly since: Instant;
  /** Its count then; null: it has no window. */
  readonly count: LimitCount | null;
}

/**
 * A limit in whose window pods were evicted. Only the controller's flags give the allowed number.
 */
export interface CountingLimit {
  readonly id: string;
  readonly evicted: number;
  /** Of how many pods; null: not known. */
  readonly of: number | null;
  readonly windowMs: Millis;
  /** When the first of them stops counting. */
  readonly roomAt: Instant;
}

/** The content of the lease of limits. */
export interface KeptLimits {
  readonly lease: LeaseName;
  readonly tripped: readonly TrippedLimit[];
  readonly counting: readonly CountingLimit[];
  /** All of it as it is written. */
  readonly record: LimitRecord;
}

/** Where deploy/ keeps it, and where the controller does by default. */
const usualPlaces: readonly LeaseName[] = ['taintmgr-system', 'kube-system'].map((namespace) => ({
  namespace,
  name: 'taintmgr-controller-limits',
}));

/**
 * The counts of limits as of `now`; null: none are kept; `forbidden`: we may not look anywhere.
 * Leaders publish where they keep them, and that comes first. The usual places are read meanwhile.
 */
export async function readLimits(
  reader: ClusterReader,
  now: Instant,
  managers: readonly TaintManager[] | Promise<readonly TaintManager[]>,
): Promise<KeptLimits | 'forbidden' | null> {
  const [published, usual] = await Promise.all([managers, readLeases(reader, usualPlaces)]);
  const named = publishedPlaces(published, now);
  const others = named.filter((place) => !usualPlaces.some((one) => isSame(one, place)));
  const all = [...usual, ...(await readLeases(reader, others))];
  const turn = ({ lease }: LeaseRead): number => {
    const index = named.findIndex((place) => isSame(place, lease));
    return index < 0 ? named.length : index;
  };
  const inTurn = all.toSorted((a, b) => turn(a) - turn(b));
  const first = inTurn.find(({ found }) => found !== null);
  // Where a leader keeps them and we may not look, records elsewhere are not its own.
  if (first?.found === 'forbidden' && turn(first) < named.length) return 'forbidden';
  return firstKept(inTurn, now);
}

/**
 * Reads the counts of limits from one Lease; null: none are kept; `forbidden`: it may not be read.
 */
export async function readLimitsIn(
  lease: LeaseName,
  reader: ClusterReader,
  now: Instant,
): Promise<KeptLimits | 'forbidden' | null> {
  return firstKept(await readLeases(reader, [lease]), now);
}

/**
 * Where leaders keep their limits: beside the lease of the election. Running leaders come first.
 */
function publishedPlaces(managers: readonly TaintManager[], now: Instant): readonly LeaseName[] {
  const acting = managers.filter(({ shadow }) => shadow === null);
  const byHeartbeat = acting.toSorted((a, b) => {
    return Number(isFresh(b, now)) - Number(isFresh(a, now));
  });
  return byHeartbeat.flatMap(({ settings }) => {
    const namespace = settings['leader-elect-resource-namespace'];
    const name = settings['leader-elect-resource-name'];
    return namespace && name ? [{ namespace, name: `${name}-limits` }] : [];
  });
}

function isSame(a: LeaseName, b: LeaseName): boolean {
  return a.namespace === b.namespace && a.name === b.name;
}

/** The content of a place; null: nothing; `forbidden`: we may not look. */
interface LeaseRead {
  readonly lease: LeaseName;
  readonly found: unknown;
}

async function readLeases(
  reader: ClusterReader,
  places: readonly LeaseName[],
): Promise<readonly LeaseRead[]> {
  return await Promise.all(
    places.map(async (lease) => {
      return { lease, found: await reader.lease(lease.namespace, lease.name) };
    }),
  );
}

function firstKept(reads: readonly LeaseRead[], now: Instant): KeptLimits | 'forbidden' | null {
  const kept = reads.find(({ found }) => found !== null && found !== 'forbidden');
  if (kept) return keptLimits(kept, now);
  return reads.every(({ found }) => found === 'forbidden') ? 'forbidden' : null;
}

function keptLimits({ lease, found }: LeaseRead, now: Instant): KeptLimits {
  const record = limitRecordFrom(found).record ?? {};
  const kept = Object.entries(record);
  return {
    lease,
    record,
    tripped: kept.flatMap(([key, limit]) => trippedLimit(key, limit)),
    counting: kept.flatMap(([key, limit]) => countingLimit(key, limit, now)),
  };
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
