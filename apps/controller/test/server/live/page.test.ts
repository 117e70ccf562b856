import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createEngine, type Engine, makeNode, makePod } from '@taintmgr/core';
import type { LiveInput } from '@taintmgr/page';
import { Leadership } from '../../../src/leadership/leadership.ts';
import type { Handler } from '../../../src/server/answer.ts';
import { pageHandlers } from '../../../src/server/live/page.ts';
import { PendingEvictions } from '../../../src/stats/pending-evictions.ts';
import { ClockChange, type ProcessStats } from '../../../src/stats/process-stats.ts';

const now = Date.parse('2026-11-23T10:00:00Z');
const taint = { key: 'slow', value: '', effect: 'NoExecute', timeAdded: now - 60_000 } as const;

const toleration = { key: 'slow', operator: 'Exists', tolerationSeconds: 3600 } as const;

/** An engine with a tainted node, and a pod that has 59 minutes left. */
function engineWithPod(): Engine {
  const engine = createEngine({ lifecycle: null });
  const node = makeNode({ name: 'n1', taints: [taint] });
  const pod = makePod({
    ...{ namespace: 'shop', name: 'later', uid: 'u1', nodeName: 'n1' },
    ...{ tolerations: [toleration], boundAt: now - 3_600_000 },
  });
  for (const event of [
    { kind: 'nodeUpsert', node },
    { kind: 'podUpsert', pod },
    { kind: 'synced' },
    { kind: 'tick' },
  ] as const)
    engine.handle(now, event);
  return engine;
}

interface World {
  readonly page: Handler;
  readonly events: Handler;
  /** Lets so much time pass. */
  pass(millis: number): void;
}

function worldOf(engine: Engine | null, isDryRun = false): World {
  let passed = 0;
  const stats: ProcessStats = {
    startedAt: new Date(now),
    takeover: null,
    loopLag: { lag: () => 0 },
    pending: new PendingEvictions(),
    clock: new ClockChange(),
    leadership: new Leadership(true, () => {}),
    running: engine && {
      takeover: () => null,
      limits: (at) => engine.limits(at),
      lead: () => {},
      hearOthers: () => {},
      leader: () => '',
      explain: (at, subject) => engine.explain(at, subject),
      zones: (at) => engine.zones(at),
      counts: () => engine.counts(),
      nodes: () => engine.nodes(),
      nodesOfTaints: () => engine.nodesOfTaints(),
      pauses: () => engine.pauses(),
      lastReplica: () => null,
      podScope: () => 'all',
      decidesForDevices: () => false,
      status: () => [],
      kept: () => null,
      cutOffSince: () => null,
      lateBy: () => 0,
      now: () => now + passed,
      wall: () => now + passed,
    },
    stopping: false,
  };
  const handlers = pageHandlers(stats, { source: 'test', isDryRun }, () => passed);
  const of = (path: string): Handler => handlers.get(path) ?? assert.fail(path);
  return {
    page: of('/ui'),
    events: of('/ui/events'),
    pass: (millis) => {
      passed += millis;
    },
  };
}

const inquiry = { path: '/ui', query: new URLSearchParams(), accept: '' };

async function eventOf(events: Handler, lastEventId?: string): Promise<readonly string[]> {
  const { status, headers, body } = await events({
    ...inquiry,
    ...(lastEventId !== undefined && { lastEventId }),
  });
  assert.equal(status, 200, body);
  assert.equal(headers['content-type'], 'text/event-stream');
  const [retry, event = ''] = body.split('\n\n');
  assert.equal(retry, 'retry: 2000');
  return event.split('\n');
}

async function stateOf(events: Handler): Promise<LiveInput> {
  const [, kind, data = ''] = await eventOf(events);
  assert.equal(kind, 'event: state');
  return JSON.parse(data.slice('data: '.length));
}

