import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolvePressureSettings } from '@taintmgr/core/pressure';
import type { PressureNotice } from '@taintmgr/k8s-adapter';
import { Registry } from 'prom-client';
import { Meter } from '../../src/metrics/meter.ts';
import { pressureMetrics } from '../../src/metrics/pressure.ts';
import { pressureLine } from '../../src/pressure/log.ts';

const pod = { namespace: 'shop', name: 'db', uid: 'u1', nodeName: 'n1' };
const [threshold] = resolvePressureSettings({
  evictionHard: { 'memory.available': '1Gi' },
  enforceNodeAllocatable: [],
}).thresholds;
assert.ok(threshold);
const sample = { available: 2 ** 29, capacity: 2 ** 34, time: 0 };
const met = { code: 'ThresholdMet', threshold, sample, amount: 2 ** 30 } as const;
const command = {
  kind: 'evictUnderPressure',
  id: 'e1',
  pod,
  generation: 1,
  gracePeriodSeconds: 1,
  status: { phase: 'Failed', reason: 'Evicted', message: 'low', disruptionTarget: null },
  signal: 'memory.available',
  because: [met],
} as const;
const finished = { kind: 'evictionFinished', command, took: 12.4, refusal: null } as const;
const blocked = { kind: 'blocked', message: 'budget', retryAfter: null } as const;
const doubt = { code: 'SignalMissing', signal: 'memory.available' } as const;
const conditions = {
  kind: 'setPressureConditions',
  id: 'c1',
  node: { name: 'n1', uid: 'n' },
  conditions: [
    {
      type: 'MemoryPressure',
      status: 'True',
      reason: '',
      message: '',
      heartbeatAt: 0,
      transitionAt: 0,
    },
  ],
} as const;

const lines: readonly (readonly [notice: PressureNotice, line: string])[] = [
  [
    { kind: 'evictionSent', command },
    'info evicting pod=shop/db node=n1 signal=memory.available grace=1s because=memory.available<1Gi is met: 512Mi available, 1Gi wanted',
  ],
  [{ ...finished, outcome: { kind: 'done' } }, 'info evicted pod=shop/db node=n1 took=12ms'],
  [
    { ...finished, outcome: { kind: 'done' }, refusal: 'no right' },
    'warn evicted, but its status could not be updated pod=shop/db node=n1 took=12ms error=no right',
  ],
  [{ ...finished, outcome: { kind: 'gone' } }, 'info already gone pod=shop/db node=n1 took=12ms'],
  [
    { ...finished, outcome: blocked },
    'debug eviction blocked pod=shop/db node=n1 took=12ms error=budget',
  ],
  [
    { kind: 'conditionsWritten', command: conditions, outcome: { kind: 'done' } },
    'info set conditions of a node node=n1 conditions=MemoryPressure=True',
  ],
  [
    { kind: 'conditionsWritten', command: conditions, outcome: { kind: 'gone' } },
    'warn could not set conditions of a node node=n1 conditions=MemoryPressure=True error=gone',
  ],
  [
    { kind: 'pressureReport', report: { kind: 'doubt', nodeName: 'n1', because: [doubt] } },
    'warn node stats are unreliable, no action node=n1 because=memory.available is missing',
  ],
  [
    { kind: 'pressureReport', report: { kind: 'doubt', nodeName: 'n1', because: [] } },
    'info node stats are reliable again node=n1',
  ],
  [
    {
      kind: 'pressureReport',
      report: { kind: 'withheld', nodeName: 'n1', because: [{ code: 'NoCandidate' }] },
    },
    'warn under pressure, but no pod can be evicted node=n1 because=no pod may be evicted',
  ],
  [
    {
      kind: 'pressureReport',
      report: {
        kind: 'threshold',
        nodeName: 'n1',
        threshold,
        from: 'clear',
        to: 'due',
        because: [met],
      },
    },
    'warn threshold met, evicting pods node=n1 threshold=memory.available<1Gi because=memory.available<1Gi is met: 512Mi available, 1Gi wanted',
  ],
  [
    {
      kind: 'pressureReport',
      report: { kind: 'pressureRetry', pod, setback: blocked, until: 5000 },
    },
    'warn eviction failed pod=shop/db node=n1 next=5.0s error=budget',
  ],
  [{ kind: 'synced' }, 'info caches synced, evictions start'],
];

describe('the log', () => {
  for (const [notice, expected] of lines) {
    it(expected, () => {
      const { level, message, fields } = pressureLine(notice, 0);
      const pairs = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
      assert.equal([level, message, ...pairs].join(' '), expected);
    });
  }
});

describe('the metrics', () => {
  for (const dryRun of [false, true]) {
    it(`count evictions, setbacks and doubts${dryRun ? ', but nobody evicted in a dry run' : ''}`, async () => {
      const registry = new Registry();
      const count = pressureMetrics(new Meter(registry), { dryRun });
      for (const [notice] of lines) count(notice);
      const text = await registry.metrics();
      const values = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      const evicted =
        'taintmgr_node_pressure_evictions_total{eviction_signal="memory.available"} 2';
      assert.deepEqual(values, [
        ...(dryRun ? [] : [evicted]),
        'taintmgr_node_pressure_setbacks_total{outcome="blocked"} 1',
        'taintmgr_node_pressure_doubts_total{reason="SignalMissing"} 1',
      ]);
    });
  }
});
