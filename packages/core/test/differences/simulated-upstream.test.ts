// What kube-controller-manager would have done by itself beside an engine.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createEngine } from '@taintmgr/core';
import { node, pod, tolerating } from './objects.ts';

it('a deletion of kube-controller-manager has the reason that it had, also when it is done', () => {
  const engine = createEngine({ leader: true, compare: true });
  engine.handle(0, { kind: 'synced' });
  engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
  engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(5), boundAt: 1000 } });
  engine.handle(6000, { kind: 'tick' });
  const explanation = engine.explain(9000, { kind: 'pod', namespace: 'shop', name: 'web-0' });
  assert.ok(explanation?.kind === 'pod' && explanation.upstream);
  const { decision } = explanation.upstream;
  assert.deepEqual([decision.kind, decision.because[0]?.code], ['evict', 'TolerationExpires']);
});

it('kube-controller-manager deletes a pod when it is due, whether anybody asks or something happens then', () => {
  const subject = { kind: 'pod', namespace: 'shop', name: 'web-0' } as const;
  for (const asked of [[], [5000], [3_600_000], [6000, 3_600_000]]) {
    const engine = createEngine({ leader: false, compare: true });
    engine.handle(0, { kind: 'synced' });
    engine.handle(0, { kind: 'leadership', held: true });
    engine.handle(1000, { kind: 'podUpsert', pod: { ...pod, ...tolerating(5), boundAt: 1000 } });
    engine.handle(1000, { kind: 'nodeUpsert', node: node(null) });
    for (const now of asked) engine.explain(now, subject);
    engine.handle(7000, { kind: 'nodeUpsert', node: { ...node(null), taints: [] } });
    const explanation = engine.explain(9000, subject);
    assert.ok(explanation?.kind === 'pod' && explanation.upstream);
    const { decision } = explanation.upstream;
    assert.deepEqual([decision.kind, 'deadline' in decision && decision.deadline], ['evict', 6000]);
  }
});
