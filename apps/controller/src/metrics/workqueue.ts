// Metrics of the work queue, under the names of kube-controller-manager's.
import type { Command, Event, Instant } from '@taintmgr/core';
import type { Machine, Notice } from '@taintmgr/k8s-adapter';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ControllerName } from '../flags/controllers.ts';
import { type Activity, dueAt } from '../process/pending-evictions.ts';
import { describing } from './metric.ts';

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

/** What is told to the queues, and the machine with the queues before it. */
export interface WorkqueueMetrics {
  readonly onNotice: (notice: Notice, now: Instant) => void;
  readonly timed: (machine: Machine) => Machine;
}

/** What dashboards for kube-controller-manager read of its work queues. */
export function workqueueMetrics(
  registry: Registry,
  activity: Activity,
  controllers: readonly ControllerName[],
): WorkqueueMetrics {
  const { adds, retries, waits, work } = counters(registry);
  const changes = changeQueues.filter(({ controller }) => controllers.includes(controller));
  const evicts = controllers.includes('taint-eviction-controller');
  for (const { name } of [...changes, ...(evicts ? [evictions] : [])]) {
    adds.inc({ name }, 0);
    retries.inc({ name }, 0);
    waits.zero({ name });
    work.zero({ name });
  }
  depthGauges(registry, { activity, evicts, changes });
  return {
    onNotice: (notice, now) => {
      if (notice.kind === 'commandSent') {
        adds.inc(evictions);
        const due = dueAt(notice.command.because);
        if (due !== null) waits.observe(evictions, Math.max(0, now - due) / 1000);
      }
      if (notice.kind === 'commandFinished') work.observe(evictions, notice.took / 1000);
      if (notice.kind !== 'report') return;
      if (notice.report.kind === 'retry') retries.inc(evictions);
      if (notice.report.kind === 'writeFailed') retries.inc({ name: nodeUpdates });
    },
    timed: (machine) => ({
      nextWake: () => machine.nextWake(),
      handle: (now: Instant, event: Event): readonly Command[] => {
        const queues = changes.filter((queue) => queue.event === event.kind);
        if (queues.length === 0) return machine.handle(now, event);
        const begun = performance.now();
        const commands = machine.handle(now, event);
        const seconds = (performance.now() - begun) / 1000;
        for (const { name } of queues) {
          adds.inc({ name });
          waits.observe({ name }, 0);
          work.observe({ name }, seconds);
        }
        return commands;
      },
    }),
  };
}

function counters(registry: Registry): {
  readonly adds: Counter<'name'>;
  readonly retries: Counter<'name'>;
  readonly waits: Histogram<'name'>;
  readonly work: Histogram<'name'>;
} {
  const describe = describing(registry);
  return {
    adds: new Counter(
      describe('workqueue_adds_total', '[BETA] Total number of adds handled by workqueue', 'name'),
    ),
    retries: new Counter(
      describe(
        'workqueue_retries_total',
        '[BETA] Total number of retries handled by workqueue',
        'name',
      ),
    ),
    waits: new Histogram({
      ...describe(
        'workqueue_queue_duration_seconds',
        '[BETA] How long in seconds an item stays in workqueue before being requested.',
        'name',
      ),
      buckets: tenfold(),
    }),
    work: new Histogram({
      ...describe(
        'workqueue_work_duration_seconds',
        '[BETA] How long in seconds processing an item from workqueue takes.',
        'name',
      ),
      buckets: tenfold(),
    }),
  };
}

interface Queues {
  readonly activity: Activity;
  readonly evicts: boolean;
  readonly changes: readonly ChangeQueue[];
}

function depthGauges(registry: Registry, { activity, evicts, changes }: Queues): void {
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      ...describing(registry)(name, help, 'name'),
      collect() {
        for (const queue of changes) this.set({ name: queue.name }, 0);
        if (evicts) this.set(evictions, value());
      },
    });
  };
  gauge('workqueue_depth', '[BETA] Current depth of workqueue', () => {
    return activity.waiting().overdue;
  });
  gauge(
    'workqueue_unfinished_work_seconds',
    "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.",
    () => activity.underWay().reduce((sum, age) => sum + age, 0) / 1000,
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    '[BETA] How many seconds has the longest running processor for workqueue been running.',
    () => Math.max(0, ...activity.underWay()) / 1000,
  );
}

/** client-go's buckets: ten from 10 ns on, each ten times the one before, rounding errors included. */
function tenfold(): number[] {
  const buckets: number[] = [];
  for (let bound = 10e-9; buckets.length < 10; bound *= 10) buckets.push(bound);
  return buckets;
}
