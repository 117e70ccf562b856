import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { type Config, createEngine } from '@taintmgr/core';
import { namespace, node, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop, type LoopOptions } from '../../src/controller/engine-loop.ts';
import { type Exchange, VirtualDriver } from '../../src/driver/virtual.ts';

// What the whole loop asks of the API server while a thousand pods go: counted, not timed.

const minute = 60_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const perNode = 30;
const taints = [{ key: 'maintenance', effect: 'NoExecute' }];

/** A quiet cluster with a controller that leads, and what is asked of it. */
class World {
  readonly clock = new VirtualClock(start);
  readonly requests = new Map<string, number>();
  readonly api: ApiServer;
  readonly driver: VirtualDriver;
  readonly loop: Loop;
  readonly dropped: number[] = [];
  /** How many evictions had begun when all pods were asked for. */
  readonly begunBeforeAll: number[] = [];
  /** How many pods stay. */
  left: number;

  constructor(
    pods: number,
    serviceMs: number,
    config: Partial<Config> = {},
    options: Pick<LoopOptions, 'podWatch'> = {},
  ) {
    this.api = new ApiServer({
      clock: this.clock,
      random: seededRandom(1),
      historyLength: 20 * pods,
      serviceMs: ({ verb, resource }) => {
        const what = `${verb} ${resource?.plural ?? 'others'}`;
        this.requests.set(what, (this.requests.get(what) ?? 0) + 1);
        return verb === 'watch' ? 0 : serviceMs;
      },
    });
    this.api.create('namespaces', namespace('shop'));
    for (let at = 0; at < pods; at++) {
      const nodeName = `n${Math.floor(at / perNode)}`;
      if (at % perNode === 0) this.api.create('nodes', node(nodeName));
      this.api.create('pods', pod('shop', `p${at}`, { spec: { nodeName } }));
    }
    this.left = pods;
    this.api.subscribe(({ resource, object, previous }) => {
      const leaves = object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp;
      if (resource === 'pods' && leaves) this.left -= 1;
    });
    const lease = { namespace: 'kube-system', name: 'taintmgr-controller' };
    this.loop = new Loop({
      machine: createEngine(config),
      random: seededRandom(2),
      election: { lease, identity: 'us' },
      ...options,
    });
    this.driver = new VirtualDriver({
      loop: this.loop,
      exchange: pinged(this.api.exchange, this.clock),
      clock: this.clock,
      onNotice: (notice) => {
        if (notice.kind === 'eventsDropped') this.dropped.push(notice.count);
        const isAll = notice.kind === 'podScope' && notice.scope === 'all';
        if (isAll) this.begunBeforeAll.push(this.count('patch pods'));
      },
    });
    this.driver.feed({ kind: 'start' });
    // A quiet cluster: nothing is heard of it but bookmarks.
    this.pass(5 * minute);
    assert.equal(this.loop.leader(this.clock.now()), 'us');
  }

  pass(ms: number): void {
    this.driver.runUntil(this.clock.now() + ms);
  }

  taintAll(): void {
    this.requests.clear();
    for (const one of this.api.list('nodes'))
      this.api.update('nodes', { ...one, spec: { taints } });
  }

  count(what: string): number {
    return this.requests.get(what) ?? 0;
  }

  get total(): number {
    return [...this.requests.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Lets pods go until none is left, and answers how long that took. */
  evictAll(): number {
    const begun = this.clock.now();
    this.taintAll();
    while (this.left > 0 && this.clock.now() < begun + 5 * minute) this.pass(100);
    assert.equal(this.left, 0);
    return this.clock.now() - begun;
  }
}

describe('a thousand pods that fall due at once on a quiet cluster', () => {
  for (const serviceMs of [2, 25, 250]) {
    it(`take no more than 2.05 requests each, where each takes ${serviceMs} ms`, () => {
      const world = new World(1000, serviceMs);
      world.evictAll();
      assert.equal(world.count('patch pods'), 1000);
      assert.equal(world.count('delete pods'), 1000);
      assert.equal(world.count('get pods') + world.count('get nodes'), 0, 'nothing is confirmed');
      const { total } = world;
      assert.ok(total <= 2.05 * 1000, `${total}: ${JSON.stringify([...world.requests])}`);
      world.pass(minute);
      assert.equal(world.api.list('events').filter(isAboutPod).length, 1000);
      assert.deepEqual(world.dropped, []);
    });
  }

  it('begin to go before all pods are read, where nodes are too many to be read one by one', () => {
    const world = new World(3000, 25, {}, { podWatch: { mode: 'tainted-nodes' } });
    assert.deepEqual(world.begunBeforeAll, []);
    world.evictAll();
    assert.equal(world.begunBeforeAll.length, 1, 'all pods are read once');
    assert.ok(world.begunBeforeAll.every((count) => count > 100));
    assert.equal(world.count('get pods') + world.count('get nodes'), 0, 'nothing is confirmed');
    // Eight nodes at first, then all pods: as the beginning of a watch.
    assert.ok(world.count('list pods') <= 8, `${world.count('list pods')} lists`);
    assert.ok(world.total <= 2.05 * 3000, JSON.stringify([...world.requests]));
  });

  it('take one request each to evict', () => {
    const world = new World(1000, 25, { mode: 'evict' });
    world.evictAll();
    assert.equal(world.count('create pods'), 1000);
    assert.ok(world.total <= 1.05 * 1000, JSON.stringify([...world.requests]));
  });
});

describe('a stop in the middle', () => {
  it('gives the lease back before it writes the Events that wait, and loses none', () => {
    const world = new World(500, 250);
    world.taintAll();
    world.pass(3000);
    const gone = 500 - world.left;
    assert.ok(gone > 100 && gone < 400, `${gone}`);
    const written = world.count('create events');
    assert.ok(written < 20, `${written}`);
    world.driver.feed({ kind: 'stop' });
    const holder = (): unknown =>
      Reflect.get(
        Object(world.api.get('leases', 'kube-system', 'taintmgr-controller')?.spec),
        'holderIdentity',
      );
    let eventsAtRelease: number | null = null;
    for (let ms = 0; ms < 15_000 && !world.loop.closed; ms += 10) {
      world.pass(10);
      if (holder() !== 'us') eventsAtRelease ??= world.api.list('events').filter(isAboutPod).length;
    }
    assert.equal(world.loop.closed, true);
    assert.ok(eventsAtRelease !== null && eventsAtRelease < gone, `${eventsAtRelease}`);
    const marked = world.count('patch pods');
    assert.equal(world.api.list('events').filter(isAboutPod).length, marked);
    assert.deepEqual(world.dropped, []);
  });
});

/** The exchange over HTTP/2: a PING every five seconds says that a watch has nothing to say. */
function pinged(exchange: Exchange, clock: VirtualClock): Exchange {
  return (request, sink) => {
    if (!request.path.includes('watch=true')) return exchange(request, sink);
    let isOpen = true;
    const ping = (): void => {
      if (!isOpen) return;
      sink.alive?.(0);
      clock.after(5000, ping);
    };
    clock.after(5000, ping);
    const hangUp = exchange(request, sink);
    return () => {
      isOpen = false;
      hangUp();
    };
  };
}

function isAboutPod(event: object): boolean {
  return Reflect.get(Object(Reflect.get(event, 'involvedObject')), 'kind') === 'Pod';
}
