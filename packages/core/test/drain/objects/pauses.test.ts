// A NodeDrain and EvictionPauses: what they hold is named, and leaves its place to others.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, makePod } from '@taintmgr/core';
import { pauseOf, policyOf } from '../../policy/objects.ts';
import { drainOf } from './drain-of.ts';
import { World } from './world.ts';

const refused = { kind: 'blocked', message: 'needs 1 healthy pod', retryAfter: null } as const;

const night = pauseOf('night', { since: 0, scope: { namespaces: ['shop'] } });
const words = 'deadlines are paused by night';

function worldOf(names: readonly string[]): World {
  const world = new World(drainOf({ nodes: names }), names);
  world.tell({ kind: 'pauseUpsert', pause: night });
  return world;
}

describe('a NodeDrain whose pods a pause holds', () => {
  it('says so, foretells no end, and goes on when the pause is gone', () => {
    const world = worldOf(['n1']);
    world.pass(10_000);
    const { phase, blockers, expectedEnd, pods } = world.state();
    assert.deepEqual(
      [phase, blockers, expectedEnd],
      ['Blocked', [`pod shop/on-n1: ${words}`], null],
    );
    assert.equal(pods[0]?.hold, words);
    world.tell({ kind: 'pauseDelete', name: 'night' });
    world.pass(10_000);
    assert.deepEqual([world.state().phase, world.state().blockers], ['Drained', []]);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'evict on-n1', 'end n1']);
  });

  it('counts them itself: the pause has those that NoExecute taints would evict', () => {
    const world = worldOf(['n1']);
    const bad = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: 0 } as const;
    world.showNode(makeNode({ name: 'n3', taints: [bad] }));
    world.show({ name: 'on-n3', nodeName: 'n3' });
    world.pass(10_000);
    const { pauses } = world.engine.policyCounts(world.now);
    assert.equal(pauses?.get('night')?.pods, 1);
    assert.equal(world.state().pods.length, 1);
  });

  it('says until when', () => {
    const world = worldOf(['n1']);
    world.tell({ kind: 'pauseUpsert', pause: { ...night, until: 30_000 } });
    world.pass(10_000);
    assert.match(world.state().blockers.join(), /paused by night until 1970-01-01T00:00:30Z$/);
    world.pass(30_000);
    assert.equal(world.state().phase, 'Drained');
  });

  it('names no pause any more where the pod then has time of its own', () => {
    const tolerations = [{ key: 'work', operator: 'Exists', tolerationSeconds: 600 }];
    const pod = { name: 'web', nodeName: 'n1', tolerations };
    const world = new World(drainOf({ nodes: ['n1'] }), [{ name: 'n1' }], [pod]);
    world.tell({ kind: 'pauseUpsert', pause: night });
    world.pass(10_000);
    assert.deepEqual(world.state().blockers, [`pod shop/web: ${words}`]);
    world.tell({ kind: 'pauseDelete', name: 'night' });
    world.pass(1_000);
    assert.deepEqual([world.state().phase, world.state().blockers], ['Running', []]);
  });

  it('is named where a budget has refused the pod before', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    world.refuses.add('on-n1');
    world.pass(3_000);
    assert.deepEqual(world.state().blockers, ['pod shop/on-n1: needs 1 healthy pod']);
    world.tell({ kind: 'pauseUpsert', pause: night });
    world.pass(3_000);
    assert.deepEqual(world.state().blockers, [`pod shop/on-n1: ${words}`]);
  });

  it('is named at once where the node had the taint before', () => {
    const taint = { key: 'work', value: '', effect: 'NoSchedule', timeAdded: null };
    const node = { name: 'n1', taints: [taint] };
    const pods = [{ name: 'on-n1', nodeName: 'n1' }];
    const world = new World(drainOf({ nodes: ['n1'] }), [node], pods);
    world.tell({ kind: 'pauseUpsert', pause: night });
    world.pass(1_000);
    assert.deepEqual(world.state().blockers, [`pod shop/on-n1: ${words}`]);
  });

  it('begins the next node after a minute', () => {
    const world = worldOf(['n1', 'n2']);
    world.pass(59_000);
    assert.deepEqual(world.log, ['guard', 'taint n1']);
    world.pass(3_000);
    assert.deepEqual(world.log, ['guard', 'taint n1', 'taint n2']);
  });
});

describe('a pod whose eviction is refused after something came that holds it', () => {
  const keep = policyOf('keep', { action: 'Keep' });
  const forever = [{ key: 'work', operator: 'Exists' }];
  const comes: Record<string, (world: World, uid: string) => void> = {
    'an EvictionPause': (world) => world.tell({ kind: 'pauseUpsert', pause: night }),
    'a policy that keeps pods': (world) => world.tell({ kind: 'policyUpsert', policy: keep }),
    'a toleration': (world, uid) => {
      const pod = world.pods.get(uid) ?? assert.fail();
      const tolerates = makePod({ ...pod, tolerations: forever });
      world.pods.set(uid, tolerates);
      world.tell({ kind: 'podUpsert', pod: tolerates });
    },
  };
  for (const [name, come] of Object.entries(comes)) {
    for (const outcome of [refused, { kind: 'done' } as const]) {
      it(`is not asked for again: ${name}, first answer ${outcome.kind}`, () => {
        const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
        const asked: string[] = [];
        world.mishap = ({ uid, name: pod }) => {
          asked.push(pod);
          if (asked.length > 1) return null;
          if (outcome.kind === 'blocked') come(world, uid);
          else world.after(5_000, () => come(world, uid));
          return { outcome, after: 50 };
        };
        world.pass(3_600_000);
        assert.deepEqual([asked, world.log.includes('evict on-n1')], [['on-n1'], false]);
      });
    }
  }
});
