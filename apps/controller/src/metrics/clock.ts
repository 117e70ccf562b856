import type { Notice } from '@taintmgr/k8s-adapter';
import type { Meter } from './meter.ts';

/** Metrics of clocks that were set and machines that were suspended. */
export function clockMetrics(meter: Meter): (notice: Notice) => void {
  const steps = meter.counter(
    'taintmgr_clock_steps_total',
    'Times that the clock of this machine was set, or the machine suspended, by direction.',
    'direction',
  );
  const skew = meter.gauge(
    'taintmgr_server_clock_ahead_seconds',
    "How far the API server's clock is ahead of the time of this process; deadlines go by it.",
  );
  for (const direction of ['ahead', 'back']) steps.inc({ direction }, 0);
  return (notice) => {
    if (notice.kind === 'clockStepped') steps.inc({ direction: notice.by > 0 ? 'ahead' : 'back' });
    if (notice.kind === 'serverClockMoved') skew.set(notice.ahead / 1000);
  };
}
