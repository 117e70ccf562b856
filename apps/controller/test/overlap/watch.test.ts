import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import type { Event as CoreEvent } from '@taintmgr/core';
import { loadKubeconfig, nodeFromJson } from '@taintmgr/k8s-adapter';
import type { Exchange } from '@taintmgr/sim-cluster';
import { Leadership } from '../../src/leadership/leadership.ts';
import { createLogger } from '../../src/log/logger.ts';
import { OverlapWatch, type OverlapWatchOptions } from '../../src/overlap/watch.ts';
import { startTestApi } from '../harness/test-api.ts';
import { marked } from './marked-pod.ts';

// The watch for others against an API server that answers, refuses or is silent.

const minute = 60_000;
const log = createLogger({ format: 'json', verbose: false, write: () => {} });

/** Who tells of what happens. */
class World extends EventTarget {
  /** Our monotonic clock. */
  now = 0;
  /** What the API server answers to every request; 200: what it has; null: nothing, ever. */
  status: 200 | 403 | 500 | null = 200;
  /** Told of each request. */
  heard: (request: Parameters<Exchange>[0]) => void = () => {};
  readonly leadership = new Leadership(true, () => this.dispatchEvent(new Event('turned')));
  readonly stop = new AbortController();

  around =
    (exchange: Exchange): Exchange =>
    (request, sink) => {
      this.dispatchEvent(new Event('asked'));
      this.heard(request);
      if (this.status === 200) return exchange(request, sink);
      if (this.status === null) return () => {};
      sink.head(this.status, { 'content-type': 'application/json' });
      sink.data('{"kind":"Status","message":"no"}');
      sink.end();
      return () => {};
    };

  async options(t: TestContext): Promise<OverlapWatchOptions> {
    const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    const api = await startTestApi([everything], {}, this.around);
    t.after(() => api.stop());
    const cluster = await loadKubeconfig({ kubeconfig: api.kubeconfig });
    return {
      cluster: { ...cluster, requestTimeout: 0 },
      controllers: ['taint-eviction-controller'],
      asker: {
        lease: null,
        manager: 'taintmgr',
        controllers: ['taint-eviction-controller'],
        declared: [],
      },
      allow: false,
      takeover: null,
      leadership: this.leadership,
      log,
      signal: this.stop.signal,
      now: () => this.now,
      onOthers: () => {},
      onForeign: () => {},
    };
  }
}

const tainted = (name: string): CoreEvent => ({
  kind: 'nodeUpsert',
  node: nodeFromJson({
    metadata: { name },
    spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] },
  }),
});
const markedOn = (nodeName: string, name = `web-${nodeName}`): CoreEvent => ({
  kind: 'podUpsert',
  pod: marked(name, 'kube-controller-manager', nodeName),
});
/** What somebody evicts who cannot be seen. */
const evictions = [tainted('n1'), tainted('n2'), markedOn('n1'), markedOn('n2')];

/** Starts a watch, and a machine that it looks at. */
async function started(t: TestContext, options: OverlapWatchOptions) {
  const watch = await OverlapWatch.start(options);
  t.after(() => watch.close());
  const machine = watch.around({ nextWake: () => null, handle: () => [] });
  machine.handle(0, { kind: 'synced' });
  const hear = (...events: readonly CoreEvent[]): void => {
    for (const event of events) machine.handle(0, event);
  };
  return { watch, hear };
}

describe('marks of evictions on pods of one node', () => {
  it('are told and published, and nobody stands by for them', async (t) => {
    const world = new World();
    const options = await world.options(t);
    const told: string[] = [];
    const log = createLogger({
      format: 'json',
      verbose: false,
      write: (line) => {
        told.push(line);
        if (line.includes('seems to evict')) world.dispatchEvent(new Event('told'));
      },
    });
    const { watch, hear } = await started(t, { ...options, log });
    const isTold = once(world, 'told');
    hear(
      tainted('n1'),
      ...Array.from({ length: 20 }, (_, index) => markedOn('n1', `web-${index}`)),
    );
    await isTold;
    await watch.look();
    assert.equal(world.leadership.held, true);
    const message =
      'kube-controller-manager seems to evict for NoExecute taints too, though ' +
      '--kube-controller-manager-runs says that it does not: pod shop/web-0 is marked for deletion in ' +
      'its name; the kubelet of its node can write that as well, so it counts once pods of another ' +
      'node are marked';
    assert.match(told.join(), new RegExp(message));
    const [condition, ...others] = watch.conditions;
    assert.deepEqual([condition?.type, condition?.reason], ['EvictedByOther', 'OneNode']);
    assert.deepEqual(others, []);
    const turned = once(world, 'turned');
    hear(tainted('n2'), markedOn('n2'));
    await turned;
    assert.equal(world.leadership.held, false);
    assert.match(
      world.leadership.overlap ?? '',
      /^kube-controller-manager evicts for NoExecute taints too, though --kube-controller-manager-runs says that it does not: it has marked pod shop\/web-n2 for deletion, and pods of 2 nodes within 5m; /,
    );
    assert.equal(watch.conditions[0]?.reason, 'SeveralNodes');
  });
});

