// The end and the phase that a NodeDrain shows while pods have time of their own, or budgets hold them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, makePod, type PodInput } from '@taintmgr/core';
import { type Budget, predictBlockers } from '@taintmgr/core/drain';
import { pauseOf } from '../policy/objects.ts';
import { drainOf, knownNode } from './drain-of.ts';
import { World } from './world.ts';

const tolerations = [{ key: 'work', operator: 'Exists', tolerationSeconds: 900 }];

describe('the expected end of a NodeDrain', () => {
  it('is the deadline of a single pod that tolerates the taint for a while', () => {
    const world = new World(
      drainOf({ nodes: ['n1'] }),
      [{ name: 'n1' }],
      [{ name: 'db', nodeName: 'n1', tolerations }],
    );
    world.pass(10_000);
    const { phase, expectedEnd, pods } = world.state();
    assert.deepEqual([phase, expectedEnd], ['Running', 901_000]);
    assert.match(pods[0]?.hold ?? '', /^tolerates work for 15m: until 1970-01-01T00:15:01Z$/);
    world.pass(900_000);
    assert.equal(world.state().phase, 'Drained');
  });

  it('is not before the last deadline, whatever the pace', () => {
    const world = new World(
      drainOf({ nodes: ['n1'] }),
      [{ name: 'n1' }],
      [
        { name: 'db', nodeName: 'n1', tolerations },
        { name: 'web', nodeName: 'n1' },
      ],
    );
    world.pass(60_000);
    assert.deepEqual([world.state().podsGone, world.state().expectedEnd], [1, 901_000]);
  });
});

it('a NodeDrain expects no end while a pause holds one of its pods', () => {
  const world = new World(
    drainOf({ nodes: ['n1'] }),
    [{ name: 'n1' }],
    [
      { name: 'db', nodeName: 'n1', tolerations },
      { name: 'web', nodeName: 'n1' },
      { name: 'held', nodeName: 'n1', namespace: 'quiet' },
    ],
  );
  const pause = pauseOf('night', { scope: { namespaces: ['quiet'] } });
  world.tell({ kind: 'pauseUpsert', pause });
  world.pass(60_000);
  const { phase, podsGone, expectedEnd } = world.state();
  assert.deepEqual([phase, podsGone, expectedEnd], ['Running', 1, null]);
  world.tell({ kind: 'pauseDelete', name: 'night' });
  world.pass(60_000);
  assert.deepEqual([world.state().podsGone, world.state().expectedEnd], [2, 901_000]);
});

