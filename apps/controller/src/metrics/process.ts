import type { Instant } from '@taintmgr/core';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Vitals } from '../process/process-stats.ts';
import { version } from '../version.ts';
import { describing } from './metric.ts';

/** Metrics of the process itself, beside prom-client's own. */
export function processMetrics(
  registry: Registry,
  vitals: Vitals,
  { dryRun }: { readonly dryRun: boolean },
): void {
  const describe = describing(registry);
  collectDefaultMetrics({ register: registry });
  const build = describe('taintmgr_build_info', 'Always 1.', 'version', 'node_version');
  new Gauge(build).set({ version, node_version: process.version }, 1);
  const dry = describe('taintmgr_dry_run', '1: nothing is changed, and upstream counters rest.');
  new Gauge(dry).set(dryRun ? 1 : 0);
  new Gauge({
    ...describe(
      'taintmgr_event_loop_lag_seconds',
      'Longest time the process was stalled within the last 15 seconds.',
    ),
    collect() {
      this.set(vitals.pulse.lag() / 1000);
    },
  });
  new Gauge({
    ...describe(
      'taintmgr_watch_last_event_timestamp_seconds',
      'When a resource was last confirmed to be current, by a change or a bookmark.',
      'resource',
    ),
    collect() {
      // Pods may be read node by node: the oldest of these pictures is that of the resource.
      const oldest = new Map<string, Instant>();
      for (const { resource, heardAt } of vitals.running?.status() ?? []) {
        if (heardAt === null) continue;
        oldest.set(resource, Math.min(heardAt, oldest.get(resource) ?? heardAt));
      }
      this.reset();
      for (const [resource, heardAt] of oldest) this.set({ resource }, heardAt / 1000);
    },
  });
}
