// Metrics of the work queue, under the names of kube-controller-manager's.

import type { Event } from '@taintmgr/core';
import type { Instant } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';
import type { ControllerName } from '../flags/controllers.ts';
import { dueAt, type PendingEvictions } from '../stats/pending-evictions.ts';
import type { Counted, Handled, Meter, Tallies } from './meter.ts';

/**
 * The queue in which kube-controller-manager has pods whose eviction it has to look at. Here an item
 * is a pod that is due: it waits until its eviction is sent, and is worked on until the API server
 * has answered.
 */
const evictions = { name: 'noexec_taint_pod' };

interface ChangeQueue {
  readonly controller: ControllerName;
  readonly event: Event['kind'];
  readonly name: string;
}

const nodeUpdates = 'node_lifecycle_controller';

/**
 * Its queues of what has changed. Here an item is a change that is heard of: it never waits, and is
 * worked on while the machine makes up its mind.
 */
const changeQueues: readonly ChangeQueue[] = [
  { controller: 'taint-eviction-controller', event: 'nodeUpsert', name: 'noexec_taint_node' },
  { controller: 'node-lifecycle-controller', event: 'nodeUpsert', name: nodeUpdates },
  {
    controller: 'node-lifecycle-controller',
    event: 'podUpsert',
    name: 'node_lifecycle_controller_pods',
  },
];

/** The calls that report events of the queues. */
export interface WorkqueueMetrics {
  readonly onNotice: (notice: Notice, now: Instant) => void;
  readonly handled: Handled;
}

/** The metrics that dashboards for kube-controller-manager read of its work queues. */
export function workqueueMetrics(
  meter: Meter,
  pending: PendingEvictions,
  controllers: readonly ControllerName[],
): WorkqueueMetrics {
  const { adds, retries, waits, work } = counters(meter);
  const changes = changeQueues.filter(({ controller }) => controllers.includes(controller));
  const evicts = controllers.includes('taint-eviction-controller');
  for (const { name } of [...changes, ...(evicts ? [evictions] : [])]) {
    adds.inc({ name }, 0);
    retries.inc({ name }, 0);
    waits.of({ name });
    work.of({ name });
  }
  const [evictionWaits, evictionWork] = evicts ? [waits.of(evictions), work.of(evictions)] : [];
  const tallied = changes.map(({ name, event }) => {
    return { name, event, wait: waits.of({ name }), work: work.of({ name }) };
  });
  depthGauges(meter, { pending, evicts, changes });
  return {
    onNotice: (notice, now) => {
      if (notice.kind === 'commandSent') {
        adds.inc(evictions);
        const due = dueAt(notice.command.because);
        if (due !== null) evictionWaits?.observe(Math.max(0, now - due) / 1000);
      }
      if (notice.kind === 'commandFinished') evictionWork?.observe(notice.took / 1000);
      if (notice.kind !== 'report') return;
      if (notice.report.kind === 'retry') retries.inc(evictions);
      if (notice.report.kind === 'writeFailed') retries.inc({ name: nodeUpdates });
    },
    handled: (event, seconds) => {
      for (const queue of tallied) {
        if (queue.event !== event) continue;
        adds.inc({ name: queue.name });
        queue.wait.observe(0);
        queue.work.observe(seconds);
      }
    },
  };
}

interface QueueCounters {
  readonly adds: Counted<'name'>;
  readonly retries: Counted<'name'>;
  readonly waits: Tallies<'name'>;
  readonly work: Tallies<'name'>;
}

function counters(meter: Meter): QueueCounters {
  return {
    adds: meter.counter(
      'workqueue_adds_total',
      '[BETA] Total number of adds handled by workqueue',
      'name',
    ),
    retries: meter.counter(
      'workqueue_retries_total',
      '[BETA] Total number of retries handled by workqueue',
      'name',
    ),
    waits: meter.histogram(
      'workqueue_queue_duration_seconds',
      '[BETA] How long in seconds an item stays in workqueue before being requested.',
      tenfold(),
      'name',
    ),
    work: meter.histogram(
      'workqueue_work_duration_seconds',
      '[BETA] How long in seconds processing an item from workqueue takes.',
      tenfold(),
      'name',
    ),
  };
}

interface Queues {
  readonly pending: PendingEvictions;
  readonly evicts: boolean;
  readonly changes: readonly ChangeQueue[];
}

function depthGauges(meter: Meter, { pending, evicts, changes }: Queues): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    meter.readings(name, help, ['name'], () => [
      ...changes.map(({ name }) => [{ name }, 0] as const),
      ...(evicts ? [[evictions, value()] as const] : []),
    ]);
  };
  gauge('workqueue_depth', '[BETA] Current depth of workqueue', () => {
    return pending.waiting().overdue;
  });
  gauge(
    'workqueue_unfinished_work_seconds',
    "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    () => pending.underWay().reduce((sum, age) => sum + age, 0) / 1000,
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    '[BETA] How many seconds has the longest running processor for workqueue been running.',
    () => Math.max(0, ...pending.underWay()) / 1000,
  );
}

/** client-go's buckets: ten from 10 ns on, each ten times the one before, rounding errors included. */
function tenfold(): number[] {
  const buckets: number[] = [];
  for (let bound = 10e-9; buckets.length < 10; bound *= 10) buckets.push(bound);
  return buckets;
}
