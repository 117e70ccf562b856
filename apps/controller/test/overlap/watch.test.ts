import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { loadKubeconfig } from '@taintmgr/k8s-adapter';
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
  readonly leadership = new Leadership(true, () => this.dispatchEvent(new Event('turned')));
  readonly stop = new AbortController();

  around =
    (exchange: Exchange): Exchange =>
    (request, sink) => {
      this.dispatchEvent(new Event('asked'));
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
      own: null,
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

describe('an eviction by somebody who cannot be seen', () => {
  for (const status of [200, 403, 500] as const) {
    it(`is forgotten after five minutes while looks are answered with ${status}`, async (t) => {
      const world = new World();
      const watch = await OverlapWatch.start(await world.options(t));
      t.after(() => watch.close());
      const machine = watch.around({ nextWake: () => null, handle: () => [] });
      machine.handle(0, { kind: 'synced' });
      const turned = once(world, 'turned');
      machine.handle(0, { kind: 'podUpsert', pod: marked('web', 'kube-controller-manager') });
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
      assert.equal(watch.forTaints?.kind, 'unknown');
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
        if (!line.includes('acting all the same')) return;
        told.push(line);
        world.dispatchEvent(new Event('told'));
      },
    });
    world.status = 403;
    const watch = await OverlapWatch.start({ ...options, log, allow: true });
    t.after(() => watch.close());
    const machine = watch.around({ nextWake: () => null, handle: () => [] });
    machine.handle(0, { kind: 'synced' });
    const doubts = told.length;
    assert.match(told.join(), /unknown/);
    const isTold = once(world, 'told');
    machine.handle(0, { kind: 'podUpsert', pod: marked('web', 'kube-controller-manager') });
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
