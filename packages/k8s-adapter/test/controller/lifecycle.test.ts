import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { Semantics } from '@taintmgr/core';
import { daemonSet } from '@taintmgr/sim-cluster';
import { NodeWorld, type Write } from '../world/node-world.ts';

// The node lifecycle end to end but for sockets: kubelets, the API over its wire, the reflectors,
// the engine and the executor. The golden file is what kube-controller-manager 1.36.2 sent.

interface GoldenWrite {
  readonly method: string;
  readonly path: string;
  readonly body: Write['body'];
}

const golden: Readonly<Record<string, readonly GoldenWrite[]>> = JSON.parse(
  readFileSync(new URL('../testdata/controller/golden-lifecycle.json', import.meta.url), 'utf8'),
);
const names: Readonly<Record<string, string>> = { g4: 'a-1', 'wire-golden': 'shop' };
const both: readonly Semantics[] = ['precise', 'upstream-1.36'];
const unreachable = ['unreachable:NoSchedule', 'unreachable:NoExecute'];

describe('one node falls silent and comes back', () => {
  for (const semantics of both) {
    it(`sends what kube-controller-manager sent (${semantics})`, () => {
      const world = new NodeWorld({ zones: { a: 3 }, engine: { semantics } });
      world.runTo(60);
      const tolerates = { key: 'node.kubernetes.io/unreachable', operator: 'Exists' };
      world.addPod('a-1', 'web-5s', [{ ...tolerates, effect: 'NoExecute', tolerationSeconds: 5 }]);
      world.addPod('a-1', 'web', [{ ...tolerates, effect: 'NoExecute', tolerationSeconds: 300 }]);
      world.addPod('a-1', 'ds', [tolerates]);
      world.runTo(80);
      const before = world.writes.length;
      world.stop('a-1');
      world.runTo(150);
      assert.deepEqual(world.taints('a-1'), unreachable);
      const lost = world.writes.slice(before);
      for (const name of ['a-1', 'web-5s', 'web', 'ds']) {
        assert.deepEqual(writesTo(lost, name), goldenTo('20-heartbeat-lost', name), name);
      }
      const back = world.writes.length;
      world.resume('a-1');
      world.runTo(170);
      assert.deepEqual(world.taints('a-1'), []);
      const found = writesTo(world.writes.slice(back), 'a-1');
      assert.deepEqual(found, goldenTo('21-recovers', 'a-1'));
      const pods = world.cluster.api.list('pods', 'shop').map(({ metadata }) => metadata.name);
      assert.deepEqual(pods.sort(), ['ds', 'web']);
      world.runTo(400);
      world.judge(0);
    });
  }
});

