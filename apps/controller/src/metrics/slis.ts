import type { OnLook } from '../server/health.ts';
import type { Meter } from './meter.ts';

/** Metrics of health checks, as Kubernetes components have them at /metrics/slis. */
export function sliMetrics(meter: Meter): OnLook {
  const state = meter.gauge(
    'kubernetes_healthcheck',
    '[STABLE] This metric records the result of a single healthcheck.',
    'name',
    'type',
  );
  const looks = meter.counter(
    'kubernetes_healthchecks_total',
    '[STABLE] This metric records the results of all healthcheck.',
    'name',
    'status',
    'type',
  );
  return (name, type, fault) => {
    state.set({ name, type }, fault === null ? 1 : 0);
    looks.inc({ name, status: fault === null ? 'success' : 'error', type });
  };
}
