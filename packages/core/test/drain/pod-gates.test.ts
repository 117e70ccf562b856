// Pods of a StatefulSet that go one after the other, by their volumes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeInput, Outcome, PodInput } from '@taintmgr/core';
import type { DrainQuestion } from '@taintmgr/core/drain';
import { bad, namespace, nodeOf, readyIs, replica } from '../replica-town.ts';
import { drainOf, knownNode } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';
import { World } from './world.ts';

const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'set' };
const attached: Outcome = {
  kind: 'changed',
  message: 'volume pvc-1 of pod db-0 to detach from node n1',
};
const hour = 3_600_000;
const done: Outcome = { kind: 'done' };
const waiting = 'pod shop/db-1: waits for volume pvc-1 of pod db-0 to detach from node n1';

function member(number: number, nodeName = 'n1'): PodInput {
  const deletionTimestamp = null;
  return { name: `db-${number}`, uid: `db-${number}`, nodeName, owner, deletionTimestamp };
}

/** A node with three pods of a set and one of nobody; what was asked, in order. */
function world(waitDetached: object | null): { world: World; asked: DrainQuestion[] } {
  const pods = { withoutController: true, ...(waitDetached && { waitDetached }) };
  const web = { name: 'web', nodeName: 'n1' };
  const made = new World(
    drainOf({ nodes: ['n1'], pods }),
    [{ name: 'n1' }],
    [member(0), member(1), member(2), web],
  );
  const asked: DrainQuestion[] = [];
  made.answers = (question) => {
    asked.push(question);
    return done;
  };
  return { world: made, asked };
}

/** Lets volumes of the pod that went last be attached. */
function attach({ world: given, asked }: ReturnType<typeof world>, outcome = attached): void {
  given.answers = (question) => {
    asked.push(question);
    return question.kind === 'volumes' && question.staying.length < 3 ? outcome : done;
  };
}

const evicted = (given: World): readonly string[] =>
  given.log.filter((line) => line.startsWith('evict'));

