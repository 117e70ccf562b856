import type { Instant } from '@taintmgr/core';
import type { Notice } from '@taintmgr/k8s-adapter';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type Activity, dueAt } from '../activity.ts';
import { describing } from './metric.ts';

/** The queue in which kube-controller-manager has the pods to evict. */
const queue = { name: 'noexec_taint_pod' };
/** client-go's: ten, from 10 ns on. */
const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10];

/**
 * What dashboards for kube-controller-manager read of its work queues. An item is a pod that is due:
 * it waits until its eviction is sent, and is worked on until the API server has answered.
 */
export function workqueueMetrics(
  registry: Registry,
  activity: Activity,
): (notice: Notice, now: Instant) => void {
  const describe = describing(registry);
  const adds = new Counter(
    describe('workqueue_adds_total', '[BETA] Total number of adds handled by workqueue', 'name'),
  );
  const retries = new Counter(
    describe(
      'workqueue_retries_total',
      '[BETA] Total number of retries handled by workqueue',
      'name',
    ),
  );
  const waits = new Histogram({
    ...describe(
      'workqueue_queue_duration_seconds',
      '[BETA] How long in seconds an item stays in workqueue before being requested.',
      'name',
    ),
    buckets,
  });
  const work = new Histogram({
    ...describe(
      'workqueue_work_duration_seconds',
      '[BETA] How long in seconds processing an item from workqueue takes.',
      'name',
    ),
    buckets,
  });
  adds.inc(queue, 0);
  retries.inc(queue, 0);
  depthGauges(registry, activity);
  return (notice, now) => {
    if (notice.kind === 'commandSent') {
      adds.inc(queue);
      const due = dueAt(notice.command.because);
      if (due !== null) waits.observe(queue, Math.max(0, now - due) / 1000);
    }
    if (notice.kind === 'commandFinished') work.observe(queue, notice.took / 1000);
    if (notice.kind === 'report' && notice.report.kind === 'retry') retries.inc(queue);
  };
}

function depthGauges(registry: Registry, activity: Activity): void {
  const gauge = (name: string, help: string, value: (now: Instant) => number): void => {
    new Gauge({
      ...describing(registry)(name, help, 'name'),
      collect() {
        this.set(queue, value(Date.now()));
      },
    });
  };
  gauge('workqueue_depth', '[BETA] Current depth of workqueue', (now) => {
    return activity.waiting(now).overdue;
  });
  gauge(
    'workqueue_unfinished_work_seconds',
    "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    (now) => activity.underWay(now).reduce((sum, age) => sum + age, 0) / 1000,
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    '[BETA] How many seconds has the longest running processor for workqueue been running.',
    (now) => Math.max(0, ...activity.underWay(now)) / 1000,
  );
}