describe('zones', () => {
  it('a zone of 60 loses 34: one node in 100 seconds', () => {
    const world = new NodeWorld({ zones: { a: 60, b: 60, c: 60 } });
    world.runTo(60);
    world.stop(...nodes('a', 34));
    world.runTo(760);
    const taintings = world.taintings('a');
    assert.ok(taintings.length >= 5 && taintings.length <= 7, `${taintings}`);
    assertSpacing(taintings, 99.9);
    assert.equal(zone(world, 'a').state, 'PartialDisruption');
    world.judge(60);
  });

  it('a zone of 4 loses 3: none is tainted, and it says why', () => {
    const world = new NodeWorld({ zones: { a: 4, b: 4, c: 4 } });
    world.runTo(60);
    world.stop(...nodes('a', 3));
    world.runTo(400);
    assert.deepEqual(world.taintings('a'), []);
    assert.deepEqual(zone(world, 'a').hold, { code: 'ZoneStopped', notReady: 3, size: 4 });
    world.judge(60);
  });

  it('a zone loses all while others live: one node in 10 seconds', () => {
    const world = new NodeWorld({ zones: { a: 6, b: 6, c: 6 } });
    world.runTo(60);
    world.stop(...nodes('a', 6));
    world.runTo(300);
    const taintings = world.taintings('a');
    assert.equal(taintings.length, 6);
    assertSpacing(taintings, 9.9);
    world.judge(60);
  });

  it('the same with dead zones held: none, and the deadlines that run are paused', () => {
    const engine = { lifecycle: { fullDisruption: 'hold' } } as const;
    const world = new NodeWorld({
      zones: { a: 4, b: 4, c: 4 },
      engine,
      terms: { fullDisruptionRate: 0 },
    });
    world.runTo(60);
    const tolerates = { key: 'node.kubernetes.io/unreachable', operator: 'Exists' };
    world.addPod('a-1', 'web', [{ ...tolerates, effect: 'NoExecute', tolerationSeconds: 100 }]);
    world.stop('a-1');
    world.runTo(130);
    assert.deepEqual(world.taints('a-1'), unreachable);
    world.stop(...nodes('a', 4));
    world.runTo(600);
    assert.deepEqual(world.taintings('a').length, 1);
    assert.equal(zone(world, 'a').hold?.code, 'FullDisruptionHeld');
    const isLeaving = (): boolean =>
      world.cluster.api.get('pods', 'shop', 'web')?.metadata.deletionTimestamp !== undefined;
    assert.ok(!isLeaving(), 'its deadline stands still');
    world.resume('a-3', 'a-4');
    world.runTo(800);
    assert.ok(isLeaving(), 'and goes on');
  });

  it('all zones die and come back: nothing is evicted meanwhile', () => {
    const terms = { podBoundMs: Number.POSITIVE_INFINITY };
    const world = new NodeWorld({ zones: { a: 3, b: 3 }, terms });
    world.runTo(60);
    for (const name of [...nodes('a', 3), ...nodes('b', 3)]) world.addPod(name, `on-${name}`);
    world.runTo(80);
    world.stop(...nodes('a', 3), ...nodes('b', 3));
    world.runTo(1000);
    assert.equal(zone(world, 'a').hold?.code, 'AllZonesDown');
    for (const name of nodes('a', 3)) assert.deepEqual(world.taints(name), unreachable.slice(0, 1));
    world.resume(...nodes('a', 3), ...nodes('b', 3));
    world.runTo(1200);
    for (const name of nodes('b', 3)) assert.deepEqual(world.taints(name), []);
    assert.equal(world.cluster.api.list('pods', 'shop').length, 6);
    assert.deepEqual(
      world.writes.filter(({ method }) => method === 'DELETE'),
      [],
    );
    world.judge(60);
  });
});

describe('the legacy mode', () => {
  const engine = {
    semantics: 'upstream-1.36',
    lifecycle: { enforcement: 'pods', podEvictionTimeoutMs: 120_000 },
  } as const;

  it('deletes the pods of a lost node, those of DaemonSets aside, and taints nothing NoExecute', () => {
    const world = new NodeWorld({ zones: { a: 3 }, engine });
    world.runTo(60);
    world.addPod('a-1', 'web');
    world.addPod('a-1', 'agent-1', [], { app: 'agent' });
    const { api } = world.cluster;
    api.create('daemonsets', daemonSet('shop', 'agent'));
    world.runTo(80);
    const before = world.writes.length;
    world.stop('a-1');
    world.runTo(190);
    assert.equal(world.pod('web').metadata.deletionTimestamp, undefined);
    world.runTo(215);
    assert.deepEqual(world.taints('a-1'), ['unreachable:NoSchedule']);
    const lost = 'Node a-1 which was running pod web is unresponsive';
    const { reason, message } = world.pod('web').status;
    assert.deepEqual([reason, message], ['NodeLost', lost]);
    assert.equal(world.pod('agent-1').status.reason, 'NodeLost');
    assert.notEqual(world.pod('web').metadata.deletionTimestamp, undefined);
    assert.equal(world.pod('agent-1').metadata.deletionTimestamp, undefined);
    const deletions = world.writes.slice(before).filter(({ method }) => method === 'DELETE');
    assert.deepEqual(
      deletions.map(({ path, body }) => [path, body]),
      [['/api/v1/namespaces/shop/pods/web', { apiVersion: 'v1', kind: 'DeleteOptions' }]],
    );
    const told = world.writes.slice(before).map(({ body }) => body.message);
    assert.ok(told.includes('Node a-1 event: Deleting all Pods from Node a-1.'));
    assert.ok(told.includes('Marking for deletion Pod web from Node a-1'));

    world.addPod('a-1', 'late');
    world.runTo(221);
    assert.notEqual(world.pod('late').metadata.deletionTimestamp, undefined, 'at once');
    world.resume('a-1');
    world.runTo(240);
    world.addPod('a-1', 'later');
    world.runTo(400);
    assert.equal(world.pod('later').metadata.deletionTimestamp, undefined);
  });

  it('a pod that could not be deleted is tried again with the next token', () => {
    const world = new NodeWorld({ zones: { a: 3 }, engine });
    world.runTo(60);
    world.addPod('a-1', 'web');
    world.runTo(80);
    world.stop('a-1');
    world.runTo(195);
    const end = world.cluster.api.faults.add({
      fault: { kind: 'answer', code: 500 },
      verbs: ['delete'],
    });
    world.runTo(203);
    assert.equal(world.pod('web').metadata.deletionTimestamp, undefined);
    end();
    world.runTo(230);
    assert.notEqual(world.pod('web').metadata.deletionTimestamp, undefined);
  });
});

