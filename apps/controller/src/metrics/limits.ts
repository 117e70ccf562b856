// Metrics of limits: which have tripped, and how full the others are.
import type { LimitStatus } from '@taintmgr/core/policy';
import type { Notice } from '@taintmgr/k8s-adapter';
import type { ProcessStats } from '../stats/process-stats.ts';
import type { Meter } from './meter.ts';

/** So many are named at most, the most urgent: there may be one for each namespace, node or workload. */
const limitsMax = 100;

/** How limits with a window are doing; takes the notices of what trips and is resumed. */
export function limitMetrics(meter: Meter, stats: ProcessStats): (notice: Notice) => void {
  const limits = (): readonly LimitStatus[] => {
    const { running } = stats;
    const all = running?.limits(running.now()) ?? [];
    return all.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, limitsMax);
  };
  meter.readings(
    'taintmgr_limit_tripped',
    '1 for each limit that holds evictions until it is resumed.',
    ['limit'],
    () => limits().flatMap(({ id, tripped }) => (tripped ? [[{ limit: id }, 1]] : [])),
  );
  meter.readings(
    'taintmgr_limit_evicted_pods',
    'Pods evicted within the window of a limit.',
    ['limit'],
    () => limits().flatMap(({ id, count }) => (count ? [[{ limit: id }, count.evicted]] : [])),
  );
  const trips = meter.counter(
    'taintmgr_limit_trips_total',
    'Limits that tripped, by the scope they count in.',
    'per',
  );
  const resumes = meter.counter(
    'taintmgr_limit_resumes_total',
    'Limits that were resumed, by the scope they count in.',
    'per',
  );
  return (notice) => {
    if (notice.kind !== 'report') return;
    const { report } = notice;
    if (report.kind === 'limitTripped') trips.inc({ per: report.limit.per });
    if (report.kind === 'limitResumed') resumes.inc({ per: report.limit.per });
  };
}

/** Alerts go by those that have tripped; next come those that have no room left, and hold pods. */
function rankOf({ tripped, count }: LimitStatus): number {
  if (tripped) return 0;
  return count && count.evicted + count.unavailable >= count.most ? 1 : 2;
}
