import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEngine, type Engine, type Node, type Pod } from '@taintmgr/core';
import type { PodScope } from '@taintmgr/k8s-adapter';
import { Leadership } from '../../src/leadership/leadership.ts';
import { explainHandler } from '../../src/server/explainz.ts';
import { PendingEvictions } from '../../src/stats/pending-evictions.ts';
import { ClockChange, type ProcessStats } from '../../src/stats/process-stats.ts';

const now = Date.now();
const taint = { key: 'slow', value: '', effect: 'NoExecute', timeAdded: now - 60_000 } as const;
const node: Node = { name: 'n1', uid: 'u0', taints: [taint], zone: 'r/a', deadline: null };
const toleration = {
  key: 'slow',
  operator: 'Exists',
  value: '',
  effect: 'NoExecute',
  tolerationSeconds: 3600,
} as const;

function pod(name: string, tolerations: Pod['tolerations']): Pod {
  return {
    namespace: 'shop',
    name,
    uid: name,
    nodeName: 'n1',
    tolerations,
    boundAt: now - 3_600_000,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 1,
    mirror: false,
    owner: null,
    gracePeriodSeconds: 30,
    optedOut: false,
    hasEmptyDir: false,
  };
}

function engineWith(lifecycle: object | null): Engine {
  const engine = createEngine({ lifecycle });
  engine.handle(now, { kind: 'nodeUpsert', node });
  engine.handle(now, { kind: 'podUpsert', pod: pod('later', [toleration]) });
  engine.handle(now, {
    kind: 'podUpsert',
    pod: pod('never', [{ ...toleration, tolerationSeconds: null }]),
  });
  engine.handle(now, { kind: 'synced' });
  engine.handle(now, { kind: 'tick' });
  return engine;
}

async function ask(
  engine: Engine | null,
  search: string,
  podScope: PodScope = 'all',
): Promise<readonly [number, string]> {
  const stats: ProcessStats = {
    startedAt: new Date(now),
    takeover: null,
    loopLag: { lag: () => 0 },
    pending: new PendingEvictions(),
    clock: new ClockChange(),
    leadership: new Leadership(true, () => {}),
    running: engine && {
      takeover: () => null,
      limits: () => [],
      lead: () => {},
      hearOthers: () => {},
      leader: () => '',
      explain: (_, subject) => engine.explain(now, subject),
      zones: () => engine.zones(now),
      counts: () => engine.counts(),
      nodes: () => engine.nodes(),
      nodesOfTaints: () => engine.nodesOfTaints(),
      pauses: () => engine.pauses(),
      lastReplica: () => null,
      podScope: () => podScope,
      decidesForDevices: () => false,
      status: () => [],
      kept: () => null,
      cutOffSince: () => null,
      lateBy: () => 0,
      now: () => now,
      wall: () => now,
    },
    stopping: false,
  };
  const query = new URLSearchParams(search);
  const { status, body } = await explainHandler(stats)({ path: '/explainz', query, accept: '' });
  return [status, body];
}

describe('/explainz', () => {
  it('answers about a node and its pods', async () => {
    const [status, body] = await ask(engineWith(null), 'node=n1');
    assert.equal(status, 200);
    assert.deepEqual(body.split('\n'), [
      'node n1',
      'taint slow:NoExecute counts since 1m (timeAdded)',
      '',
      'POD          NODE   DECISION   IN    WORK      BECAUSE',
      'shop/later   n1     Evict      59m   waiting   tolerates slow:NoExecute for 1h',
      'shop/never   n1     Keep       -     -         tolerates slow:NoExecute without limit',
      '',
    ]);
  });

  it('says how the node and its zone are doing, with the node lifecycle', async () => {
    const [, body] = await ask(engineWith({}), 'node=n1');
    const lines = body.split('\n');
    assert.ok(
      lines.some((line) => line.startsWith('health: ')),
      body,
    );
    assert.ok(
      lines.some((line) => line.startsWith('zone ')),
      body,
    );
  });

  const others: readonly (readonly [search: string, status: number, body: string])[] = [
    ['pod=shop/other', 404, 'pod shop/other not found\n'],
    ['node=n2', 404, 'node n2 not found\n'],
    ['', 400, 'want ?node=NAME or ?pod=NAMESPACE/NAME, and &output=json for JSON\n'],
    ['pod=shop', 400, 'want ?node=NAME or ?pod=NAMESPACE/NAME, and &output=json for JSON\n'],
  ];
  for (const [search, status, body] of others) {
    it(`answers ${search || 'nothing'} with ${status}`, async () => {
      assert.deepEqual(await ask(engineWith(null), search), [status, body]);
    });
  }

  it('says that only some pods are read, and how those of a node are', async () => {
    const engine = engineWith(null);
    engine.handle(now, { kind: 'podViews', others: 'unread', nodes: { n1: 'reading' } });
    const [, body] = await ask(engine, 'node=n1', 'byNode');
    assert.equal(
      body.split('\n')[2],
      'its pods are being read: nothing is decided about those not known yet',
    );
    const why = 'pod shop/other not found: only the pods of tainted nodes are read\n';
    assert.deepEqual(await ask(engine, 'pod=shop/other', 'byNode'), [404, why]);
  });

  it('asks for patience before the start', async () => {
    assert.deepEqual(await ask(null, 'node=n1'), [503, 'not started yet\n']);
  });

  it('answers in JSON too', async () => {
    const [status, body] = await ask(engineWith(null), 'pod=shop/later&output=json');
    const { kind, remaining, attempt } = JSON.parse(body);
    assert.deepEqual([status, kind, remaining, attempt.kind], [200, 'pod', 3_540_000, 'waiting']);
  });
});