describe('a NodeDrain that waits for volumes', () => {
  for (const ahead of [0, hour, -hour]) {
    it(`has its time from when another leader began to wait, by the status: the cluster's clock ${ahead} ms ahead`, () => {
      const given = world({ timeout: '5m', onTimeout: 'GoOn' });
      attach(given);
      given.world.pass(240_000);
      const [wait] = given.world.state().volumeWaits;
      assert.deepEqual(wait?.statefulSet, 'shop/db');
      assert.ok(wait.since < 5_000);
      const known = [knownNode('n1', 'Draining', { startedAt: ahead })];
      const status = { isGuarded: true, startedAt: ahead, observedGeneration: 1, known };
      const volumeWaits = [{ statefulSet: 'shop/db', since: ahead }];
      const pods = {
        withoutController: true,
        waitDetached: { timeout: '5m', onTimeout: 'GoOn' },
      };
      given.world.declare(drainOf({ nodes: ['n1'], pods }, { ...status, volumeWaits }));
      given.world.start();
      given.world.tell({ kind: 'clock', ahead });
      given.world.tell({ kind: 'synced' });
      given.world.pass(50_000);
      assert.deepEqual(evicted(given.world), ['evict web', 'evict db-0']);
      given.world.pass(15_000);
      assert.ok(evicted(given.world).includes('evict db-1'));
    });
  }

  it('asks for nothing, and lets all go, where that is not said', () => {
    const { world: given, asked } = world(null);
    given.pass(1_000);
    assert.equal(evicted(given).length, 4);
    assert.deepEqual(asked, []);
  });

  it('lets the next pod go when nothing of the one before is attached, and others at once', () => {
    const given = world({ timeout: '5m' });
    attach(given);
    given.world.pass(10_000);
    assert.deepEqual(evicted(given.world), ['evict web', 'evict db-0']);
    assert.deepEqual(given.world.state().blockers.slice(0, 1), [waiting]);
    assert.equal(given.world.state().phase, 'Blocked');
    given.world.answers = () => done;
    given.world.pass(20_000);
    assert.deepEqual(evicted(given.world).slice(2), ['evict db-1', 'evict db-2']);
    assert.equal(given.world.state().phase, 'Drained');
  });

  it('asks about the claims of pods that are gone, on the nodes that it has begun', () => {
    const given = world({ timeout: '5m' });
    attach(given);
    given.world.pass(1_000);
    const about = { kind: 'volumes', namespace: 'shop', statefulSet: 'db', nodes: ['n1'] };
    assert.deepEqual(given.asked, [
      { ...about, staying: ['db-0', 'db-1', 'db-2'], left: null },
      { ...about, staying: ['db-1', 'db-2'], left: { pod: 'db-0', node: 'n1' } },
    ]);
  });

  it('waits until a pod that terminates is gone before it asks', () => {
    const given = world({ timeout: '5m' });
    given.world.onEvicted = (pod) => {
      if (pod.name === 'db-0') given.world.show({ ...member(0), deletionTimestamp: 600_000 });
    };
    given.world.pass(60_000);
    assert.deepEqual(evicted(given.world), ['evict web', 'evict db-0']);
    const [first] = given.world.state().blockers;
    assert.equal(first, 'pod shop/db-1: waits for pod db-0 of its StatefulSet to be gone');
    given.world.remove('db-0');
    given.world.pass(20_000);
    assert.equal(evicted(given.world).length, 4);
  });

  for (const ahead of [0, hour]) {
    it(`waits for a pod that terminates as long as is said: the cluster's clock ${ahead} ms ahead`, () => {
      const pods = { withoutController: true, waitDetached: { timeout: '5m' } };
      const timeouts = { terminatingPods: '1m' };
      const drain = drainOf({ nodes: ['n1'], pods, timeouts });
      const given = new World(drain, [{ name: 'n1' }], [member(0), member(1)]);
      given.onEvicted = (pod) => {
        if (pod.name !== 'db-0') return;
        given.show({ ...member(0), deletionTimestamp: given.now + ahead });
      };
      given.tell({ kind: 'clock', ahead });
      given.pass(60_000);
      assert.deepEqual(evicted(given), ['evict db-0']);
      given.pass(2_000);
      assert.deepEqual(evicted(given), ['evict db-0', 'evict db-1']);
    });
  }

  it('another leader waits for what the first one has begun', () => {
    const given = world({ timeout: '5m' });
    attach(given);
    given.world.pass(10_000);
    given.world.start();
    given.world.pass(60_000);
    assert.deepEqual(evicted(given.world), ['evict web', 'evict db-0']);
  });

  it('holds for ever where that is asked for, and says that the time is over', () => {
    const given = world({ timeout: '1m' });
    attach(given);
    given.world.pass(600_000);
    assert.deepEqual(evicted(given.world), ['evict web', 'evict db-0']);
    const [first = ''] = given.world.state().blockers;
    assert.match(first, /^pod shop\/db-1: waits for volume .* node n1; its time was over at 1970-/);
  });

  it('goes on after its time where that is asked for, and an Event says so', () => {
    const given = world({ timeout: '1m', onTimeout: 'GoOn' });
    const events: string[] = [];
    given.world.onEvent = ({ pod, reason, message }) => {
      if (reason === 'VolumesNotDetached') events.push(`${pod.name}: ${message}`);
    };
    attach(given);
    given.world.pass(30_000);
    assert.match(given.world.state().blockers[0] ?? '', /; it is evicted anyway at 1970-/);
    given.world.pass(40_000);
    assert.deepEqual(evicted(given.world).slice(2), ['evict db-1']);
    assert.deepEqual(events, [
      'db-1: waits for volume pvc-1 of pod db-0 to detach from node n1: its time is over, and the pod is evicted anyway',
    ]);
    given.world.pass(70_000);
    assert.equal(given.world.state().phase, 'Drained');
  });

  it('goes on to the millisecond, and says so once, however often a budget refuses then', () => {
    const given = world({ timeout: '61s', onTimeout: 'GoOn' });
    const events: string[] = [];
    given.world.onEvent = ({ pod, reason }) => {
      if (reason === 'VolumesNotDetached') events.push(pod.name);
    };
    attach(given);
    given.world.pass(60_999);
    assert.deepEqual(events, []);
    given.world.refuses.add('db-1').add('db-2');
    given.world.pass(1);
    assert.deepEqual(events, ['db-1']);
    given.world.pass(600_000);
    assert.deepEqual(events, ['db-1']);
  });

  it('takes what nobody knows for attached', () => {
    const given = world({ timeout: '1m' });
    const message = 'persistentvolumeclaims is forbidden';
    attach(given, { kind: 'failed', status: 403, message, retryAfter: null });
    given.world.pass(30_000);
    assert.deepEqual(evicted(given.world), ['evict web', 'evict db-0']);
    assert.equal(
      given.world.state().blockers[0],
      `pod shop/db-1: waits to hear whether volumes of its StatefulSet are detached: ${message}`,
    );
  });

  it('waits for a pod of which nobody knows whether it goes', () => {
    for (const [status, goes] of [
      [null, false],
      [403, true],
    ] as const) {
      const pods = { withoutController: true, waitDetached: { timeout: '1m' } };
      const cluster = new SharedCluster([drainOf({ nodes: ['n1'], pods })], ['n1']);
      for (const name of ['db-0', 'db-1']) cluster.addPod(name, 'n1', { owner });
      const outcome = { kind: 'failed', status, message: 'no', retryAfter: null } as const;
      cluster.answers.set('evict db-0', outcome);
      cluster.pass(30_000);
      assert.equal(cluster.done().includes('evict db-1'), goes, `${status}`);
    }
  });

  it('lets another of the set go while a budget refuses the first', () => {
    const given = world({ timeout: '1m' });
    given.world.refuses.add('db-0');
    given.world.pass(30_000);
    assert.deepEqual(evicted(given.world), ['evict web', 'evict db-1', 'evict db-2']);
  });
});

