// What a NodeDrain says of its end and its phase while pods have time of their own, or budgets hold them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drainOf, World } from './world.ts';

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
