import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LifecycleReport, NodeCommand, Outcome } from '@taintmgr/core';
import { lifecycleLine, nodeWriteLine } from '../../src/log/lifecycle.ts';
import type { Line } from '../../src/log/line.ts';

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const node = { name: 'n1', uid: 'u1' };
const zone = {
  name: 'r/a',
  key: 'r:\0:a',
  state: 'PartialDisruption',
  ready: 1,
  notReady: 2,
  rate: 0,
  hold: null,
  waiting: [],
  tainted: 0,
} as const;

describe('a log line about nodes and zones', () => {
  const cases: readonly (readonly [LifecycleReport, Line['level'], string, Line['fields']])[] = [
    [
      { kind: 'zone', zone, from: 'Normal' },
      'warn',
      'zone state changed',
      { zone: 'r/a', from: 'Normal', to: 'PartialDisruption', ready: 1, notReady: 2, rate: 0 },
    ],
    [
      { kind: 'zone', zone: { ...zone, state: 'Normal' }, from: 'Initial' },
      'info',
      'zone state changed',
      { zone: 'r/a', from: 'Initial', to: 'Normal', ready: 1, notReady: 2, rate: 0 },
    ],
    [
      { kind: 'zoneHold', zone: 'r/a', hold: { code: 'RateZero' }, deadlines: 'pause' },
      'warn',
      'zone is held: no nodes are tainted',
      { zone: 'r/a', because: 'the eviction rate for this zone is 0', deadlines: 'pause' },
    ],
    [
      { kind: 'zoneHold', zone: 'r/a', hold: null, deadlines: null },
      'info',
      'zone is no longer held',
      { zone: 'r/a' },
    ],
    [
      { kind: 'nodeUnreachable', node, heardAt: now },
      'warn',
      'node is unreachable',
      { node: 'n1', since: '2026-01-02T03:04:05Z' },
    ],
    [
      {
        kind: 'writeFailed',
        node,
        write: 'noExecute',
        outcome: { kind: 'failed', status: 500, message: 'no', retryAfter: null },
        at: now + 1500,
      },
      'warn',
      'could not write to a node, will try again',
      { node: 'n1', write: 'noExecute', next: '1.5s', error: 'no' },
    ],
    [
      {
        kind: 'podMarkFailed',
        target: { namespace: 'shop', name: 'web', uid: 'u', nodeName: 'n1' },
        attempt: 3,
        outcome: { kind: 'failed', status: 400, message: 'no', retryAfter: null },
        at: now + 1500,
      },
      'warn',
      'could not mark a pod of an unreachable node not ready, will try again',
      { pod: 'shop/web', node: 'n1', attempt: 3, next: '1.5s', error: 'no' },
    ],
    [
      { kind: 'ruleDryRun', node, rule: 'disk', change: 'add' },
      'info',
      'dry run: rule would change a taint',
      { node: 'n1', rule: 'disk', change: 'add' },
    ],
    [
      { kind: 'ruleLimit', node, rule: 'disk' },
      'warn',
      'rule has reached its limit of tainted nodes',
      { node: 'n1', rule: 'disk' },
    ],
  ];
  for (const [report, level, message, fields] of cases) {
    it(`${report.kind}: ${message}`, () => {
      assert.deepEqual(lifecycleLine(report, now), { level, message, fields });
    });
  }
});

describe('a log line about a write to a node', () => {
  const taint = { key: 'k', value: 'v', effect: 'NoExecute', timeAdded: now } as const;
  const change: NodeCommand = {
    kind: 'changeTaints',
    id: 'node-1',
    node,
    add: [taint],
    remove: [{ key: 'old', effect: 'NoSchedule' }],
    seen: 'False',
    fresh: false,
    because: [{ code: 'KubeletNotReady' }],
  };
  const pod = { namespace: 'shop', name: 'web-0', uid: 'u2', nodeName: 'n1' };
  const fields = {
    node: 'n1',
    add: 'k=v:NoExecute',
    remove: 'old:NoSchedule',
    because: 'the kubelet reports NotReady',
    took: '3ms',
  };
  const cases: readonly (readonly [NodeCommand, Outcome, Line])[] = [
    [change, { kind: 'done' }, { level: 'info', message: 'changed taints of a node', fields }],
    [
      change,
      { kind: 'changed', message: 'its taints are others' },
      {
        level: 'debug',
        message: 'changeTaints changed',
        fields: { ...fields, error: 'its taints are others' },
      },
    ],
    [
      { kind: 'markPodNotReady', id: 'node-2', pod },
      { kind: 'gone' },
      {
        level: 'debug',
        message: 'markPodNotReady gone',
        fields: { pod: 'shop/web-0', node: 'n1', took: '3ms', error: 'gone' },
      },
    ],
    [
      { kind: 'markPodNotReady', id: 'node-2', pod },
      { kind: 'done' },
      {
        level: 'info',
        message: 'marked a pod of an unreachable node not ready',
        fields: { pod: 'shop/web-0', node: 'n1', took: '3ms' },
      },
    ],
  ];
  for (const [command, outcome, line] of cases) {
    it(line.message, () => {
      const notice = { kind: 'nodeWriteFinished', command, outcome, took: 3.2 } as const;
      assert.deepEqual(nodeWriteLine(notice), line);
    });
  }
});