// Pods that are the only one of their Deployment: another one is started before they go.
const web = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' };
const db = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
const nodes: readonly NodeInput[] = ['n1', 'n2', 'n3', 'spare'].map((name) => ({ name }));

function pods(owner: typeof web, count: number, other: Partial<PodInput> = {}): PodInput[] {
  return Array.from({ length: count }, (_, at) => {
    return { name: `${owner.name}-${at}`, nodeName: `n${(at % 3) + 1}`, owner, ...other };
  });
}

describe('pods.singleReplicas', () => {
  const single = { withoutController: true, singleReplicas: 'RolloutRestart' };
  const spec = { nodes: ['n1', 'n2'], pods: single, timeouts: { rollout: '5m' } };
  const one = { name: 'web-0', nodeName: 'n1', owner: web };

  function doings(world: World): readonly string[] {
    return world.log.filter((line) => /^(restart|evict)/.test(line));
  }

  it('promises no other pod while nobody knows whether the Deployment can start one', () => {
    const world = new World(drainOf(spec), nodes, [one]);
    world.restarts = { kind: 'failed', status: 503, message: 'busy', retryAfter: null };
    world.pass(10_000);
    const [left] = world.state().pods;
    assert.equal(
      left?.hold,
      'its Deployment is asked whether it can start another pod first, by 1970-01-01T00:05:00Z: busy',
    );
  });

  it('waits until the Deployment has put another pod in the place of its only one', () => {
    const world = new World(drainOf(spec), nodes, [one, ...pods(db, 2)]);
    world.pass(30_000);
    assert.deepEqual(doings(world), ['evict db-0', 'restart web']);
    const [left] = world.state().pods;
    assert.equal(
      left?.hold,
      'its Deployment is to start another pod first, by 1970-01-01T00:05:00Z',
    );
    world.show({ ...one, deletionTimestamp: world.now + 30_000 });
    world.pass(1_000);
    world.remove('shop/web-0');
    world.pass(60_000);
    assert.equal(world.state().phase, 'Drained');
    assert.deepEqual(doings(world), ['evict db-0', 'restart web', 'evict db-1']);
  });

  it('restarts no Deployment again that starts its pod on the same node', () => {
    const [ours, anew] = ['web-bcdfg', 'web-ghjkl'].map((name, at) => {
      const labels = { 'pod-template-hash': name.slice(4) };
      return { ...one, name: `web-${at}`, owner: { ...web, name }, labels };
    });
    assert.ok(ours && anew);
    const world = new World(drainOf(spec), nodes, [ours]);
    world.pass(2_000);
    world.show(anew);
    world.remove('shop/web-0');
    world.pass(1_000);
    assert.deepEqual(doings(world), ['restart web-bcdfg', 'evict web-1']);
  });

  it('evicts the pod when that takes too long', () => {
    const world = new World(drainOf(spec), nodes, [one]);
    world.pass(299_000);
    assert.deepEqual(doings(world), ['restart web']);
    world.pass(2_000);
    assert.deepEqual(doings(world), ['restart web', 'evict web-0']);
  });

  it('evicts the pod when its time is over, to the millisecond', () => {
    const timed = drainOf({ ...spec, timeouts: { rollout: '301s' } });
    const world = new World(timed, nodes, [one]);
    world.pass(300_999);
    assert.deepEqual(doings(world), ['restart web']);
    world.pass(1);
    assert.deepEqual(doings(world), ['restart web', 'evict web-0']);
  });

  for (const [what, outcome] of [
    ['its Deployment cannot do that', { kind: 'changed', message: 'Deployment web is paused' }],
    ['it has no Deployment', { kind: 'gone' }],
  ] as const) {
    it(`evicts it where ${what}`, () => {
      const world = new World(drainOf(spec), nodes, [one]);
      world.restarts = outcome;
      world.pass(1_000);
      assert.deepEqual(doings(world), ['restart web', 'evict web-0']);
    });
  }

  it('restarts nothing for a pod that goes by itself meanwhile', () => {
    const world = new World(drainOf(spec), nodes, [one]);
    world.restarts = { kind: 'failed', status: 500, message: 'busy', retryAfter: null };
    world.pass(5_000);
    world.show({ ...one, deletionTimestamp: 600_000 });
    const before = doings(world).length;
    world.pass(120_000);
    assert.equal(doings(world).length, before);
  });

  it('tries again for as long as there is time, and says what is wrong', () => {
    const world = new World(drainOf(spec), nodes, [one]);
    const message = 'deployments.apps "web" is forbidden';
    world.restarts = { kind: 'failed', status: 403, message, retryAfter: null };
    world.pass(100_000);
    assert.match(world.state().pods[0]?.hold ?? '', /by 1970-01-01T00:05:00Z: .* is forbidden$/);
    assert.ok(doings(world).length > 3);
    world.pass(210_000);
    assert.equal(doings(world).at(-1), 'evict web-0');
  });

  it('leaves those alone that have more pods, are not ready, or nobody cordoned their node', () => {
    for (const [others, more] of [
      [[{ name: 'web-1', nodeName: 'spare', owner: web }], {}],
      [[{ ...one, ready: 'False' }], {}],
      [[], { cordon: 'Never' }],
      [[], { pods: { withoutController: true } }],
    ] as const) {
      const world = new World(drainOf({ ...spec, ...more }), nodes, [one, ...others]);
      world.pass(1_000);
      assert.deepEqual(doings(world), ['evict web-0']);
    }
  });
});

