import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import {
  deployment,
  type KubeObject,
  seededRandom,
  statefulSet,
  toleration,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import { Loop } from '../../src/controller/engine-loop.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';

// The main job, with everything that takes part in it but sockets: kubelets, scheduler, workload
// controllers, the API over its wire, the reflectors, the engine, and a clock that jumps.

const start = Date.parse('2026-01-01T00:00:00Z');
const settled = start + 30_000;
const maintenance = { key: 'maintenance', effect: 'NoExecute' };

class World {
  readonly #clock = new VirtualClock(start);
  readonly cluster = new ServedCluster({
    clock: this.#clock,
    seed: 3,
    topology: {
      region: 'r',
      zones: ['a', 'b'],
      nodesPerZone: 1,
      workloads: [
        statefulSet('shop', 'five', { tolerations: [toleration('maintenance:NoExecute', 5)] }),
        statefulSet('shop', 'forever', { tolerations: [toleration('maintenance:NoExecute')] }),
        deployment('shop', 'web', { replicas: 2 }),
      ],
      budgets: [],
    },
  });
  readonly #driver: VirtualDriver;

  constructor() {
    const loop = new Loop({ machine: createEngine(), random: seededRandom(4) });
    const { exchange } = this.cluster;
    this.#driver = new VirtualDriver({ loop, exchange, clock: this.#clock, onNotice: () => {} });
    this.cluster.start();
    this.#driver.feed({ kind: 'start' });
    this.#driver.runUntil(settled);
    assert.ok(this.cluster.isIdle(), 'the cluster is up before the story begins');
  }

  /** Runs to so many seconds after the cluster was up. */
  runTo(seconds: number): void {
    this.#driver.runUntil(settled + seconds * 1000);
  }

  /** The node of the StatefulSet's pod; the taint goes there. */
  nodeOf(app: string): string {
    return this.pod(`${app}-0`).spec.nodeName;
  }

  taint(nodeName: string, taints: readonly object[]): void {
    const { api } = this.cluster;
    const node = api.get('nodes', '', nodeName) ?? assert.fail(`no node ${nodeName}`);
    api.update('nodes', { ...node, spec: { ...node.spec, taints } });
  }

  pod(name: string): KubeObject {
    return this.cluster.api.get('pods', 'shop', name) ?? assert.fail(`no pod ${name}`);
  }

  /** When pods began to terminate, in seconds after the cluster was up, by uid. */
  watchDeletions(): Map<string, number> {
    const deleted = new Map<string, number>();
    this.cluster.api.subscribe(({ resource, object }) => {
      const { uid = '', deletionTimestamp } = object.metadata;
      if (resource !== 'pods' || !deletionTimestamp || deleted.has(uid)) return;
      deleted.set(uid, (this.#clock.now() - settled) / 1000);
    });
    return deleted;
  }

  messages(): readonly string[] {
    return this.cluster.api.list('events', 'shop').map(({ message }) => message);
  }
}

function uidOf(pod: KubeObject): string {
  return pod.metadata.uid ?? assert.fail('a stored pod has a uid');
}

describe('the main job on a virtual clock', () => {
  it('a pod that tolerates the taint for 5 s is deleted at 5 s and comes back elsewhere', () => {
    const world = new World();
    const deleted = world.watchDeletions();
    const five = world.pod('five-0');
    const { nodeName } = five.spec;
    world.taint(nodeName, [maintenance, { ...maintenance, effect: 'NoSchedule' }]);
    world.runTo(4.999);
    assert.equal(deleted.has(uidOf(five)), false);
    world.runTo(30);
    assert.equal(deleted.get(uidOf(five)), 5);
    const successor = world.pod('five-0');
    assert.notEqual(uidOf(successor), uidOf(five));
    assert.notEqual(successor.spec.nodeName, nodeName);
    assert.equal(successor.status.phase, 'Running');
    const because = 'tolerates maintenance:NoExecute for 5s, and that time has passed';
    assert.ok(world.messages().includes(`Marking for deletion Pod shop/five-0: ${because}`));
  });

  it('a pod that tolerates it for ever stays, one that does not goes at once', () => {
    const world = new World();
    const deleted = world.watchDeletions();
    const forever = world.pod('forever-0');
    const web = world.cluster.api.list('pods', 'shop').find(({ metadata, spec }) => {
      return metadata.labels?.app === 'web' && spec.nodeName === forever.spec.nodeName;
    });
    world.taint(forever.spec.nodeName, [maintenance]);
    world.runTo(3600);
    assert.equal(deleted.has(uidOf(forever)), false);
    assert.equal(deleted.get(uidOf(web ?? assert.fail('web runs on every node'))), 0);
  });

  it('a pod whose taint is removed at 3 s stays and gets a cancel event', () => {
    const world = new World();
    const deleted = world.watchDeletions();
    const five = world.pod('five-0');
    world.taint(five.spec.nodeName, [maintenance]);
    world.runTo(3);
    world.taint(five.spec.nodeName, []);
    world.runTo(3600);
    assert.equal(deleted.has(uidOf(five)), false);
    const cancel = 'Cancelling deletion of Pod shop/five-0: its node has no NoExecute taint';
    assert.equal(world.messages().filter((message) => message === cancel).length, 1);
  });

  it('the API server being down for 10 s in between loses none of it', () => {
    const world = new World();
    const deleted = world.watchDeletions();
    const [five, forever] = [world.pod('five-0'), world.pod('forever-0')];
    const other = world.cluster.api
      .list('nodes')
      .find(({ metadata }) => metadata.name !== five.spec.nodeName);
    const otherName = other?.metadata.name ?? assert.fail('there are two nodes');
    world.taint(five.spec.nodeName, [maintenance]);
    world.runTo(2);
    world.cluster.api.faults.down = true;
    // Both happen unseen: the deadline at 5 s, and a taint on the other node.
    world.taint(otherName, [maintenance]);
    world.runTo(12);
    assert.equal(deleted.has(uidOf(five)), false);
    world.cluster.api.faults.down = false;
    world.runTo(60);
    const at = deleted.get(uidOf(five)) ?? assert.fail('five-0 was never deleted');
    assert.ok(at >= 12 && at < 30, `deleted at ${at} s`);
    assert.equal(deleted.has(uidOf(forever)), false);
    const left = world.cluster.api.list('pods', 'shop').filter(({ metadata, spec }) => {
      return (
        metadata.labels?.app === 'web' && [five.spec.nodeName, otherName].includes(spec.nodeName)
      );
    });
    assert.deepEqual(
      left.map(({ metadata }) => metadata.name),
      [],
    );
  });
});
