// What gates have counted, as it is written down, and taken up again by whoever leads next.
import type { Instant, Millis } from '../../kernel/time.ts';
import {
  coarsened,
  coarsenedSizes,
  keyOf,
  type LimitRecord,
  nameInKey,
  type RecordedLimit,
} from '../../policy/limit-record.ts';
import type { BoundLimit } from './bound-limit.ts';
import type { Gates } from './gates.ts';
import type { PodCounts } from './pod-counts.ts';
import type { Gate } from './scope-limit.ts';

/** An eviction may be answered so much later: those that are open are written as of then. */
const openAheadMs: Millis = 60_000;

/** What is to be known of these gates, should another replica take over. */
export function recordOf(now: Instant, gates: readonly Gate[], counts: PodCounts): LimitRecord {
  const entries = new Map<string, RecordedLimit>();
  for (const gate of gates) {
    gate.expire(now, (uid) => counts.in(gate, uid));
    const key = keyOf(gate.limit, gate.name);
    const entry = entryOf(now, gate, entries.get(key));
    if (entry) entries.set(key, entry);
  }
  return Object.fromEntries(entries);
}

/**
 * Limits that differ only in how much they allow have one place in the record: `before` is what it says
 * there. Null: of this gate there is nothing to say.
 */
function entryOf(
  now: Instant,
  gate: Gate,
  before: RecordedLimit | undefined,
): RecordedLimit | null {
  const { evicted, sizes, ...counted } = gate.isWindowed
    ? gate.written(now, now + openAheadMs)
    : { evicted: [], of: null, sizes: [] };
  if (evicted.length === 0 && !gate.tripped) return null;
  const tripped = gate.tripped && {
    since: gate.tripped.since,
    limit: gate.tripped.hit.limit,
    count: gate.tripped.hit.count ?? null,
  };
  const own = {
    ...counted,
    ...(sizes.length > 0 && { sizes: coarsenedSizes(sizes, gate.windowMs) }),
    evicted: coarsened(evicted, gate.windowMs),
  };
  // One that came later has counted fewer.
  const isMore = countOf(own.evicted) >= countOf(before?.evicted ?? []);
  return {
    ...(isMore ? { ...before, ...own } : { ...own, ...before }),
    of: (isMore ? own.of : before?.of) ?? before?.of ?? own.of,
    tripped: tripped ?? before?.tripped ?? null,
  };
}

/** Lets the gates of these limits go on from what is written there. */
export function restoreFrom(
  now: Instant,
  record: LimitRecord,
  limits: readonly BoundLimit[],
  gates: Gates,
): void {
  for (const [key, recorded] of Object.entries(record)) {
    const found = limits.flatMap((limit) => {
      const name = nameInKey(limit, key);
      return name === null ? [] : [{ limit, name }];
    });
    const trips = found.some(({ limit }) => limit.rule.onLimit === 'trip');
    for (const { limit, name } of found) {
      const isOther = trips && limit.rule.onLimit !== 'trip';
      gates.of(limit, name).restore(now, isOther ? { ...recorded, tripped: null } : recorded);
    }
  }
}

function countOf(evicted: RecordedLimit['evicted']): number {
  return evicted.reduce((sum, [, count]) => sum + count, 0);
}
