// NodeDrains from their making to their undoing, on a cluster that does at once what is asked for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Config, makeNode, makePod, parseTaint } from '@taintmgr/core';
import type { OtherEvictors } from '@taintmgr/core/drain';
import { policyOf } from '../policy/objects.ts';
import { drainOf, knownNode } from './drain-of.ts';
import { SharedCluster } from './shared-cluster.ts';
import { World } from './world.ts';

const whole = [
  ...['guard', 'taint n1', 'evict on-n1', 'end n1'],
  ...['taint n2', 'evict on-n2', 'end n2'],
];

describe('a NodeDrain', () => {
  it('drains its nodes in turn, and takes everything back when it is deleted', () => {
    const drain = drainOf({ nodes: ['n1', 'n2'] });
    const world = new World(drain, ['n1', 'n2', 'n3']);
    world.pass(10_000);
    assert.deepEqual(world.log, whole);
    assert.equal(world.state().phase, 'Drained');
    world.log.length = 0;
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    world.pass(10_000);
    assert.deepEqual(world.log, ['undo n1', 'undo n2', 'let go']);
    assert.equal(world.pods.size, 1);
  });

  it('is undone by another leader too, which has only the marks on nodes', () => {
    const drain = drainOf({ nodes: ['n1', 'n2'] });
    const world = new World(drain, ['n1', 'n2']);
    world.pass(10_000);
    world.log.length = 0;
    world.declare({ ...drain, isGuarded: true, isDeleted: true, generation: 2 });
    world.start();
    world.pass(10_000);
    assert.deepEqual(world.log, ['undo n1', 'undo n2', 'let go']);
  });

  it('goes on after a restart from its status: what is drained is not begun again', () => {
    const known = [knownNode('n1', 'Drained', { startedAt: 0, endedAt: 0 })];
    const status = { isGuarded: true, observedGeneration: 1, startedAt: 0, known };
    const world = new World(drainOf({ nodes: ['n1', 'n2'] }, status), ['n1', 'n2']);
    world.pass(10_000);
    assert.deepEqual(world.log, ['taint n2', 'evict on-n2', 'end n2']);
  });

  it('leaves a node alone whose pods must not go, and says which', () => {
    const drain = drainOf({ nodes: ['n1'], pods: {} });
    const world = new World(drain, ['n1']);
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard']);
    const { phase, blockers } = world.state();
    assert.equal(phase, 'Blocked');
    assert.match(blockers[0] ?? '', /^node n1: pod shop\/on-n1 is not managed by a controller/);
  });

  it('says that nobody lets it keep its object until it is undone', () => {
    const cluster = new SharedCluster([drainOf({ nodes: ['n1', 'n2'] })], ['n1', 'n2']);
    const message = 'nodedrains "kernel" is forbidden';
    cluster.answers.set('guard', { kind: 'failed', status: 403, message, retryAfter: null });
    cluster.pass(60_000);
    const { phase, blockers, nodes } = cluster.state();
    const why = `its finalizer must be set first: ${message}`;
    assert.deepEqual([phase, blockers], ['Blocked', [why]]);
    const held = nodes.map((node) => [node.phase, node.reason, node.message]);
    assert.deepEqual(held, [
      ['Held', 'NotGuarded', why],
      ['Held', 'NotGuarded', why],
    ]);
    cluster.answers.clear();
    cluster.pass(60_000);
    assert.deepEqual([cluster.state().phase, cluster.state().blockers], ['Drained', []]);
  });

  it('waits for the drain that has put the same taint on a node', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    const taints = [{ key: 'work', value: '', effect: 'NoSchedule', timeAdded: null }];
    const drainMarks = [{ id: 'other', taint: 'work:NoSchedule', by: 'alice' }];
    world.tell({ kind: 'nodeUpsert', node: { ...makeNode({ name: 'n1', taints }), drainMarks } });
    world.pass(10_000);
    assert.deepEqual(world.log, ['guard']);
    assert.match(world.state().blockers[0] ?? '', /drain other has put work:NoSchedule on it/);
  });

  it('counts a taint that somebody puts on by hand, while the node waits, from then', () => {
    const tolerations = [{ key: 'work', operator: 'Exists', tolerationSeconds: 300 }];
    const world = new World(
      drainOf({ nodes: ['n1', 'n2'], limits: { nodesAtOnce: 1 } }),
      [{ name: 'n1' }, { name: 'n2' }],
      [
        { name: 'a', nodeName: 'n1', tolerations },
        { name: 'slow', nodeName: 'n2', tolerations },
      ],
    );
    world.pass(200_000);
    world.showNode(makeNode({ name: 'n2', taints: [parseTaint('work:NoSchedule')] }));
    world.pass(299_999);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'evict a', 'end n1', 'taint n2']);
    world.pass(1);
    assert.equal(world.log.includes('evict slow'), true);
  });

  it('does nothing on a replica that does not lead', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    world.tell({ kind: 'leadership', held: false });
    world.pass(10_000);
    assert.deepEqual(world.log, []);
  });
});