describe('/ui', () => {
  it('is the live page, which may run nothing but its own script', async () => {
    const { status, headers, body } = await worldOf(null).page(inquiry);
    assert.equal(status, 200);
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-[^']*'; connect-src 'self'/,
    );
    const [, data = ''] = /id="data">([^<]*)</.exec(body) ?? [];
    assert.equal(gunzipSync(Buffer.from(data, 'base64')).toString(), '{"stream":"ui/events"}');
  });

  it('says what this process decides', async () => {
    const { source, evictedBy, pods, nodes, zones, warnings } = await stateOf(
      worldOf(engineWithPod()).events,
    );
    assert.deepEqual(
      [source, evictedBy, warnings],
      ['test', 'This process of taintmgr-controller evicts here', []],
    );
    const [{ namespace, pod, node, state, evictor, because, dueAt, setAt } = assert.fail()] = pods;
    assert.deepEqual([namespace, pod, node, state], ['shop', 'later', 'n1', 'Evict']);
    assert.equal(evictor, 'taintmgr-controller');
    assert.deepEqual(because, ['tolerates slow:NoExecute for 1h']);
    // Times kept in whole seconds count from their end.
    assert.deepEqual([setAt, dueAt], [1, 3601]);
    assert.deepEqual(nodes[0]?.taints, ['slow:NoExecute']);
    const [{ tainted, pending, overdue } = assert.fail()] = zones;
    assert.deepEqual({ tainted, pending, overdue }, { tainted: 1, pending: 1, overdue: 0 });
  });

  it('shows as an escape what is not seen or reorders what is', async () => {
    const engine = engineWithPod();
    const key = 'a\u202eb';
    const node = makeNode({ name: 'n1', taints: [taint, { ...taint, key }] });
    engine.handle(now, { kind: 'nodeUpsert', node });
    engine.handle(now, { kind: 'tick' });
    const { body } = await worldOf(engine).events({
      path: '',
      query: new URLSearchParams(),
      accept: '',
    });
    assert.ok(body.includes('a\\\\u202eb'), body);
    assert.doesNotMatch(body, /\u202e/);
  });

  it('says which pods are gone, also while there are more than it shows', async () => {
    const engine = engineWithPod();
    for (let at = 0; at < 600; at++) {
      const common = { namespace: 'shop', nodeName: 'n1', tolerations: [toleration] };
      const pod = makePod({ ...common, name: `more-${at}`, uid: `more-${at}` });
      engine.handle(now, { kind: 'podUpsert', pod });
    }
    const { events, pass } = worldOf(engine);
    const first = await stateOf(events);
    assert.deepEqual([first.pods.length, first.podsLeftOut], [500, 101]);
    const [{ uid, pod } = assert.fail()] = first.pods;
    engine.handle(now, { kind: 'podDelete', uid });
    pass(2000);
    const { podsLeftOut, record } = await stateOf(events);
    assert.equal(podsLeftOut, 100);
    assert.deepEqual(
      record.events.map(({ text }) => text),
      [`shop/${pod} is to leave no more`],
    );
  });

  it('gives all who ask at once the same state, also the first', async () => {
    const { events } = worldOf(engineWithPod());
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => stateOf(events)));
    assert.equal(first?.pods.length, 1);
    assert.deepEqual(others, [first, first]);
  });

  it('warns of a dry run, and answers 503 before it has begun', async () => {
    const { warnings } = await stateOf(worldOf(engineWithPod(), true).events);
    assert.match(warnings.join(), /dry run/);
    assert.equal((await worldOf(null).events(inquiry)).status, 503);
  });

  it('gives who has the state only its time, and what changed when something did', async () => {
    const engine = engineWithPod();
    const { events, pass } = worldOf(engine);
    const [id = ''] = await eventOf(events);
    const last = id.slice('id: '.length);
    pass(5000);
    assert.deepEqual(await eventOf(events, last), ['event: now', 'data: 65']);
    engine.handle(now, { kind: 'podDelete', uid: 'u1' });
    pass(1000);
    assert.equal((await eventOf(events, last))[0], 'event: now', 'it looks every two seconds');
    pass(1000);
    const [next] = await eventOf(events, last);
    assert.notEqual(next, id);
    const { record } = await stateOf(events);
    assert.deepEqual(
      record.events.map(({ text }) => text),
      ['shop/later is to leave no more'],
    );
  });

  it('forgets what was seen when nobody has looked for a minute', async () => {
    const { events, pass } = worldOf(engineWithPod());
    const first = await stateOf(events);
    pass(30_000);
    assert.equal((await stateOf(events)).startsAt, first.startsAt);
    pass(61_000);
    assert.equal((await stateOf(events)).startsAt, first.startsAt + 91_000);
  });
});
