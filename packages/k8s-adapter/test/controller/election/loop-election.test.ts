import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { node, pod, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import { Loop } from '../../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../../src/driver/virtual.ts';

// Replicas of the whole controller that elect one of them, on one clock, against one API.

const start = Date.parse('2026-01-01T00:00:00Z');
const lease = { namespace: 'kube-system', name: 'taintmgr-controller' };

class Replicas {
  readonly clock = new VirtualClock(start);
  readonly api = new ApiServer({ clock: this.clock, random: seededRandom(1) });
  readonly told: string[] = [];
  /** Whether leases can be neither read nor written, as without etcd; watches go on. */
  isWithoutLeases = false;
  readonly #loops: Loop[] = [];
  readonly #drivers: VirtualDriver[] = [];

  begin(identity: string, leaseIsShared = (): boolean => false): VirtualDriver {
    const loop = new Loop({
      machine: createEngine(),
      random: seededRandom(this.#drivers.length + 2),
      election: { lease, identity },
      leaseIsShared,
    });
    const driver = new VirtualDriver({
      loop,
      clock: this.clock,
      exchange: (request, sink) => {
        if (!this.isWithoutLeases || !request.path.includes('/leases'))
          return this.api.exchange(request, sink);
        sink.head(500, { 'content-type': 'application/json' });
        sink.end();
        return () => {};
      },
      onNotice: (notice, now) => {
        if (notice.kind !== 'elected' && notice.kind !== 'commandSent') return;
        const what = notice.kind === 'elected' ? (notice.held ? 'leads' : 'resigns') : 'evicts';
        this.told.push(`${(now - start) / 1000} ${identity} ${what}`);
      },
    });
    this.#loops.push(loop);
    this.#drivers.push(driver);
    driver.feed({ kind: 'start' });
    return driver;
  }

  /** In steps, so that nobody runs ahead of the others. */
  runTo(second: number): void {
    for (let at = this.clock.now() + 100; at <= start + second * 1000; at += 100) {
      for (const driver of this.#drivers) driver.runUntil(at);
    }
  }

  addPod(name: string, nodeName: string): void {
    this.api.create('pods', pod('default', name, { spec: { nodeName } }));
  }

  /** Who leads, as each of them knows. */
  leaders(): readonly string[] {
    return this.#loops.map((loop) => loop.leader(this.clock.now()));
  }

  holder(): string {
    return this.api.get('leases', lease.namespace, lease.name)?.spec.holderIdentity ?? '';
  }
}

describe('a loop with an election', () => {
  it('acts when it is elected, and hands over when it stops', () => {
    const replicas = new Replicas();
    const bad = { taints: [{ key: 'bad', effect: 'NoExecute' }] };
    replicas.api.create('nodes', node('n1', { spec: bad }));
    replicas.addPod('first', 'n1');
    const one = replicas.begin('one');
    replicas.runTo(1);
    replicas.begin('two');
    replicas.runTo(30);
    assert.deepEqual(replicas.told, ['0 one leads', '0 one evicts']);
    assert.equal(replicas.holder(), 'one');
    one.feed({ kind: 'stop' });
    replicas.addPod('second', 'n1');
    replicas.runTo(33);
    const after = replicas.told.slice(2);
    assert.equal(after[0], '30 one resigns');
    assert.match(after[1] ?? '', /^3[0-2](\.\d+)? two leads$/);
    assert.match(after[2] ?? '', /two evicts$/);
    assert.equal(replicas.holder(), 'two');
  });

  it('knows of no leader when the lease has not been renewed for as long as it counts', () => {
    const replicas = new Replicas();
    replicas.begin('one');
    replicas.runTo(1);
    replicas.begin('two');
    replicas.runTo(10);
    assert.deepEqual(replicas.leaders(), ['one', 'one']);
    replicas.isWithoutLeases = true;
    replicas.runTo(21);
    assert.deepEqual(replicas.leaders(), ['one', 'one']);
    replicas.runTo(26);
    assert.deepEqual(replicas.leaders(), ['', '']);
    replicas.isWithoutLeases = false;
    replicas.runTo(30);
    const [leader] = replicas.leaders();
    assert.match(leader ?? '', /^(one|two)$/);
    assert.deepEqual(replicas.leaders(), [leader, leader]);
  });

  it('keeps the lease for as long as somebody else acts under it', () => {
    const replicas = new Replicas();
    let isShared = true;
    const one = replicas.begin('one', () => isShared);
    replicas.runTo(1);
    one.feed({ kind: 'stop' });
    replicas.runTo(30);
    assert.equal(replicas.holder(), 'one');
    isShared = false;
    one.feed({ kind: 'event', event: { kind: 'tick' } });
    replicas.runTo(31);
    assert.equal(replicas.holder(), '');
    assert.deepEqual(replicas.told, ['0 one leads', '30 one resigns']);
  });

  it('with leave denied it is elected and does not act, until it may', () => {
    const replicas = new Replicas();
    const bad = { taints: [{ key: 'bad', effect: 'NoExecute' }] };
    replicas.api.create('nodes', node('n1', { spec: bad }));
    const one = replicas.begin('one');
    one.feed({ kind: 'event', event: { kind: 'leadership', held: false } });
    replicas.runTo(5);
    replicas.addPod('first', 'n1');
    replicas.runTo(10);
    assert.deepEqual(replicas.told, ['0 one leads']);
    one.feed({ kind: 'event', event: { kind: 'leadership', held: true } });
    replicas.runTo(11);
    assert.equal(replicas.told.length, 2);
  });
});
