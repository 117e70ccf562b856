// Tolerations with Lt and Gt: drains go by them where the engine does.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, makePod, parseTaint, type Toleration } from '@taintmgr/core';
import { planDrain, resolveDrainConfig } from '@taintmgr/core/drain';
import { drainOf } from './objects/drain-of.ts';
import { World } from './objects/world.ts';

function pod(name: string, operator: string, value: string, tolerationSeconds: number | null) {
  const one: Toleration = { key: 'level', operator, value, effect: 'NoExecute', tolerationSeconds };
  return { name, nodeName: 'n1', tolerations: [one] };
}

const pods = [
  pod('above-5', 'Gt', '5', null),
  pod('above-10', 'Gt', '10', null),
  pod('below-50', 'Lt', '50', 60),
];
const all = ['above-5', 'above-10', 'below-50'];

const filters = { force: true, ignoreDaemonSets: false, deleteEmptyDirData: false };

const cases = [
  { comparisonOperators: true, stays: ['above-5'], atOnce: ['above-10'] },
  { comparisonOperators: false, stays: [], atOnce: all },
];

for (const { comparisonOperators, stays, atOnce } of cases) {
  describe(`a drain with comparisonOperators ${comparisonOperators}`, () => {
    for (const effect of ['NoExecute', 'NoSchedule']) {
      it(`plans by them, ${effect}`, () => {
        const targets = [{ name: 'n1', zone: '' }];
        const taint = parseTaint(`level=10:${effect}`);
        const plan = planDrain(0, {
          config: resolveDrainConfig({ taint, targets, filters, comparisonOperators }),
          nodes: [makeNode({ name: 'n1' })],
          pods: pods.map((one) => ({ pod: makePod(one), finalizers: [] })),
          budgets: [],
          nodeAnswers: () => true,
        });
        const fates = new Map(plan.pods.map((one) => [one.pod.name, one.fate]));
        const now = all.filter((name) => {
          const fate = fates.get(name);
          return fate?.kind === 'evict' && fate.at <= 1000;
        });
        assert.deepEqual(now, atOnce);
        assert.deepEqual(
          all.filter((name) => fates.get(name)?.kind === 'keep'),
          stays,
        );
      });
    }

    it('and a NodeDrain acts by them', () => {
      const taint = { key: 'level', value: '10', effect: 'NoExecute' };
      const drain = drainOf({ nodes: ['n1'], taint });
      const world = new World(drain, [{ name: 'n1' }], pods, { comparisonOperators });
      world.pass(30_000);
      const evicted = (): readonly string[] =>
        all.filter((name) => world.log.includes(`evict ${name}`));
      assert.deepEqual(evicted(), atOnce);
      world.pass(60_000);
      assert.deepEqual(
        all.filter((name) => !evicted().includes(name)),
        stays,
      );
      assert.equal(world.state().phase, 'Drained');
    });
  });
}
