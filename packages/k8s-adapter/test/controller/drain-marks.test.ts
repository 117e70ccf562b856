// The controller beside a drain that is at work, is killed, or ends, on a clock that jumps.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { createEngine, type Engine } from '@taintmgr/core';
import { node, pod, seededRandom, toleration, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';
import { drainMarksAnnotation } from '../../src/proto/drain-annotation.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const taint = { key: 'work', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' };
const mark = { id: 'd1', taint: 'work:NoExecute', tainted: true, by: 'ann', run: 'r1' };

/** What the mark says of a sign of life; null: nothing. */
type Sign = string | null;

/** An API server with one node and one pod, and a controller that can be replaced. */
class World {
  readonly #clock = new VirtualClock(start);
  readonly #cluster = new ServedCluster({
    clock: this.#clock,
    seed: 7,
    without: ['conditionTaints', 'workloads', 'scheduler', 'disruption', 'garbageCollection'],
  });
  #driver: VirtualDriver;
  engine: Engine;

  constructor() {
    const { api } = this.#cluster;
    api.create('nodes', node('n1', { spec: { taints: [taint] } }));
    this.sign('first');
    api.create('pods', pod('default', 'web', { spec: { nodeName: 'n1' } }));
    const tolerations = [{ ...toleration('work:NoExecute', 3600) }];
    api.create('pods', pod('default', 'later', { spec: { nodeName: 'n1', tolerations } }));
    this.#cluster.start();
    [this.engine, this.#driver] = this.#begin();
  }

  #begin(): [Engine, VirtualDriver] {
    const engine = createEngine();
    const loop = new Loop({ machine: engine, random: seededRandom(4) });
    const { exchange } = this.#cluster;
    const driver = new VirtualDriver({ loop, exchange, clock: this.#clock, onNotice: () => {} });
    driver.feed({ kind: 'start' });
    return [engine, driver];
  }

  /** Another process takes the place of the one before. */
  replace(): void {
    this.#driver.feed({ kind: 'stop' });
    [this.engine, this.#driver] = this.#begin();
  }

  /** The drain writes its mark as it stands. */
  sign(heartbeat: Sign): void {
    const { api } = this.#cluster;
    const known = api.get('nodes', '', 'n1');
    assert.ok(known);
    const value = JSON.stringify([{ ...mark, ...(heartbeat !== null && { heartbeat }) }]);
    const annotations = { ...known.metadata.annotations, [drainMarksAnnotation]: value };
    api.update('nodes', { ...known, metadata: { ...known.metadata, annotations } });
  }

  /** Runs to that second; the seconds at which the pod was seen to go, null: not yet. */
  runTo(second: number): void {
    this.#driver.runUntil(start + second * 1000);
  }

  get isGoing(): boolean {
    const web = this.#cluster.api.get('pods', 'default', 'web');
    return !web || web.metadata.deletionTimestamp !== undefined;
  }

  /** The reason that is given for the pod at a second. */
  get because(): string | undefined {
    const now = this.#clock.now();
    const answer = this.engine.explain(now, { kind: 'pod', namespace: 'default', name: 'web' });
    return answer?.kind === 'pod' ? answer.decision.because[0]?.code : undefined;
  }
}

describe('a controller beside a drain', () => {
  it('leaves it the pods while it is at work, and takes over 60 s after it was killed', () => {
    const world = new World();
    for (let second = 10; second <= 300; second += 10) {
      world.runTo(second);
      world.sign(`sign ${second}`);
    }
    assert.equal(world.because, 'LeftToDrain');
    world.runTo(359);
    assert.ok(!world.isGoing);
    world.runTo(362);
    assert.ok(world.isGoing);
  });

  it('gives it the whole time anew after a failover', () => {
    const world = new World();
    world.runTo(50);
    world.replace();
    world.runTo(109);
    assert.ok(!world.isGoing);
    assert.equal(world.because, 'LeftToDrain');
    world.runTo(113);
    assert.ok(world.isGoing);
  });

  it('goes on at once where the drain says that it is done', () => {
    const world = new World();
    world.runTo(20);
    assert.ok(!world.isGoing);
    world.sign(null);
    world.runTo(22);
    assert.ok(world.isGoing);
  });

  it('leaves the pods to a drain that comes back just in time', () => {
    const world = new World();
    world.runTo(58);
    world.sign('late');
    world.runTo(117);
    assert.ok(!world.isGoing);
  });
});
