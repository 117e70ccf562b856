// Metrics of evictions, under kube-controller-manager's names.

import type { Report } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';
import type { Lateness } from '../stats/lateness.ts';
import { callsOff, dueAt, type PendingEvictions } from '../stats/pending-evictions.ts';
import type { Meter } from './meter.ts';

/** kube-controller-manager's. */
const durationBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240];

type Finished = Extract<Notice, { kind: 'commandFinished' }>;

export interface EvictionMetricsOptions {
  readonly pending: PendingEvictions;
  readonly lateness: Lateness;
  /** Tells whether this replica acts: what ends on a standby the leader has done. */
  readonly isActing: () => boolean;
  readonly dryRun: boolean;
}

/**
 * Counts evictions under the names of kube-controller-manager's taint-eviction-controller, with durations in
 * seconds as its HELP says, and all further events under names of ours.
 */
export function evictionMetrics(
  meter: Meter,
  { pending, lateness, isActing, dryRun }: EvictionMetricsOptions,
): (notice: Notice, now: Instant) => void {
  const deletions = meter.counter(
    'taint_eviction_controller_pod_deletions_total',
    '[ALPHA] Total number of Pods deleted by TaintEvictionController since its start.',
  );
  const durations = meter
    .histogram(
      'taint_eviction_controller_pod_deletion_duration_seconds',
      '[ALPHA] Latency, in seconds, between the time when a taint effect has been activated for the Pod and its deletion via TaintEvictionController.',
      durationBuckets,
    )
    .of({});
  const attempts = meter.counter(
    'taintmgr_eviction_attempts_total',
    'Evictions sent to the API server, by method and result.',
    'mode',
    'outcome',
    'code',
  );
  const bypasses = meter.counter(
    'taintmgr_pdb_bypass_total',
    'Pods deleted after PodDisruptionBudgets had blocked their eviction for as long as the policy allows.',
  );
  const lag = meter
    .histogram(
      'taintmgr_eviction_lag_seconds',
      'Time from the deadline of a pod to the request that evicts it.',
      durationBuckets,
    )
    .of({});
  waitingGauges(meter, pending);
  const late = meter.counter(
    'taintmgr_late_evictions_total',
    'Evictions whose first request left more than 30 s after the pod was due, though no limit, pause, budget or failed try held it.',
  );
  meter.reading(
    'taintmgr_lost_evictions',
    'Pods due for more than 60 s that no limit, pause, budget or failed try holds and for whom nothing was sent.',
    () => lateness.lost(),
  );
  const countReport = reportCounters(meter);
  const finish = ({ command, outcome }: Finished, now: Instant): void => {
    const mode = command.kind === 'evictPod' ? 'evict' : 'delete';
    const code = outcome.kind === 'failed' ? String(outcome.status ?? '<error>') : '';
    attempts.inc({ mode, outcome: outcome.kind, code });
    if (outcome.kind !== 'done' || dryRun) return;
    deletions.inc({});
    if (command.kind === 'deletePod' && command.escalated) bypasses.inc({});
    const due = dueAt(command.because);
    if (due !== null) durations.observe(Math.max(0, now - due) / 1000);
  };
  return (notice, now) => {
    if (lateness.observe(notice, now)) late.inc({});
    if (notice.kind === 'commandFinished') finish(notice, now);
    if (notice.kind === 'report' && (isActing() || !callsOff(notice))) countReport(notice.report);
    if (notice.kind !== 'commandSent') return;
    const due = dueAt(notice.command.because);
    if (due !== null) lag.observe(Math.max(0, now - due) / 1000);
  };
}

function reportCounters(meter: Meter): (report: Report) => void {
  const decisions = meter.counter(
    'taintmgr_decisions_total',
    'Evictions scheduled, moved, called off, and unanswered though their pods leave, by cause.',
    'decision',
    'cause',
  );
  const setbacks = meter.counter(
    'taintmgr_eviction_setbacks_total',
    'Evictions that failed and will be retried, by what blocks them.',
    'blocker',
  );
  const held = meter.counter(
    'taintmgr_evictions_held_total',
    'Evictions held by a limit, by the scope it counts in.',
    'per',
    'tripped',
  );
  const writes = meter.counter(
    'taintmgr_write_failures_total',
    'Writes to nodes and their pods that failed and will be retried, by what was written.',
    'write',
  );
  return (report) => {
    switch (report.kind) {
      case 'deadline': {
        const { from, to, cause, unanswered = false } = report;
        const planned = from === null ? 'scheduled' : 'moved';
        const ended = unanswered ? 'unanswered' : 'called_off';
        decisions.inc({ decision: to === null ? ended : planned, cause });
        break;
      }
      case 'retry':
        setbacks.inc({ blocker: report.blocker.code });
        break;
      case 'queued':
        held.inc({ per: report.hit.per, tripped: String(report.hit.tripped) });
        break;
      case 'writeFailed':
        writes.inc({ write: report.write });
        break;
      case 'podMarkFailed':
        writes.inc({ write: 'podReadiness' });
        break;
      default: // nothing that is counted here
    }
  };
}

function waitingGauges(meter: Meter, pending: PendingEvictions): void {
  meter.reading('taintmgr_pending_evictions', 'Pods that will be evicted, now or later.', () => {
    return pending.waiting().pending;
  });
  meter.reading(
    'taintmgr_overdue_evictions',
    'Pods past their deadline whose eviction has not been accepted yet.',
    () => pending.waiting().overdue,
  );
  meter.reading(
    'taintmgr_next_deadline_timestamp_seconds',
    'When the next pod is due; +Inf: none.',
    () => (pending.waiting().next ?? Number.POSITIVE_INFINITY) / 1000,
  );
  meter.reading(
    'taintmgr_evictions_under_way',
    'Evictions in flight: sent and not yet answered.',
    () => pending.underWay().length,
  );
}
