// Evictions that limits count and that had only begun when this was written down.
import type { LimitRecord } from '@taintmgr/core/policy';
import type { Instant, Millis } from '@taintmgr/core/time';

/** An eviction is written down before it begins, as though it came about so much later. */
const aheadMs: Millis = 60_000;

/**
 * The record as of `now`: an eviction that had only begun came about at once, unless its pod is still
 * there: it was refused, or is about to be sent. Such a pod asks the limit again.
 */
export function withoutOpen(
  record: LimitRecord,
  isThere: (uid: string) => boolean,
  now: Instant,
): LimitRecord {
  const entries = Object.entries(record).map(([key, limit]) => {
    let open = limit.begun?.filter(isThere).length ?? 0;
    const evicted = limit.evicted.map(([at, count]) => {
      if (at <= now) return [at, count] as const;
      const left = Math.max(0, count - open);
      open -= count - left;
      return [Math.min(now, at - aheadMs), left] as const;
    });
    return [key, { ...limit, evicted: evicted.filter(([, count]) => count > 0) }] as const;
  });
  return Object.fromEntries(entries);
}
