// Every metric that the controller can have, as data: for its reference, and for dashboards and alerts,
// which are to name no metric that is not there.
import type { Registry } from 'prom-client';
import { controllerNames } from '../flags/controllers.ts';
import { Leadership } from '../leadership/leadership.ts';
import { PendingEvictions } from '../stats/pending-evictions.ts';
import { ClockChange, type ProcessStats, TakeoverScore } from '../stats/process-stats.ts';
import type { Meter } from './meter.ts';
import { createMetrics, flightMetrics, type Metrics, type MetricsOptions } from './metrics.ts';
import { pressureMetrics } from './pressure.ts';

/** One metric. */
export interface MetricRow {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  /** The text of its HELP. */
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, without +Inf; null for other types. */
  readonly buckets: readonly number[] | null;
  readonly path: '/metrics' | '/metrics/slis';
  /** The setting without which there is no such metric; null: it is always there. */
  readonly needs: string | null;
}

/** The parts of a metric that prom-client keeps. */
interface Known {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly upperBounds?: readonly number[];
}

const idleOptions: MetricsOptions = {
  stats: idleStats(null),
  shadow: null,
  dryRun: false,
  host: '',
  controllers: controllerNames,
  featureGates: { TaintTolerationComparisonOperators: false },
  lease: null,
};

/** The metrics that each setting adds. */
const additions: readonly (readonly [needs: string, add: () => Metrics])[] = [
  ['--leader-elect', () => createMetrics({ ...idleOptions, lease: 'taintmgr-controller' })],
  ['--dry-run=client', () => createMetrics({ ...idleOptions, shadow: () => null })],
  ['--takeover', () => createMetrics({ ...idleOptions, stats: idleStats(new TakeoverScore()) })],
  ['--flight-record', () => withMore((meter) => flightMetrics(meter, noRecord))],
  [
    '--controllers=node-pressure-controller',
    () => withMore((meter) => pressureMetrics(meter, { dryRun: false })),
  ],
];

const noRecord = { active: false, size: 0, lost: 0 };

/** All metrics, by name. */
export async function metricsTable(): Promise<readonly MetricRow[]> {
  const always = createMetrics(idleOptions);
  const rows = await rowsOf(always.registry, '/metrics', null);
  for (const [needs, add] of additions) {
    const known = new Set(rows.map(({ name }) => name));
    const all = await rowsOf(add().registry, '/metrics', needs);
    rows.push(...all.filter(({ name }) => !known.has(name)));
  }
  rows.push(...(await rowsOf(always.slis, '/metrics/slis', null)));
  return rows.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function rowsOf(
  registry: Registry,
  path: MetricRow['path'],
  needs: string | null,
): Promise<MetricRow[]> {
  const families = await registry.getMetricsAsJSON();
  return families.map(({ name, help, type }) => {
    const known = registry.getSingleMetric(name) as unknown as Known;
    return {
      name,
      type: type as unknown as MetricRow['type'],
      help,
      labels: known.labelNames,
      buckets: known.upperBounds ?? null,
      path,
      needs,
    };
  });
}

function withMore(add: (meter: Meter) => void): Metrics {
  const metrics = createMetrics(idleOptions);
  add(metrics.meter);
  return metrics;
}

/** Of a controller that runs nothing. */
function idleStats(takeover: TakeoverScore | null): ProcessStats {
  return {
    startedAt: new Date(0),
    takeover,
    loopLag: { lag: () => 0 },
    pending: new PendingEvictions(),
    clock: new ClockChange(),
    leadership: new Leadership(true, () => {}),
    running: null,
    stopping: false,
  };
}
