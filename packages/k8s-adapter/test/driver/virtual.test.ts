import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { type KubeObject, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop, type LoopOptions, type Notice } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

/** A simulated API server, the loop and a clock, and everything that was noticed. */
class World {
  readonly clock = new VirtualClock(start);
  readonly api: ApiServer;
  readonly driver: VirtualDriver;
  readonly loop: Loop;
  readonly told: string[] = [];

  constructor(options: Partial<LoopOptions> = {}, historyLength = 1000, values = false) {
    const { clock } = this;
    this.api = new ApiServer({ clock, random: seededRandom(7), historyLength });
    this.loop = new Loop({ machine: createEngine(), random: seededRandom(8), ...options });
    this.driver = new VirtualDriver({
      loop: this.loop,
      clock,
      exchange: (request, sink) => {
        const { value } = sink;
        return this.api.exchange(request, {
          ...sink,
          // Whoever writes to what he is given fails.
          ...(value && { value: (given: object) => value(frozen(given)) }),
        });
      },
      values,
      onNotice: (notice, now) =>
        this.told.push(`${(now - start) / 1000} ${describeNotice(notice)}`),
    });
    for (const name of ['n1', 'n2']) this.api.create('nodes', { metadata: { name } });
  }

  run(seconds: number): void {
    this.driver.runUntil(start + seconds * 1000);
  }

  pod(name: string, nodeName: string, tolerationSeconds?: number): void {
    const bad = { key: 'bad', operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
    this.api.create('pods', {
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName,
        containers: [{ name: 'c', image: 'i' }],
        terminationGracePeriodSeconds: 0,
        tolerations: tolerationSeconds === undefined ? [] : [bad],
      },
    });
  }

  taint(name: string): void {
    const node = this.api.get('nodes', '', name) ?? assert.fail(`no node ${name}`);
    const { resourceVersion: _, ...metadata } = node.metadata;
    const taints = [{ key: 'bad', effect: 'NoExecute' }];
    this.api.update('nodes', { ...node, metadata, spec: { ...node.spec, taints } });
  }

  pods(): string[] {
    return this.api.list('pods').map(({ metadata }: KubeObject) => metadata.name);
  }

  finished(): string[] {
    return this.told.filter((line) => line.includes('finished'));
  }
}

function frozen<T>(given: T): T {
  if (typeof given !== 'object' || given === null || Object.isFrozen(given)) return given;
  for (const member of Object.values(given)) frozen(member);
  return Object.freeze(given);
}

/** Taints, deadlines, retries and a lost watch: what a loop hears and does in ten minutes. */
function story(values: boolean): readonly string[] {
  const world = new World({}, 1000, values);
  world.pod('now', 'n1');
  world.pod('later', 'n1', 30);
  world.pod('stays', 'n2');
  world.driver.feed({ kind: 'start' });
  world.run(1);
  world.taint('n1');
  world.run(20);
  world.api.faults.breakStreams();
  world.api.faults.add({ fault: { kind: 'answer', code: 500 }, verbs: ['delete'], times: 2 });
  world.run(60);
  world.taint('n2');
  world.run(600);
  return [...world.told, ...world.pods()];
}

function describeNotice(notice: Notice): string {
  switch (notice.kind) {
    case 'commandFinished':
      return `finished ${notice.command.pod.name} ${notice.outcome.kind}`;
    case 'listed':
      return `listed ${notice.objects} ${notice.resource}`;
    case 'reconnecting':
      return `reconnecting ${notice.resource}, ${notice.next}: ${notice.failure.message}`;
    default:
      return notice.kind;
  }
}

