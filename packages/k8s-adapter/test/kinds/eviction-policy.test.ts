import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionPolicy } from '@taintmgr/core/policy';
import { read } from './read-kind.ts';

describe('EvictionPolicy', () => {
  it('says all that it can', () => {
    const spec = {
      priority: 10,
      match: {
        taints: [{ key: 'example.com/*', value: '', effect: 'NoExecute' }, { key: 'maintenance' }],
        nodeSelector: { matchLabels: { pool: 'spot' } },
        namespaces: ['shop-*'],
        namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
        podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] },
        podPriority: { min: -5, max: 1000, classNames: ['low'] },
      },
      action: 'EvictThenDelete',
      minTaintAge: '1m30s',
      deleteAfter: '1h',
      gracePeriodSeconds: 30,
      defaultTolerationSeconds: 0,
      limits: [
        { per: 'Zone', podsPerSecond: 0.5, burst: 3 },
        {
          per: 'Workload',
          name: 'shop/ReplicaSet/web',
          nodeSelector: { matchLabels: { pool: 'spot' } },
          percent: 25.5,
          window: '10m',
          onLimit: 'Trip',
        },
        { per: 'Total', pods: 1, window: '1.0005s' },
      ],
    };
    const value: EvictionPolicy = {
      name: 'one',
      uid: 'u',
      generation: 3,
      priority: 10,
      match: {
        taints: [{ key: 'example.com/*', value: '', effect: 'NoExecute' }, { key: 'maintenance' }],
        nodes: { matchLabels: { pool: 'spot' } },
        namespaces: {
          names: ['shop-*'],
          selector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
        },
        pods: { matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] },
        podPriority: { min: -5, max: 1000, classes: ['low'] },
      },
      action: 'EvictThenDelete',
      minTaintAgeMs: 90_000,
      deleteAfterMs: 3_600_000,
      gracePeriodSeconds: 30,
      defaultTolerationSeconds: 0,
      limits: [
        { per: 'zone', podsPerSecond: 0.5, burst: 3, onLimit: 'queue' },
        {
          per: 'workload',
          name: 'shop/ReplicaSet/web',
          nodes: { matchLabels: { pool: 'spot' } },
          percent: 25.5,
          windowMs: 600_000,
          onLimit: 'trip',
        },
        { per: 'total', pods: 1, windowMs: 1_001, onLimit: 'queue' },
      ],
    };
    const got = read('EvictionPolicy', spec, {}, { uid: 'u', generation: 3 });
    assert.deepEqual(got, { kind: 'EvictionPolicy', value });
  });

  it('says nothing of what it leaves out', () => {
    const value: EvictionPolicy = {
      name: 'one',
      uid: '',
      generation: 0,
      priority: 0,
      match: { taints: [], nodes: null, namespaces: null, pods: null, podPriority: null },
      action: 'Keep',
      minTaintAgeMs: null,
      deleteAfterMs: null,
      gracePeriodSeconds: null,
      defaultTolerationSeconds: null,
      limits: [],
    };
    const got = read('EvictionPolicy', { action: 'Keep', match: null, limits: null });
    assert.deepEqual(got, { kind: 'EvictionPolicy', value });
  });
});
