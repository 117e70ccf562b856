// What a NodeDrain says of its end and its phase while pods have time of their own, or budgets hold them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makePod } from '@taintmgr/core';
import { type Budget, predictBlockers } from '@taintmgr/core/drain';
import { pauseOf } from '../../policy/objects.ts';
import { drainOf } from './drain-of.ts';
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
