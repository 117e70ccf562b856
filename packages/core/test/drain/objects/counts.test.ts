// How many pods and nodes a NodeDrain counts, over changes of leader and over nodes that come and go.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, type PodInput } from '@taintmgr/core';
import { drainOf, knownNode } from './drain-of.ts';
import { World } from './world.ts';

const names = ['n1', 'n2', 'n3'];
const forEver = [{ key: 'work', operator: 'Exists' }];

/** So many pods on each of the nodes. */
function podsOn(nodes: readonly string[], count: number, given: Partial<PodInput> = {}) {
  return nodes.flatMap((nodeName) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${nodeName}-${index}`,
      nodeName,
      ...given,
    })),
  );
}

describe('the pods that have left', () => {
  it('are counted though nobody led when they went', () => {
    const names = Array.from({ length: 9 }, (_, index) => `web-${index}`);
    const world = new World(
      drainOf({ nodes: ['n1'] }),
      [{ name: 'n1' }],
      names.map((name) => ({ name, nodeName: 'n1' })),
    );
    for (const name of names.slice(2)) world.refuses.add(name);
    world.pass(10_000);
    assert.deepEqual([world.state().podsGone, world.state().podsLeft], [2, 7]);
    for (const name of names.slice(2, 5)) world.failOver(() => world.lose(name));
    world.refuses.clear();
    world.pass(60_000);
    assert.deepEqual([world.state().podsGone, world.state().phase], [9, 'Drained']);
  });

  /** A drain of three nodes whose status is written each second. */
  function watched(spec: object, pods: readonly PodInput[]): World {
    const drain = drainOf({ nodes: names, ...spec });
    const world = new World(
      drain,
      [...names, 'free'].map((name) => ({ name })),
      pods,
    );
    world.lingersMs = 1_500;
    world.saysEachSecond();
    return world;
  }

  type Story = readonly [what: string, run: () => World];
  const five = podsOn(names, 5, { boundAt: 0 });
  const stories: readonly Story[] = [
    ['of nodes one after the other', () => watched({}, five)],
    ['of all nodes at once', () => watched({ limits: { nodesAtOnce: 0 } }, five)],
    [
      'of nodes to which the workloads of others move',
      () => {
        const world = watched({ limits: { podsAtOnce: 2 } }, five);
        world.onEvicted = ({ name, nodeName }) => {
          const to = names[names.indexOf(nodeName) + 1] ?? 'free';
          world.show({ name: `${name}'`, nodeName: to, boundAt: world.now });
        };
        return world;
      },
    ],
    [
      'where others stay, and their DaemonSets',
      () => {
        const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds' };
        const daemons = names.map((nodeName) => ({ name: `ds-${nodeName}`, nodeName, owner }));
        const op = { name: 'op', nodeName: 'n2', boundAt: 0, tolerations: forEver };
        return watched({}, [...five, ...daemons, op]);
      },
    ],
    [
      'where somebody deletes others meanwhile',
      () => {
        const world = watched({ limits: { podsAtOnce: 1 } }, five);
        for (const [at, uid] of [
          [700, 'n3-0'],
          [1_700, 'n2-4'],
          [2_900, 'n3-3'],
        ] as const) {
          world.after(at, () => {
            const pod = [...world.pods.values()].find(({ name }) => name === uid);
            if (pod) world.remove(pod.uid);
          });
        }
        return world;
      },
    ],
    [
      'of a node that fails, and pods of which go later',
      () => {
        const world = watched({}, five);
        const denied = { kind: 'failed', status: 403, message: 'no', retryAfter: null } as const;
        const stays = ['n1-1', 'n1-2'];
        world.mishap = ({ name }) => (stays.includes(name) ? { outcome: denied, after: 0 } : null);
        world.after(30_000, () => {
          const pod = [...world.pods.values()].find(({ name }) => name === 'n1-1');
          world.remove(pod?.uid ?? assert.fail());
        });
        return world;
      },
    ],
    [
      'that are more than a status names',
      () => watched({ limits: { nodesAtOnce: 0 } }, podsOn(names, 40)),
    ],
    [
      'of nodes whose pods the next leader reads late',
      () => {
        const world = watched({ limits: { podsAtOnce: 1 } }, five);
        world.readsPodsLate = true;
        return world;
      },
    ],
  ];

  for (const [what, run] of stories) {
    it(`${what}: whenever the leader is killed`, () => {
      const told = (world: World): unknown => {
        world.pass(60_000);
        const { phase, podsGone, podsLeft, podsStaying, staying } = world.state();
        return { phase, podsGone, podsLeft, podsStaying, staying };
      };
      const whole = run();
      const said = told(whole);
      const ended = whole.ended.filter((name) => !name.endsWith('@free')).length;
      assert.equal(whole.state().podsGone, ended);
      const step = Math.ceil(whole.heard / 300);
      for (let at = 1; at <= whole.heard; at += step) {
        const world = run();
        world.killedAt = world.heard + at;
        assert.deepEqual(told(world), said, `killed before event ${at}`);
      }
    });
  }
});

describe('a status of an earlier version, without uids', () => {
  for (const [what, here, gone] of [
    ['has the pods as gone that are there no more', 2, 3],
    ['has none as gone where as many are there', 4, 2],
    ['has none as gone where more are there', 6, 2],
  ] as const) {
    it(what, () => {
      const fields = { startedAt: 0, podsGone: 2, podsLeft: 3 };
      const known = [knownNode('n1', 'Draining', fields)];
      const status = { observedGeneration: 1, startedAt: 0, known };
      const taints = [{ key: 'work', value: '', effect: 'NoSchedule', timeAdded: 0 }] as const;
      const drainMarks = [{ id: 'kernel', taint: 'work:NoSchedule', by: 'taintmgr-controller' }];
      const world = new World(
        drainOf({ nodes: ['n1'] }, { isGuarded: true, ...status }),
        [{ name: 'n1', taints, drainMarks }],
        podsOn(['n1'], here, { boundAt: 0 }),
      );
      assert.equal(world.state().podsGone, gone);
      world.pass(60_000);
      assert.deepEqual([world.state().podsGone, world.state().phase], [gone + here, 'Drained']);
    });
  }
});

describe('nodes that come, are drained and go', () => {
  it('are forgotten, and their pods are counted', () => {
    const selector = { nodeSelector: { matchLabels: { pool: 'spot' } }, laterNodes: 'Drain' };
    const labels = { pool: 'spot' };
    const drain = drainOf({ ...selector, limits: { nodesAtOnce: 0 } });
    const world = new World(drain, [{ name: 'first', labels }]);
    world.pass(1_000);
    const rounds = 1_005;
    for (let round = 1; round <= rounds; round += 1) {
      const name = `spot-${round}`;
      world.showNode(makeNode({ name, uid: name, labels, createdAt: world.now }));
      world.show({ name: `on-${name}`, nodeName: name, boundAt: world.now });
      world.pass(1_000);
      world.nodes.delete(name);
      world.tell({ kind: 'nodeDelete', name });
      if (round % 400 === 0) world.failOver();
    }
    const { phase, blockers, nodes, podsGone } = world.state();
    assert.deepEqual([phase, blockers, podsGone], ['Drained', [], rounds]);
    assert.ok(nodes.length <= 101, `${nodes.length} nodes`);
  });
});