// Replicas of the controller on nodes that are drained, where others are asked for them as well.
describe('a NodeDrain of nodes with replicas of the controller', () => {
  for (const nodesAtOnce of [0, 1]) {
    it(`requests the eviction of one replica at a time, ${nodesAtOnce || 'all'} nodes at once`, () => {
      const nodes = ['n1', 'n2', 'n3'].map((name) => ({ name, conditions: readyIs('True') }));
      const pods = [replica('a', 'n1'), replica('b', 'n2')];
      const drain = drainOf({
        nodes: ['n1', 'n2'],
        limits: { nodesAtOnce },
        pods: { evictBy: 'EvictionRequest' },
        tolerations: 'Ignore',
      });
      const world = new World(drain, nodes, pods, { ownPod: { namespace, name: 'a' } });
      const answer = (): void => {
        const responder = { name: 'mover', heartbeatAt: world.now, expectedAt: null, message: '' };
        world.requests = (world.requests ?? []).map((one) => ({ ...one, responder }));
      };
      const asked = (): readonly string[] =>
        world.log.filter((line) => /^(request|withdraw|evict)/.test(line));
      for (let minutes = 0; minutes < 10; minutes += 1) {
        world.pass(30_000);
        answer();
        world.pass(30_000);
      }
      assert.deepEqual(asked(), ['request a']);
      // The other one is not ready any more: ours is the last, and nobody is to move it.
      world.show({ ...replica('b', 'n2'), ready: 'False' });
      world.pass(5_000);
      assert.deepEqual(asked().slice(1).toSorted(), ['request b', 'withdraw of-a']);
      world.remove(`${namespace}/b`);
      world.show(replica('c', 'n3'));
      world.pass(30_000);
      assert.deepEqual(asked().slice(3).toSorted(), ['request a', 'withdraw of-b']);
      world.remove(`${namespace}/a`);
      world.pass(30_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }

  it('keeps the other while one of two requests for ours is open, though one was refused', () => {
    const nodes = ['n1', 'n2'].map((name) => ({ name, conditions: readyIs('True') }));
    const pods = [replica('a', 'n1'), replica('b', 'n2')].map((pod) => ({
      ...pod,
      tolerations: [],
    }));
    const refused: Outcome = { kind: 'blocked', message: 'a budget', retryAfter: null };
    const answers = [
      { outcome: refused, after: 100 },
      { outcome: { kind: 'done' }, after: 3_000, goes: true },
    ] as const;
    let asked = 0;
    const config = { mode: 'evict', ownPod: { namespace, name: 'a' } } as const;
    const world = new World(drainOf({ nodes: ['n1'] }), nodes, pods, config);
    const taint = (name: string): void => {
      const node = world.nodes.get(name) ?? assert.fail();
      world.showNode({ ...node, taints: nodeOf(name, [bad]).taints });
    };
    world.mishap = ({ name }) => {
      asked += Number(name === 'a');
      return name === 'a' ? (answers[asked - 1] ?? { outcome: refused, after: 10 }) : null;
    };
    taint('n1');
    world.pass(1_000);
    assert.ok(asked > 1);
    taint('n2');
    world.pass(1_000);
    assert.ok(!world.log.includes('evict b'), world.log.join());
    world.pass(5_000);
    assert.ok(world.log.includes('evict a'));
  });

  it('goes to rest while a replica terminates that two have asked to go', () => {
    const nodes = ['n1', 'n2'].map((name) => ({ name, conditions: readyIs('True') }));
    const x = { ...replica('x', 'n1'), tolerations: [] };
    const drain = drainOf({ nodes: ['n1'], pods: { evictBy: 'EvictionRequest' } });
    const config = { mode: 'evict', ownPod: { namespace, name: 'a' } } as const;
    const world = new World(drain, nodes, [replica('a', 'n2'), x], config);
    world.pass(1_000);
    assert.ok(world.log.includes('request x'));
    world.mishap = () => ({ outcome: { kind: 'done' }, after: 0 });
    const node = world.nodes.get('n1') ?? assert.fail();
    world.showNode({ ...node, taints: [...node.taints, ...nodeOf('n1', [bad]).taints] });
    world.pass(1_000);
    world.show({ ...x, generation: 2, deletionTimestamp: world.now });
    for (let ticks = 0; ticks < 20; ticks += 1) world.tell({ kind: 'tick' });
    assert.ok((world.engine.nextWake() ?? Number.POSITIVE_INFINITY) > world.now);
  });
});