describe('numbers that JavaScript cannot hold', () => {
  it('are written back with all their digits: a pod of a silent node is marked', () => {
    const world = new NodeWorld({ zones: { a: 3 } });
    world.runTo(60);
    const forEver = Number(9223372036854775807n);
    const tolerates = { key: 'node.kubernetes.io/unreachable', operator: 'Exists' };
    const toleration = { ...tolerates, effect: 'NoExecute', tolerationSeconds: forEver };
    world.addPod('a-1', 'web', [toleration], { app: 'web' }, forEver);
    world.runTo(80);
    world.stop('a-1');
    world.runTo(200);
    const ready = world
      .pod('web')
      .status.conditions.find(({ type }: { type: string }) => type === 'Ready');
    assert.equal(ready.status, 'False');
    const refused = world.notices.filter(
      (notice) => notice.kind === 'nodeWriteFinished' && notice.outcome.kind === 'failed',
    );
    assert.deepEqual(refused, []);
  });
});

function nodes(zone: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${zone}-${index + 1}`);
}

function zone(world: NodeWorld, name: string): ReturnType<NodeWorld['engine']['zones']>[number] {
  const now = Date.parse('2026-01-01T00:00:00Z') + world.seconds * 1000;
  return (
    world.engine.zones(now).find((status) => status.name === `r/${name}`) ??
    assert.fail(`no zone ${name}`)
  );
}

function assertSpacing(instants: readonly number[], least: number): void {
  for (const [index, at] of instants.entries()) {
    const next = instants[index + 1];
    assert.ok(next === undefined || next - at >= least, `${at} and ${next} are ${least} apart`);
  }
}

function goldenTo(trace: string, name: string): readonly object[] {
  const renamed = JSON.stringify(golden[trace]).replace(
    /\b(g4|wire-golden)\b/g,
    (old) => names[old] ?? old,
  );
  return writesTo(JSON.parse(renamed), name);
}

/** What was written to an object and said about it, without what differs from run to run. */
function writesTo(writes: readonly GoldenWrite[], name: string): readonly object[] {
  return writes.flatMap(({ method, path, body }) => {
    const about =
      body.involvedObject?.name ??
      path
        .replace(/\/status$/, '')
        .split('/')
        .pop();
    if (about !== name || isOurOwn(body)) return [];
    return [{ method, path, ...essence(method, path, body) }];
  });
}

/** Annotations of ours, and Events of the eviction machine, which its own tests look at. */
function isOurOwn(body: Write['body']): boolean {
  return body.reason === 'TaintManagerEviction' || body.metadata?.annotations !== undefined;
}

function essence(method: string, path: string, body: Write['body']): object {
  if (path.endsWith('/events')) {
    // Who reports it is a named difference.
    const { type, reason, message, source } = body;
    const { kind } = body.involvedObject;
    return { type, reason, message, source, kind };
  }
  if (method === 'PATCH' && 'spec' in body) {
    const taints: readonly { key: string; effect: string; timeAdded?: string }[] =
      body.spec.taints ?? [];
    const isGuarded = typeof body.metadata.resourceVersion === 'string';
    const kept = taints.map(({ key, effect, timeAdded }) => [key, effect, timeAdded !== undefined]);
    return { isGuarded, taints: body.spec.taints && kept };
  }
  const conditions: readonly Record<'type' | 'status' | 'reason' | 'message', string>[] =
    body.status?.conditions ?? [];
  const ours = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'DisruptionTarget'];
  return {
    conditions: conditions
      .filter(({ type }) => ours.includes(type))
      .map(({ type, status, reason, message }) => ({ type, status, reason, message }))
      .sort((a, b) => (a.type < b.type ? -1 : 1)),
  };
}