// A NodeDrain with a NoExecute taint, where others evict for it too, or may.
const taint = { key: 'work', effect: 'NoExecute' };
const text = 'kube-controller-manager (cp_1) evicts for NoExecute taints here, without asking PDBs';
const acts: OtherEvictors = { kind: 'acts', text, advice: 'stop it' };
const words = `${text}; use work:NoSchedule, for which no other controller evicts, or stop it`;

function worldOf(
  others: OtherEvictors | null,
  config: Partial<Config> = {},
  spec: object = {},
): World {
  const world = new World(drainOf({ nodes: ['n1'], taint, ...spec }), ['n1'], [], config);
  if (others) world.tell({ kind: 'otherEvictors', others });
  world.pass(10_000);
  return world;
}

describe('a NodeDrain with a NoExecute taint', () => {
  for (const kind of ['acts', 'unknown'] as const) {
    it(`does not begin where others evict for it (${kind}), says so, and begins when they do not`, () => {
      const world = worldOf({ ...acts, kind });
      const { phase, nodes, blockers } = world.state();
      assert.deepEqual([phase, blockers], ['Blocked', [`node n1: ${words}`]]);
      assert.equal(nodes[0]?.reason, 'OtherEvictors');
      assert.deepEqual(world.log, ['guard']);
      world.tell({ kind: 'otherEvictors', others: { kind: 'nobody', text: '', advice: '' } });
      world.pass(10_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }

  it('cordons nothing at its start either', () => {
    const world = worldOf(acts, {}, { cordon: 'AtStart' });
    assert.deepEqual(world.log, ['guard']);
  });

  it('with another effect is not concerned', () => {
    const world = worldOf(acts, {}, { taint: { key: 'work' } });
    assert.equal(world.state().phase, 'Drained');
  });

  it('does not begin beside our own evictions that ask no budgets', () => {
    const world = worldOf(null, { mode: 'delete' });
    assert.match(world.state().blockers.join(), /as its --mode is delete; use work:NoSchedule/);
  });

  for (const action of ['Delete', 'KubeControllerManager'] as const) {
    it(`does not begin where a policy deletes what it leaves (${action})`, () => {
      const world = new World(drainOf({ nodes: ['n1'], taint }), ['n1']);
      world.tell({ kind: 'policyUpsert', policy: policyOf('spot', { action }) });
      world.pass(10_000);
      assert.deepEqual(world.state().blockers, [
        'node n1: taintmgr-controller deletes the pods that the drain leaves, without asking PDBs, as ' +
          'EvictionPolicy spot says of pod shop/on-n1; use work:NoSchedule, for which no other controller evicts, ' +
          'or have the policy not match the taint',
      ]);
      world.tell({ kind: 'policyDelete', name: 'spot' });
      world.pass(10_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }

  it('begins where budgets are ignored, whatever a policy deletes', () => {
    const budgets = { policy: 'Ignore' };
    const world = new World(drainOf({ nodes: ['n1'], taint, budgets }), ['n1']);
    world.tell({ kind: 'policyUpsert', policy: policyOf('spot', { action: 'Delete' }) });
    world.pass(10_000);
    assert.ok(world.log.includes('taint n1'));
  });

  it('with takeover begins where the API server refuses the others all pods of the node', () => {
    const config = { takeover: true, lifecycle: null };
    const world = worldOf({ ...acts, isRefused: true }, config);
    assert.match(
      world.state().blockers.join(),
      /^node n1: namespace shop of pod on-n1 is not taken over, and there kube-controller-manager/,
    );
    const labels = { 'taintmgr.dev/takeover': 'enabled' };
    world.tell({ kind: 'namespaceUpsert', namespace: { name: 'shop', labels } });
    world.pass(10_000);
    assert.equal(world.state().phase, 'Drained');
  });

  it('with takeover does not begin while the policies are not in force', () => {
    const world = worldOf(acts, { takeover: true });
    const labels = { 'taintmgr.dev/takeover': 'enabled' };
    world.tell({ kind: 'namespaceUpsert', namespace: { name: 'shop', labels } });
    world.pass(10_000);
    assert.deepEqual(world.state().blockers, [`node n1: ${words}`]);
  });
});

/** An event that counts how often somebody looks at it, or at what it is about. */
class Watched {
  looks = 0;

  of<T extends object>(value: T): T {
    return new Proxy(value, {
      get: (target, name) => {
        this.looks += 1;
        const found: unknown = Reflect.get(target, name);
        return typeof found === 'object' && found !== null ? this.of(found) : found;
      },
    });
  }
}

function endedDrains(count: number): World {
  const names = Array.from({ length: count }, (_, index) => `n${index}`);
  const drains = names.map((name) => drainOf({ nodes: [name] }, { name, uid: `u-${name}` }));
  const world = new World(drains, [...names, 'other']);
  world.pass(60_000);
  for (const name of names) assert.equal(world.state(name).phase, 'Drained');
  return world;
}

describe('a thousand NodeDrains that have ended', () => {
  const world = endedDrains(1000);

  it('do not look at a pod that concerns none of them', () => {
    const pod = makePod({ name: 'web', namespace: 'shop', nodeName: 'other' });
    const watched = new Watched();
    world.tell(watched.of({ kind: 'podUpsert', pod }));
    assert.ok(watched.looks > 0 && watched.looks <= 120, `${watched.looks} looks`);
  });

  it('look neither at a node that concerns none of them, nor at a tick', () => {
    const node = world.nodes.get('other') ?? assert.fail();
    const watched = new Watched();
    world.tell(watched.of({ kind: 'nodeUpsert', node }));
    world.tell(watched.of({ kind: 'tick' }));
    assert.ok(watched.looks > 0 && watched.looks <= 120, `${watched.looks} looks`);
  });

  it('are undone when they are deleted', () => {
    const world = endedDrains(3);
    world.log.length = 0;
    world.declare({
      ...drainOf({ nodes: ['n1'] }, { name: 'n1', uid: 'u-n1' }),
      isGuarded: true,
      isDeleted: true,
    });
    world.pass(10_000);
    assert.deepEqual(world.log, ['undo n1', 'let go']);
  });

  it('begin anew where a spec says so', () => {
    const world = endedDrains(3);
    world.log.length = 0;
    const named = { name: 'n1', uid: 'u-n1', generation: 2 };
    world.declare({ ...drainOf({ nodes: ['n1', 'other'] }, named), isGuarded: true });
    world.pass(10_000);
    assert.deepEqual(world.log, ['taint other', 'end n1', 'evict on-other', 'end other']);
  });

  it('hear that a node of theirs is gone', () => {
    const world = endedDrains(3);
    world.tell({ kind: 'nodeDelete', name: 'n1' });
    world.pass(10_000);
    assert.equal(world.state('n1').phase, 'Drained');
  });
});

describe('ttlSecondsAfterFinished', () => {
  const spec = { nodes: ['n1'], ttlSecondsAfterFinished: 600 };

  it('deletes a drain so long after its end, which undoes it', () => {
    const world = new World(drainOf(spec), ['n1']);
    world.pass(590_000);
    assert.equal(world.state().phase, 'Drained');
    assert.ok(!world.log.includes('delete'));
    world.pass(20_000);
    assert.deepEqual(world.log.slice(-3), ['delete', 'undo n1', 'let go']);
  });

  it('does so where pods have come to its nodes since, and gone, and nothing else happens', () => {
    for (const goes of [true, false]) {
      const world = new World(drainOf(spec), ['n1']);
      world.pass(300_000);
      world.show({ name: 'late', nodeName: 'n1' });
      if (goes) world.remove('shop/late');
      world.pass(310_000);
      assert.ok(world.log.includes('delete'), `goes: ${goes}`);
    }
  });

  it('counts from the end over a failover, and deletes what has failed too', () => {
    const world = new World(drainOf({ ...spec, timeouts: { node: '1m' } }), ['n1']);
    world.refuses.add('on-n1');
    world.pass(300_000);
    assert.equal(world.state().phase, 'Failed');
    world.failOver();
    world.pass(355_000);
    assert.ok(!world.log.includes('delete'));
    world.pass(10_000);
    assert.ok(world.log.includes('delete'));
  });

  it('says why a drain could not be deleted, and tries it again', () => {
    const world = new World(drainOf(spec), ['n1']);
    world.deletions = { kind: 'failed', status: 403, message: 'no right', retryAfter: null };
    world.pass(620_000);
    assert.deepEqual(world.state().blockers, ['it must be deleted: no right']);
    world.deletions = { kind: 'done' };
    world.pass(20_000);
    assert.equal(world.log.at(-1), 'let go');
  });

  it('waits for an answer, and does nothing meanwhile', () => {
    const world = new World(drainOf(spec), ['n1']);
    world.deletions = null;
    world.pass(3_600_000);
    assert.deepEqual(
      world.log.filter((line) => line === 'delete'),
      ['delete'],
    );
    assert.equal(world.engine.nextWake(), null);
  });

  it('looks at nothing until then, however many have ended', () => {
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    const drains = names.map((name) => drainOf({ ...spec, nodes: [name] }, { name, uid: name }));
    const world = new World(drains, [...names, 'other']);
    world.pass(60_000);
    const pod = makePod({ name: 'web', namespace: 'shop', nodeName: 'other' });
    const watched = new Watched();
    world.tell(watched.of({ kind: 'podUpsert', pod }));
    assert.ok(watched.looks > 0 && watched.looks <= 120, `${watched.looks} looks`);
  });

  it('does not delete a drain that was edited, or that still works', () => {
    const world = new World(drainOf({ ...spec, ttlSecondsAfterFinished: 0 }), ['n1', 'n2']);
    world.refuses.add('on-n1');
    world.pass(60_000);
    assert.equal(world.state().phase, 'Blocked');
    assert.ok(!world.log.includes('delete'));
    world.declare({ ...drainOf({ nodes: ['n1'] }, { generation: 2 }), isGuarded: true });
    world.refuses.clear();
    world.pass(60_000);
    assert.equal(world.state().phase, 'Drained');
    assert.ok(!world.log.includes('delete'));
  });
});

describe('NodeDrains that are at work', () => {
  const names = Array.from({ length: 200 }, (_, index) => `n${index}`);
  const watched = new Watched();
  const drains = names.map((name) => {
    const drain = drainOf({ nodes: [name] }, { name, uid: `u-${name}` });
    return watched.of({ ...drain, isGuarded: true });
  });
  const world = new World(drains, [...names, 'other']);
  for (const name of names) world.refuses.add(`on-${name}`);
  world.pass(2_000);
  const web = makePod({ name: 'web', namespace: 'shop', nodeName: 'other' });

  for (const [what, event] of [
    ['a pod', { kind: 'podUpsert', pod: web }],
    ['its end', { kind: 'podDelete', uid: web.uid }],
    ['a node', { kind: 'nodeUpsert', node: makeNode({ name: 'other', labels: { a: 'b' } }) }],
    ['an answer', { kind: 'result', id: 'c1', outcome: { kind: 'done' } }],
  ] as const) {
    it(`cost nothing for ${what} that concerns none of them`, () => {
      assert.equal(world.state('n7').phase, 'Blocked');
      world.engine.nextWake();
      watched.looks = 0;
      world.tell(event);
      world.engine.nextWake();
      assert.equal(watched.looks, 0);
    });
  }

  it('hear of the pods of their own nodes', () => {
    world.refuses.clear();
    world.pass(60_000);
    for (const name of names) assert.equal(world.state(name).phase, 'Drained');
  });
});
