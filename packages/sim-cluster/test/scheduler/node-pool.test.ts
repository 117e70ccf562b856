import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node } from '../../src/builders.ts';
import type { Json, KubeObject } from '../../src/objects/kube-object.ts';
import { NodePool } from '../../src/scheduler/node-pool.ts';

const beat = '2026-01-01T00:00:10Z';
const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' };
const allocatable = { cpu: '4', memory: '16Gi', pods: '3' };

function before(): KubeObject {
  return node('n-1', { labels: { disk: 'ssd' }, status: { allocatable, conditions: [ready] } });
}

function withStatus(object: KubeObject, changed: { readonly [field: string]: Json }): KubeObject {
  return { ...object, status: { ...object.status, ...changed } };
}

describe('what the scheduler sees of a node that is written again', () => {
  const changes: readonly (readonly [what: string, (object: KubeObject) => KubeObject, boolean])[] =
    [
      [
        'a heartbeat',
        (one) => withStatus(one, { conditions: [{ ...ready, lastHeartbeatTime: beat }] }),
        false,
      ],
      [
        'it is not ready',
        (one) => withStatus(one, { conditions: [{ ...ready, status: 'Unknown' }] }),
        false,
      ],
      [
        'it offers more',
        (one) => withStatus(one, { allocatable: { ...allocatable, cpu: '8' } }),
        true,
      ],
      [
        'a taint',
        (one) => ({ ...one, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
        true,
      ],
      ['cordoned', (one) => ({ ...one, spec: { unschedulable: true } }), true],
      [
        'another label',
        (one) => ({ ...one, metadata: { ...one.metadata, labels: { disk: 'hdd' } } }),
        true,
      ],
    ];
  for (const [what, change, matters] of changes) {
    it(`${what}: ${matters ? 'is another' : 'is the same'}`, () => {
      const pool = new NodePool();
      const object = before();
      assert.ok(pool.setNode(object), 'it is new');
      assert.equal(pool.setNode(change(object)) !== null, matters);
    });
  }
});
