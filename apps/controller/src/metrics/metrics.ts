import type { ShadowReport } from '@taintmgr/core/shadow';
import type { Instant } from '@taintmgr/core/time';
import type { Machine, Notice } from '@taintmgr/k8s-adapter';
import { Registry } from 'prom-client';
import type { ControllerName } from '../flags/controllers.ts';
import type { FeatureGates } from '../flags/feature-gates.ts';
import type { OnLook } from '../server/health.ts';
import { Lateness } from '../stats/lateness.ts';
import type { ProcessStats } from '../stats/process-stats.ts';
import type { RequestObserver } from '../transport/observed.ts';
import { clockMetrics } from './clock.ts';
import { evictionMetrics } from './eviction.ts';
import { featureMetrics } from './features.ts';
import { foreignEvictionMetrics, leadershipMetrics } from './leadership.ts';
import { limitMetrics } from './limits.ts';
import { Meter } from './meter.ts';
import { nodeCollectorMetrics } from './node-collector.ts';
import { processMetrics } from './process.ts';
import { restClientMetrics } from './rest-client.ts';
import { shadowMetrics } from './shadow.ts';
import { sliMetrics } from './slis.ts';
import { takeoverMetrics } from './takeover.ts';
import { timed } from './timed.ts';
import { watchingMetrics } from './watching.ts';
import { workqueueMetrics } from './workqueue.ts';

export interface MetricsOptions {
  readonly stats: ProcessStats;
  /** Asked for what the shadow has seen; null: there is none. */
  readonly shadow: (() => ShadowReport | null) | null;
  readonly dryRun: boolean;
  /** Of the API server, `host:port`. */
  readonly host: string;
  readonly controllers: readonly ControllerName[];
  readonly featureGates: FeatureGates;
  /** Name of the lease that is stood for; null: none. */
  readonly lease: string | null;
  /** What this machine's clock shows now; left out: Date.now. */
  readonly machineClock?: () => Instant;
}

/** All metrics of the controller, put together. */
export interface Metrics {
  /** For /metrics. */
  readonly registry: Registry;
  /** Makes more metrics of that registry. */
  readonly meter: Meter;
  /** For /metrics/slis. */
  readonly slis: Registry;
  readonly requests: RequestObserver;
  readonly onNotice: (notice: Notice, now: Instant) => void;
  readonly onLook: OnLook;
  /** Counts a pod that another program evicts for a taint. */
  readonly onForeign: (manager: string) => void;
  /** Measures how long the machine takes. */
  readonly timed: (machine: Machine) => Machine;
}

/** Begins to measure. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { stats, dryRun, host, lease, controllers, featureGates, machineClock } = options;
  const { pending } = stats;
  const [registry, slis] = [new Registry(), new Registry()];
  const meter = new Meter(registry);
  const requests = restClientMetrics(meter, host);
  const queues = workqueueMetrics(meter, pending, controllers);
  const nodes = nodeCollectorMetrics(meter, stats);
  const wall = (): Instant => stats.running?.wall() ?? Date.now();
  const isActing = (): boolean => stats.leadership.held;
  const lateness = new Lateness(isActing, wall);
  const counters = [
    evictionMetrics(meter, { pending, lateness, isActing, dryRun }),
    queues.onNotice,
    watchingMetrics(meter),
    clockMetrics(meter),
    limitMetrics(meter, stats),
    takeoverMetrics(meter, stats),
  ];
  leadershipMetrics(meter, stats, lease);
  if (options.shadow) shadowMetrics(meter, options.shadow);
  featureMetrics(meter, featureGates);
  processMetrics(meter, stats, dryRun, machineClock);
  return {
    registry,
    meter,
    slis,
    requests,
    onLook: sliMetrics(new Meter(slis)),
    onForeign: foreignEvictionMetrics(meter),
    timed: (machine) => timed(machine, [queues.handled, nodes]),
    onNotice: (notice, now) => {
      // All hear each notice, and there are many about a pod: no iterator is made for it.
      for (let at = 0; at < counters.length; at++) counters[at]?.(notice, now);
    },
  };
}
