import assert from 'node:assert/strict';
import { createEngine, type Outcome, type Reason, type Report } from '@taintmgr/core';
import type { Notice } from '@taintmgr/k8s-adapter';
import { Leadership } from '../../src/leadership/leadership.ts';
import { metricsText } from '../../src/metrics/exposition.ts';
import { createMetrics, type Metrics, type MetricsOptions } from '../../src/metrics/metrics.ts';
import { PendingEvictions } from '../../src/stats/pending-evictions.ts';
import {
  ClockChange,
  type ProcessStats,
  type RunningController,
} from '../../src/stats/process-stats.ts';

export const due = 1_800_000_000_000;
export const pod = { namespace: 'shop', name: 'web-0', uid: 'u1', nodeName: 'n1' };
const taint = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: due } as const;
export const because: readonly Reason[] = [
  { code: 'NoToleration', taint, start: due, startSource: 'timeAdded', deadline: due },
];

export const idle: RunningController = {
  takeover: () => null,
  limits: () => [],
  lead: () => {},
  hearOthers: () => {},
  leader: () => '',
  zones: () => [],
  counts: () => createEngine().counts(),
  nodes: () => [],
  nodesOfTaints: () => [],
  pauses: () => [],
  lastReplica: () => null,
  explain: () => null,
  lateBy: () => 0,
  kept: () => null,
  cutOffSince: () => null,
  podScope: () => 'all',
  decidesForDevices: () => false,
  status: () => [],
  now: () => due,
  wall: () => due,
};

/** Everything that is measured of a controller that runs nothing; `machineClock`: what the machine's clock shows. */
export function measure(dryRun = false, machineClock = (): number => due): Measured {
  const stats: ProcessStats = {
    startedAt: new Date(due),
    takeover: null,
    loopLag: { lag: () => 1500 },
    pending: new PendingEvictions(),
    clock: new ClockChange(),
    leadership: new Leadership(true, () => {}),
    running: null,
    stopping: false,
  };
  const options: MetricsOptions = {
    stats,
    shadow: null,
    dryRun,
    host: '10.0.0.1:6443',
    lease: 'taintmgr-controller',
    controllers: ['taint-eviction-controller', 'node-lifecycle-controller'],
    featureGates: { TaintTolerationComparisonOperators: true },
    machineClock,
  };
  const metrics = createMetrics(options);
  const notify: Notify = (notice, after) => {
    stats.pending.observe(notice, due + after);
    metrics.onNotice(notice, due + after);
  };
  return { options, stats, metrics, notify };
}

/** Gives a notice so many milliseconds after the pod was due. */
type Notify = (notice: Notice, after: number) => void;

export interface Measured {
  readonly options: MetricsOptions;
  readonly stats: ProcessStats;
  readonly metrics: Metrics;
  readonly notify: Notify;
}

const command = {
  kind: 'deletePod',
  id: 'eviction/1',
  pod,
  confirm: false,
  guard: 'uid',
  generation: 1,
  gracePeriodSeconds: null,
  escalated: true,
  because,
} as const;

export const sent: Notice = { kind: 'commandSent', command };

export function finished(outcome: Outcome): Notice {
  return { kind: 'commandFinished', command, outcome, took: 25 };
}

export function reported(report: Report): Notice {
  return { kind: 'report', report };
}

/** The lines of /metrics. */
export async function linesOf({ registry }: Metrics): Promise<readonly string[]> {
  return (await metricsText(registry, 'text')).split('\n');
}

/** Fails unless all these lines are there. */
export async function has(metrics: Metrics, ...expected: readonly string[]): Promise<void> {
  const lines = await linesOf(metrics);
  for (const line of expected) {
    const [name = ''] = line.split(/[ {]/);
    const alike = lines.filter((one) => one.startsWith(name));
    assert.ok(lines.includes(line), `${line}\nis not among\n${alike.join('\n')}`);
  }
}
