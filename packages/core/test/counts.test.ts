import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as core from '@taintmgr/core';
import { itAnswersEvictions } from './eviction/script.ts';

it('counts what was handed over, and the pods that were spared there', () => {
  assert.equal(core.createEngine().takeover(), null);
  const engine = core.createEngine({ takeover: true });
  const handedOver = { 'taintmgr.dev/takeover': 'enabled' };
  engine.handle(0, { kind: 'synced' });
  for (const name of ['shop', 'web'])
    engine.handle(0, { kind: 'namespaceUpsert', namespace: { name, labels: handedOver } });
  engine.handle(0, { kind: 'namespaceUpsert', namespace: { name: 'pay', labels: {} } });
  const pause = { name: 'p', uid: '', deadlines: true, readiness: false, reason: '', until: null };
  const scope = { zones: [], nodes: null, taintKeys: [], namespaces: [] };
  engine.handle(0, { kind: 'pauseUpsert', pause: { ...pause, scope, since: 0 } });
  const node = core.makeNode({ name: 'n1', taints: [core.parseTaint('bad:NoExecute')] });
  engine.handle(0, { kind: 'nodeUpsert', node });
  for (const namespace of ['shop', 'pay']) {
    const pod = core.makePod({ namespace, name: 'a', nodeName: 'n1' });
    engine.handle(0, { kind: 'podUpsert', pod });
  }
  const told = engine.handle(1000, { kind: 'tick' });
  assert.deepEqual(
    told.map((one) => one.kind === 'recordEvent' && one.pod.namespace),
    ['shop'],
  );
  const { namespaces, spared } = engine.takeover() ?? assert.fail();
  assert.deepEqual(namespaces, ['shop', 'web']);
  assert.deepEqual([...spared], [['shop', { spared: 1, held: 1 }]]);
  engine.handle(2000, {
    kind: 'podDelete',
    uid: core.makePod({ namespace: 'shop', name: 'a' }).uid,
  });
  assert.deepEqual([...(engine.takeover()?.spared ?? [])], [['shop', { spared: 1, held: 0 }]]);
});

it('counts nodes and pods, and names the pauses in force', () => {
  const engine = core.createEngine({ mode: 'evict' });
  const taints = [core.parseTaint('bad:NoExecute')];
  const nodes = [core.makeNode({ name: 'n1', taints }), core.makeNode({ name: 'n2' })];
  for (const node of nodes) engine.handle(0, { kind: 'nodeUpsert', node });
  const tolerations = [
    { key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
  ];
  for (const nodeName of ['n1', 'n2']) {
    const pod = core.makePod({ name: nodeName, nodeName, tolerations });
    engine.handle(0, { kind: 'podUpsert', pod });
  }
  engine.handle(0, { kind: 'synced' });
  engine.handle(0, { kind: 'tick' });
  const known = { nodes: 2, tainted: 1, pods: 2, blocked: 0 };
  assert.deepEqual(engine.counts(), { ...known, pending: 1, held: 0 });
  assert.deepEqual(engine.pauses(), []);
  const scope = { zones: [], nodes: null, taintKeys: [], namespaces: [] };
  const pause = { name: 'night', uid: 'u', scope, readiness: false, deadlines: true };
  const until = { reason: '', until: 5_000, since: 0 };
  engine.handle(1, { kind: 'pauseUpsert', pause: { ...pause, ...until } });
  const isOver = (): readonly boolean[] => engine.pauses().map((one) => one.isOver);
  assert.deepEqual([engine.pauses()[0]?.pause.name, isOver()], ['night', [false]]);
  assert.deepEqual(engine.counts(), { ...known, pending: 0, held: 1 });
  engine.handle(5_000, { kind: 'tick' });
  assert.deepEqual(isOver(), [true]);
  assert.deepEqual(engine.counts(), { ...known, pending: 1, held: 0 });
});

itAnswersEvictions('policy-counts policy-rights');