describe('a NodeDrain whose every pod at work is held by a budget', () => {
  for (const spec of [
    { limits: { nodesAtOnce: 1, heldUpNodes: 0 } },
    { waves: [{ name: 'canary', nodeSelector: { matchLabels: { canary: 'yes' } } }] },
  ]) {
    it(`is Blocked though later nodes wait for their turn: ${Object.keys(spec)}`, () => {
      const labels = { canary: 'yes' };
      const world = new World(
        drainOf({ nodes: ['n1', 'n2'], ...spec }),
        [{ name: 'n1', labels }, { name: 'n2' }],
        ['n1', 'n2'].map((nodeName) => ({ name: `on-${nodeName}`, nodeName })),
      );
      world.refuses.add('on-n1');
      world.pass(120_000);
      const { phase, expectedEnd, nodes } = world.state();
      assert.deepEqual(
        nodes.map((node) => node.phase),
        ['Draining', 'Pending'],
      );
      assert.deepEqual([phase, expectedEnd], ['Blocked', null]);
      world.refuses.clear();
      world.pass(120_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }
});

const budget: Budget = {
  ...{ namespace: 'shop', name: 'web', selector: {}, allowed: 0, healthy: 1, desired: 1 },
  ...{ expected: 1, upToDate: true, alwaysEvictUnhealthy: false, refusal: null },
};
const cluster = { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', name: 'db' };

describe('the verdict on a pod that a budget refuses', () => {
  for (const [verdict, found, phase] of [
    ['never', budget, 'Blocked'],
    ['needsTime', { ...budget, desired: 2, expected: 3 }, 'Blocked'],
    ['othersAct', { ...budget, owners: [cluster] }, 'Blocked'],
    ['askOperator', { ...budget, writers: ['longhorn-manager'] }, 'Blocked'],
    ['resolves', { ...budget, upToDate: false }, 'Blocked'],
    ['unknown', null, 'Blocked'],
  ] as const) {
    it(`is that of explain: ${verdict}`, () => {
      const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
      world.refuses.add('on-n1');
      world.budget = found;
      for (const length of [0, 5_000, 120_000]) {
        world.pass(length);
        assert.equal(world.state().pods[0]?.blocker?.verdict, verdict);
      }
      const pod = makePod({ name: 'on-n1', namespace: 'shop', phase: 'Running', ready: 'True' });
      const site = { finalizers: [], nodeAnswers: true };
      if (found) {
        const [predicted] = predictBlockers(pod, { ...site, budgets: [found] });
        assert.equal(predicted?.verdict, verdict);
      }
      assert.equal(world.state().phase, phase);
      world.refuses.clear();
      world.pass(60_000);
      assert.equal(world.state().phase, 'Drained');
    });
  }

  it('follows a budget that was changed', () => {
    const world = new World(drainOf({ nodes: ['n1'] }), ['n1']);
    world.refuses.add('on-n1');
    world.budget = budget;
    world.pass(10_000);
    world.budget = { ...budget, expected: 3, desired: 2 };
    world.pass(30_000);
    assert.equal(world.state().pods[0]?.blocker?.verdict, 'needsTime');
  });

  it('leaves no expected end where somebody has to do something, though others go', () => {
    const names = ['a', 'b', 'c', 'd'];
    const ends = [{ ...budget, desired: 2, expected: 3 }, budget].map((found) => {
      const world = new World(
        drainOf({ nodes: ['n1'], limits: { podsAtOnce: 1 } }),
        [{ name: 'n1' }],
        names.map((name) => ({ name, nodeName: 'n1' })),
      );
      world.mishap = () => ({ outcome: { kind: 'done' }, after: 60_000, goes: true });
      world.refuses.add('a');
      world.budget = found;
      world.pass(130_000);
      const { phase, expectedEnd } = world.state();
      return [phase, expectedEnd !== null];
    });
    assert.deepEqual(ends, [
      ['Running', true],
      ['Running', false],
    ]);
  });
});

describe('a NodeDrain of which no node is begun', () => {
  it('is Blocked where the next is held and the others wait behind it', () => {
    const world = new World(drainOf({ nodes: ['n1', 'n2', 'n3'], heeds: { pauseLabel: 'keep' } }), [
      'n1',
      { name: 'n2', labels: { keep: '' } },
      { name: 'n3', labels: { keep: '' } },
    ]);
    world.pass(60_000);
    const { phase, nodes } = world.state();
    assert.deepEqual(
      [phase, ...nodes.map((node) => node.phase)],
      ['Blocked', 'Drained', 'Held', 'Held'],
    );
  });

  it('is Blocked where waves hold the others back', () => {
    const waves = [{ name: 'canary', nodeSelector: { matchLabels: { canary: 'yes' } } }];
    const labels = { canary: 'yes' };
    const world = new World(
      drainOf({ nodes: ['n1', 'n2', 'n3'], waves, heeds: { pauseLabel: 'keep' } }),
      [{ name: 'n1', labels }, { name: 'n2', labels: { ...labels, keep: '' } }, { name: 'n3' }],
      [{ name: 'on-n1', nodeName: 'n1' }],
    );
    world.pass(60_000);
    const { phase, nodes } = world.state();
    assert.deepEqual(
      [phase, ...nodes.map((node) => node.phase)],
      ['Blocked', 'Drained', 'Held', 'Pending'],
    );
  });
});

describe('a NodeDrain that waits for an older one', () => {
  it('says whether that one is at work on the node', () => {
    const names = ['a', 'b', 'c'];
    const world = new World(
      names.map((name, index) => {
        const spec = { nodes: ['n1'], taint: { key: name === 'c' ? 'a' : name } };
        return drainOf(spec, { name, uid: name, created: index * 1000 });
      }),
      ['n1'],
    );
    world.refuses.add('on-n1');
    world.pass(10_000);
    assert.deepEqual(world.state('b').blockers, ['node n1: drain a is at work there']);
    const paused = { ...drainOf({ nodes: ['n1'], paused: true }, { name: 'z', uid: 'z' }) };
    const other = new World(
      [
        { ...paused, created: 0 },
        {
          ...drainOf({ nodes: ['n1'], taint: { key: 'late' } }, { name: 'y', uid: 'y' }),
          created: 1,
        },
      ],
      ['n1'],
    );
    other.pass(10_000);
    assert.deepEqual(other.state('y').blockers, [
      'node n1: drain z was declared earlier, and has its turn there first',
    ]);
  });
});

it('does not say for ever that nobody knows who else moves pods, while none is to go', () => {
  const world = new World(drainOf({ nodes: ['n1', 'n2'], heeds: { pauseLabel: 'keep' } }), [
    'n1',
    { name: 'n2', labels: { keep: '' } },
  ]);
  world.lists = { kind: 'failed', status: 409, message: 'conflict', retryAfter: null };
  world.pass(600_000);
  assert.deepEqual(world.state().blockers, ['node n2: it has the label keep']);
});

it('names the DaemonSets whose pods do not come back while the taint is there', () => {
  const owner = (name: string) => ({ apiVersion: 'apps/v1', kind: 'DaemonSet', name });
  const tolerations = [{ operator: 'Exists' }];
  const world = new World(
    drainOf({ nodes: ['n1', 'n2'] }),
    ['n1', 'n2'],
    [
      { name: 'agent-1', nodeName: 'n1', owner: owner('agent') },
      { name: 'proxy-1', nodeName: 'n1', owner: owner('proxy'), tolerations },
      { name: 'later-2', nodeName: 'n2', owner: owner('later') },
    ],
  );
  world.refuses.add('on-n1');
  world.pass(10_000);
  assert.deepEqual(world.state().daemonSetsKeptOff, ['shop/agent']);
  world.lose('agent-1');
  world.tell({ kind: 'podDelete', uid: 'agent-1' });
  world.pass(10_000);
  assert.deepEqual(world.state().daemonSetsKeptOff, ['shop/agent'], 'it is away, and stays away');
  world.refuses.clear();
  world.pass(60_000);
  assert.deepEqual(world.state().daemonSetsKeptOff, ['shop/agent', 'shop/later']);
});

// The pods and nodes that a NodeDrain counts, over changes of leader and over nodes that come and go.
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
