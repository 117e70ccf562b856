import { Counter, Gauge, type Registry } from 'prom-client';
import type { OnLook } from '../server/health.ts';
import { describing } from './metric.ts';

/** Metrics of health checks, as Kubernetes components have them at /metrics/slis. */
export function sliMetrics(registry: Registry): OnLook {
  const describe = describing(registry);
  const state = new Gauge(
    describe(
      'kubernetes_healthcheck',
      '[STABLE] This metric records the result of a single healthcheck.',
      'name',
      'type',
    ),
  );
  const looks = new Counter(
    describe(
      'kubernetes_healthchecks_total',
      '[STABLE] This metric records the results of all healthcheck.',
      'name',
      'status',
      'type',
    ),
  );
  return (name, type, fault) => {
    state.set({ name, type }, fault === null ? 1 : 0);
    looks.inc({ name, status: fault === null ? 'success' : 'error', type });
  };
}
