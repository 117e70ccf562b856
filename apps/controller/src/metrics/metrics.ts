import type { Instant } from '@taintmgr/core';
import type { Machine, Notice } from '@taintmgr/k8s-adapter';
import { Registry } from 'prom-client';
import type { OnLook } from '../server/health.ts';
import type { RequestObserver } from '../transport/observed.ts';
import type { Vitals } from '../vitals.ts';
import { evictionMetrics } from './eviction.ts';
import { leadershipMetrics } from './leadership.ts';
import { nodeCollectorMetrics } from './node-collector.ts';
import { processMetrics } from './process.ts';
import { restClientMetrics } from './rest-client.ts';
import { sliMetrics } from './slis.ts';
import { watchingMetrics } from './watching.ts';
import { workqueueMetrics } from './workqueue.ts';

export interface MetricsOptions {
  readonly vitals: Vitals;
  readonly dryRun: boolean;
  /** Of the API server, `host:port`. */
  readonly host: string;
  /** Name of the lease that is stood for; null: none. */
  readonly lease: string | null;
}

/** All that is measured, and where it is told. */
export interface Metrics {
  /** For /metrics. */
  readonly registry: Registry;
  /** For /metrics/slis. */
  readonly slis: Registry;
  readonly requests: RequestObserver;
  readonly onNotice: (notice: Notice, now: Instant) => void;
  readonly onLook: OnLook;
  /** Measures how long the machine takes. */
  readonly timed: (machine: Machine) => Machine;
}

/** Begins to measure. */
export function createMetrics({ vitals, dryRun, host, lease }: MetricsOptions): Metrics {
  const { activity } = vitals;
  const [registry, slis] = [new Registry(), new Registry()];
  const requests = restClientMetrics(registry, host);
  const counters = [
    evictionMetrics(registry, { activity, dryRun }),
    workqueueMetrics(registry, activity),
    watchingMetrics(registry),
  ];
  leadershipMetrics(registry, vitals, lease);
  processMetrics(registry, vitals, { dryRun });
  return {
    registry,
    slis,
    requests,
    onLook: sliMetrics(slis),
    timed: nodeCollectorMetrics(registry, vitals),
    onNotice: (notice, now) => {
      for (const count of counters) count(notice, now);
    },
  };
}
