// Metrics of leadership and of others who do the same work.
import type { ProcessStats } from '../stats/process-stats.ts';
import type { Meter } from './meter.ts';

/** Counts pods that somebody else evicts for a taint, by program. */
export function foreignEvictionMetrics(meter: Meter): (manager: string) => void {
  const evictions = meter.counter(
    'taintmgr_foreign_evictions_total',
    'Pods that another program has marked for deletion by a taint manager.',
    'manager',
  );
  return (manager) => evictions.inc({ manager });
}

/** Whether this replica leads and acts; `lease` is the name of what it stands for, null: nothing. */
export function leadershipMetrics(
  meter: Meter,
  { leadership }: ProcessStats,
  lease: string | null,
): void {
  meter.reading(
    'taintmgr_acting',
    '1: this replica leads, or needs no election, and no other program does the same work.',
    () => leadership.held,
  );
  meter.reading(
    'taintmgr_overlap',
    '1: another program does the same work, or may.',
    () => leadership.overlap !== null,
  );
  if (lease === null) return;
  meter.readings(
    'leader_election_master_status',
    "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    ['name'],
    () => [[{ name: lease }, leadership.elected ? 1 : 0]],
  );
}
