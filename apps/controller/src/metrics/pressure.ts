import type { PressureNotice } from '@taintmgr/k8s-adapter';
import type { Meter } from './meter.ts';

/** Metrics of node-pressure-controller. A dry run evicts no pods. */
export function pressureMetrics(
  meter: Meter,
  { dryRun }: { readonly dryRun: boolean },
): (notice: PressureNotice) => void {
  const evictions = meter.counter(
    'taintmgr_node_pressure_evictions_total',
    'Pods evicted under node pressure, by signal, as kubelet_evictions counts them.',
    'eviction_signal',
  );
  const setbacks = meter.counter(
    'taintmgr_node_pressure_setbacks_total',
    'Evictions under node pressure that failed, by result.',
    'outcome',
  );
  const doubts = meter.counter(
    'taintmgr_node_pressure_doubts_total',
    'Times the stats of a node became unreliable, by reason.',
    'reason',
  );
  return (notice) => {
    if (notice.kind === 'pressureReport' && notice.report.kind === 'doubt') {
      for (const { code } of notice.report.because) doubts.inc({ reason: code });
    }
    if (notice.kind !== 'evictionFinished') return;
    const { command, outcome } = notice;
    if (outcome.kind === 'done' && !dryRun) evictions.inc({ eviction_signal: command.signal });
    if (outcome.kind !== 'done' && outcome.kind !== 'gone') setbacks.inc({ outcome: outcome.kind });
  };
}
