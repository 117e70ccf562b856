import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as core from '@taintmgr/core';

it('a pod that was explained is a pod like any: to copy, to write down, and to tell of', () => {
  const engine = core.createEngine();
  const labels = { app: 'db' };
  const tolerations = [{ key: 'bad', operator: 'Exists', tolerationSeconds: 60 }];
  const given = { name: 'db-0', namespace: 'shop', nodeName: 'n1', labels, tolerations };
  const pod = core.makePod(given);
  const node = core.makeNode({ name: 'n1', taints: ['bad:NoExecute'] });
  engine.handle(0, { kind: 'nodeUpsert', node });
  engine.handle(0, { kind: 'podUpsert', pod });
  engine.handle(0, { kind: 'synced' });
  const ofPod = engine.explain(0, { kind: 'pod', namespace: 'shop', name: 'db-0' });
  const ofNode = engine.explain(0, { kind: 'node', name: 'n1' });
  assert.ok(ofPod?.kind === 'pod' && ofNode?.kind === 'node');
  for (const explained of [ofPod.pod, ofNode.pods[0]?.pod ?? assert.fail()]) {
    assert.deepEqual(JSON.parse(JSON.stringify(explained)), JSON.parse(JSON.stringify(pod)));
    assert.deepEqual(structuredClone(explained), explained);
    const copy: core.Pod = { ...explained, uid: 'next', phase: 'Pending' };
    assert.deepEqual([copy.namespace, copy.tolerations], ['shop', pod.tolerations]);
    engine.handle(0, { kind: 'podUpsert', pod: copy });
  }
});

it('what is not known is explained as null', () => {
  const engine = core.createEngine();
  assert.equal(engine.explain(0, { kind: 'node', name: 'n1' }), null);
  assert.equal(engine.explain(0, { kind: 'pod', namespace: 'shop', name: 'web-0' }), null);
});
