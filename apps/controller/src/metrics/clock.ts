import type { Notice } from '@taintmgr/k8s-adapter';
import { Counter, Gauge, type Registry } from 'prom-client';
import { describing } from './metric.ts';

/** Metrics of clocks that were set and machines that were suspended. */
export function clockMetrics(registry: Registry): (notice: Notice) => void {
  const describe = describing(registry);
  const steps = new Counter(
    describe(
      'taintmgr_clock_steps_total',
      'Times that the clock of this machine was set, or the machine suspended, by direction.',
      'direction',
    ),
  );
  const skew = new Gauge(
    describe(
      'taintmgr_server_clock_ahead_seconds',
      "How far the API server's clock is ahead of the time of this process; deadlines go by it.",
    ),
  );
  for (const direction of ['ahead', 'back']) steps.inc({ direction }, 0);
  return (notice) => {
    if (notice.kind === 'clockStepped') steps.inc({ direction: notice.by > 0 ? 'ahead' : 'back' });
    if (notice.kind === 'serverClockMoved') skew.set(notice.ahead / 1000);
  };
}