describe('an Event about an eviction by somebody else', () => {
  for (const [isElected, count] of [
    [true, 1],
    [false, 0],
  ] as const) {
    it(`is recorded ${count} times by a replica that is elected: ${isElected}`, async (t) => {
      const world = new World();
      world.leadership.elect(isElected);
      let events = 0;
      let isTold = (): void => {};
      const log = createLogger({
        format: 'json',
        verbose: true,
        write: (line) => {
          if (line.includes('seems to evict')) isTold();
        },
      });
      const { watch, hear } = await started(t, {
        ...(await world.options(t)),
        log,
      });
      world.heard = ({ method, body }) => {
        if (method === 'POST' && String(body).includes('EvictedByOther')) events += 1;
      };
      const told = new Promise<void>((resolve) => {
        isTold = resolve;
      });
      hear(tainted('n1'), markedOn('n1'));
      await told;
      await watch.look();
      assert.equal(events, count);
    });
  }
});

describe('an eviction by somebody who cannot be seen', () => {
  for (const status of [200, 403, 500] as const) {
    it(`is forgotten after five minutes while looks are answered with ${status}`, async (t) => {
      const world = new World();
      const { watch, hear } = await started(t, await world.options(t));
      const turned = once(world, 'turned');
      hear(...evictions);
      await turned;
      assert.equal(watch.forTaints?.kind, 'acts');
      world.status = status;
      world.now = 5 * minute;
      await watch.look();
      assert.equal(world.leadership.held, false);
      world.now += 1;
      await watch.look();
      assert.equal(world.leadership.held, true);
      assert.deepEqual(watch.others, []);
      assert.equal(watch.forTaints?.kind, status === 403 ? 'unknown' : 'nobody');
      assert.deepEqual(watch.conditions, []);
    });
  }
});

describe('with --allow-overlap', { timeout: 20_000 }, () => {
  it('an overlap is told where only a missing right was told before', async (t) => {
    const world = new World();
    const options = await world.options(t);
    const told: string[] = [];
    const log = createLogger({
      format: 'json',
      verbose: false,
      write: (line) => {
        if (!line.includes('acting anyway')) return;
        told.push(line);
        world.dispatchEvent(new Event('told'));
      },
    });
    world.status = 403;
    const { asker } = options;
    const { hear } = await started(t, {
      ...{ ...options, log, allow: true },
      asker: { ...asker, declared: null },
    });
    const doubts = told.length;
    assert.match(told.join(), /unknown/);
    const isTold = once(world, 'told');
    hear(...evictions);
    await isTold;
    assert.equal(told.length, doubts + 1);
    assert.match(told.at(-1) ?? '', /kube-controller-manager/);
  });
});

describe('a look that is never answered', { timeout: 20_000 }, () => {
  it('ends with the process at its start', async (t) => {
    const world = new World();
    world.status = null;
    const options = await world.options(t);
    const [asked, started] = [once(world, 'asked'), OverlapWatch.start(options)];
    await asked;
    world.stop.abort();
    await assert.rejects(started);
    await assert.rejects(OverlapWatch.start(options));
  });

  it('ends when the watch is closed', async (t) => {
    const world = new World();
    const watch = await OverlapWatch.start(await world.options(t));
    world.status = null;
    const [asked, looked] = [once(world, 'asked'), watch.look()];
    await asked;
    watch.close();
    await looked;
    // Nothing is asked any more, or it would be waited for.
    await watch.look();
  });
});
