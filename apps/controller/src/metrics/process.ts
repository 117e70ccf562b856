// Metrics of the process itself, beside prom-client's own.
import type { Instant, Millis } from '@taintmgr/core/time';
import { collectDefaultMetrics } from 'prom-client';
import type { ProcessStats } from '../stats/process-stats.ts';
import { version } from '../version.ts';
import type { Meter } from './meter.ts';

/**
 * prom-client's statistics of the loop's lag need a timer that wakes the process every 10 ms, which is most of
 * what a controller does at rest. taintmgr_event_loop_lag_seconds looks twice a second.
 */
const lagStatistics = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];
const dayMs: Millis = 86_400_000;

/** `machineClock`: what this machine's clock shows now, which somebody may have set. */
export function processMetrics(
  meter: Meter,
  stats: ProcessStats,
  dryRun: boolean,
  machineClock: () => Instant = Date.now,
): void {
  collectDefaultMetrics({ register: meter.registry, eventLoopMonitoringPrecision: dayMs });
  for (const name of lagStatistics) {
    meter.registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`);
  }
  meter
    .gauge('taintmgr_build_info', 'Always 1.', 'version', 'node_version')
    .set({ version, node_version: process.version }, 1);
  meter
    .gauge(
      'taintmgr_dry_run',
      '1: nothing is changed, and the counters with upstream names do not count.',
    )
    .set(dryRun ? 1 : 0);
  meter.reading(
    'taintmgr_event_loop_lag_seconds',
    'Longest time the process was stalled within the last 15 seconds.',
    () => stats.loopLag.lag() / 1000,
  );
  meter.readings(
    'taintmgr_watch_last_event_timestamp_seconds',
    'When a resource was last confirmed to be current, by a change or a bookmark; by the clock of ' +
      'this machine as it is now.',
    ['resource'],
    () => {
      const { running } = stats;
      if (running === null) return [];
      // Whoever compares has a clock that is right now. The loop's time stays as it began, also where the
      // machine's clock was set since, or the machine slept.
      const ahead = machineClock() - running.now();
      // Pods may be read node by node: the oldest of these pictures is that of the resource.
      const oldest = new Map<string, Instant>();
      for (const { resource, heardAt } of running.status()) {
        if (heardAt === null) continue;
        oldest.set(resource, Math.min(heardAt, oldest.get(resource) ?? heardAt));
      }
      return Array.from(oldest, ([resource, heardAt]) => [{ resource }, (heardAt + ahead) / 1000]);
    },
  );
}