describe('virtual driver against the simulated API server', () => {
  it('hears the same in values as in text', () => {
    const told = story(false);
    assert.ok(told.some((line) => line.endsWith('finished now done')));
    assert.deepEqual(story(true), told);
  });

  it('evicts at once, at the deadline, and not at all', () => {
    const world = new World();
    world.pod('now', 'n1');
    world.pod('later', 'n1', 30);
    world.pod('elsewhere', 'n2');
    world.driver.feed({ kind: 'start' });
    world.run(10);
    assert.deepEqual(world.finished(), []);
    world.taint('n1');
    world.run(100);
    assert.deepEqual(world.finished(), ['10 finished now done', '40 finished later done']);
    assert.deepEqual(world.pods(), ['elsewhere']);
    assert.deepEqual(
      world.api.list('events').map(({ involvedObject }) => involvedObject.name),
      ['later', 'now'],
    );
  });

  it('loses nothing in an outage', () => {
    const world = outage(1000);
    const relists = world.told.filter((line) => line.includes('listed'));
    assert.equal(relists.length, 2, 'the watches went on where they were');
  });

  it('loses nothing in an outage after which the server has forgotten where we were', () => {
    const world = outage(3);
    const relists = world.told.filter((line) => line.includes('listed'));
    assert.ok(relists.length > 2, 'the lists were read anew');
  });

  it('does the same with the same seed', () => {
    assert.deepEqual(outage(3).told, outage(3).told);
  });

  /** Down from 20 s to 80 s; everything that matters happens meanwhile. */
  function outage(historyLength: number): World {
    const world = new World({}, historyLength);
    world.pod('deadline', 'n1', 40);
    world.pod('deleted', 'n1', 1000);
    world.pod('again', 'n2');
    world.pod('bystander', 'n2', 1000);
    world.taint('n1');
    world.driver.feed({ kind: 'start' });
    world.run(20);
    world.api.faults.down = true;
    world.run(30);
    world.api.delete('pods', 'default', 'deleted');
    world.api.delete('pods', 'default', 'again');
    world.pod('again', 'n2');
    world.pod('new', 'n2');
    world.taint('n2');
    world.run(80);
    assert.deepEqual(
      world.finished().filter((line) => !line.includes('deadline failed')),
      [],
      'nothing can be done meanwhile',
    );
    world.api.faults.down = false;
    world.run(200);
    assert.deepEqual(world.pods(), ['bystander']);
    const done = world.finished().filter((line) => line.endsWith('done'));
    assert.deepEqual(done.map((line) => line.split(' ')[2]).sort(), ['again', 'deadline', 'new']);
    const states = world.loop.status().map(({ state }) => state);
    assert.deepEqual(states, ['Watching', 'Watching']);
    return world;
  }

  const faults: [string, Parameters<ApiServer['faults']['add']>[0]][] = [
    ['refused writes', { fault: { kind: 'refuse' }, verbs: ['patch', 'delete'], times: 5 }],
    ['lost answers', { fault: { kind: 'lose' }, verbs: ['patch', 'delete'], times: 5 }],
    ['an overloaded server', { fault: { kind: 'answer', code: 429 }, times: 10 }],
    ['a failing server', { fault: { kind: 'answer', code: 500 }, times: 10 }],
    ['conflicts', { fault: { kind: 'answer', code: 409 }, verbs: ['patch', 'delete'], times: 3 }],
    ['expired versions', { fault: { kind: 'answer', code: 410 }, verbs: ['watch'], times: 4 }],
    ['late requests', { fault: { kind: 'delay', ms: 20_000 }, times: 6 }],
    ['requests later than we wait', { fault: { kind: 'delay', ms: 40_000 }, times: 6 }],
    ['watches that end', { fault: { kind: 'cut', afterMs: 700, how: 'end' }, times: 9 }],
    ['watches that break', { fault: { kind: 'cut', afterMs: 700, how: 'reset' }, times: 9 }],
  ];
  for (const [name, rule] of faults) {
    it(`gets there through ${name}`, () => {
      const world = new World();
      world.pod('first', 'n1');
      world.pod('second', 'n2', 30);
      world.api.faults.add(rule);
      world.driver.feed({ kind: 'start' });
      world.taint('n1');
      world.run(3);
      world.taint('n2');
      world.pod('third', 'n2');
      world.run(400);
      assert.deepEqual(world.pods(), []);
    });
  }

  it('reads once and changes nothing when read-only', () => {
    const world = new World({ readOnly: true });
    world.pod('a', 'n1');
    world.taint('n1');
    world.driver.feed({ kind: 'start' });
    world.run(1000);
    assert.deepEqual(world.pods(), ['a']);
    assert.equal(world.loop.synced, true);
    assert.deepEqual(
      world.told.filter((line) => !line.endsWith('report')),
      ['0 listed 2 nodes', '0 listed 1 pods', '0 synced'],
    );
  });

  it('stops', () => {
    const world = new World();
    world.pod('a', 'n1');
    world.driver.feed({ kind: 'start' });
    world.run(5);
    world.driver.feed({ kind: 'stop' });
    world.taint('n1');
    world.run(1000);
    assert.deepEqual(world.pods(), ['a']);
    assert.equal(world.loop.closed, true);
  });
});
