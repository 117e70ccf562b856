import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod, type ResponseSink } from '@taintmgr/sim-cluster';
import { PressureChecker } from '../src/pressure.ts';
import { brokenIn, virtualCluster } from './world/lifecycle-scenario.ts';

// What is promised of who watches what nodes run out of, kept and broken by hand.

const gibibyte = 2 ** 30;
const nothing: ResponseSink = { head: () => {}, data: () => {}, end: () => {}, reset: () => {} };

/** A node with one pod that uses so much memory, and a client that looks every ten seconds. */
class Watching {
  readonly #running = virtualCluster({
    topology: { region: 'r', zones: ['a'], nodesPerZone: 1, workloads: [], budgets: [] },
  });
  readonly #checker: PressureChecker;
  readonly #start: number;

  constructor(usedBytes: number) {
    const { api, cluster, untilIdle } = this.#running;
    const terms = {
      ...{ memoryAvailableMin: gibibyte, sampleAgeMsMax: 60_000 },
      ...{ memoryMs: 30_000, boundMs: 60_000 },
    };
    this.#checker = new PressureChecker(api, terms);
    untilIdle();
    const { spec } = pod('default', 'p');
    api.create('pods', { ...pod('default', 'p'), spec: { ...spec, nodeName: 'a-1' } });
    untilIdle();
    cluster.node('a-1').stats.usePod('default/p', { memory: usedBytes });
    this.#start = api.clock.now();
  }

  skewClock(): void {
    this.#running.cluster.node('a-1').setClockSkew(-3_600_000);
  }

  lookFor(seconds: number): void {
    for (let passed = 0; passed < seconds; passed += 10) {
      this.#running.pass(10_000);
      this.#send('GET', '/api/v1/nodes/a-1/proxy/stats/summary');
    }
  }

  remove(): void {
    this.#send('DELETE', '/api/v1/namespaces/default/pods/p');
  }

  get broken(): readonly string[] {
    this.#checker.atRest(this.#start);
    return brokenIn(this.#checker.violations);
  }

  #send(method: string, path: string): void {
    const line = this.#checker.line(this.#running.api.exchange);
    line({ method, path, headers: {}, body: null }, nothing);
  }
}

describe('a node that is short of memory', () => {
  it('is relieved of a pod', () => {
    const watching = new Watching(16 * gibibyte);
    watching.lookFor(20);
    watching.remove();
    watching.lookFor(100);
    assert.deepEqual(watching.broken, []);
  });

  it('is not left alone', () => {
    const watching = new Watching(16 * gibibyte);
    watching.lookFor(100);
    assert.deepEqual(watching.broken, ['pressure not relieved']);
  });
});

it('a node whose clock is off is not believed', () => {
  const watching = new Watching(16 * gibibyte);
  watching.skewClock();
  watching.lookFor(100);
  assert.deepEqual(watching.broken, []);
});

describe('a node that has memory', () => {
  it('is left alone', () => {
    const watching = new Watching(gibibyte);
    watching.lookFor(100);
    assert.deepEqual(watching.broken, []);
  });

  it('loses no pod', () => {
    const watching = new Watching(gibibyte);
    watching.lookFor(20);
    watching.remove();
    assert.deepEqual(watching.broken, ['evicts without pressure']);
  });
});
