// Metrics of leadership and of others who do the same work.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Vitals } from '../process/process-stats.ts';
import { describing } from './metric.ts';

/** Counts pods that somebody else evicts for a taint, by program. */
export function foreignEvictionMetrics(registry: Registry): (manager: string) => void {
  const describe = describing(registry);
  const evictions = new Counter(
    describe(
      'taintmgr_foreign_evictions_total',
      'Pods that another program has marked for deletion by a taint manager.',
      'manager',
    ),
  );
  return (manager) => evictions.inc({ manager });
}

/** Whether this replica leads and acts; `lease` is the name of what it stands for, null: nothing. */
export function leadershipMetrics(
  registry: Registry,
  { leadership }: Vitals,
  lease: string | null,
): void {
  const describe = describing(registry);
  new Gauge({
    ...describe('taintmgr_acting', '1: it leads, or needs not to, and nobody else does the work.'),
    collect() {
      this.set(leadership.held ? 1 : 0);
    },
  });
  new Gauge({
    ...describe('taintmgr_overlap', '1: somebody else does the same work, or may.'),
    collect() {
      this.set(leadership.overlap === null ? 0 : 1);
    },
  });
  if (lease === null) return;
  new Gauge({
    ...describe(
      'leader_election_master_status',
      "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
      'name',
    ),
    collect() {
      this.set({ name: lease }, leadership.elected ? 1 : 0);
    },
  });
}
