import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bandOf,
  beyondChance,
  medianOf,
  typicalSummary,
} from '../../../../src/commands/simulate/result/draws.ts';
import { summarize } from '../../../../src/commands/simulate/result/summary.ts';

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

describe('of several seeds', () => {
  it('the band has all of a few, and nine in ten of many', () => {
    assert.deepEqual(bandOf([3, 1, 2]), { least: 1, most: 3 });
    assert.deepEqual(bandOf(upTo(20)), { least: 1, most: 18 });
    assert.deepEqual(bandOf(upTo(100)), { least: 5, most: 94 });
  });

  it('the median is one of them', () => {
    assert.equal(medianOf([5, 1, 3]), 3);
    assert.equal(medianOf([4, 1, 3, 2]), 2);
  });

  it('a difference is one that nine in ten of many seeds have', () => {
    assert.equal(beyondChance([...upTo(19).map(() => 2), -1]), 2);
    assert.equal(beyondChance([...upTo(18).map(() => 2), -1, -1]), 0);
  });

  it('the summary has medians, and the longest gap of a seed that had it, whatever the order', () => {
    const draws = [10, 30, 20].map((seconds) => {
      const states = [
        { at: 0, wanted: 1, ready: 1 },
        { at: 5, wanted: 1, ready: 0 },
        { at: 5 + seconds, wanted: 1, ready: 1 },
      ];
      const serving = states.map(({ at, ready }) => ({ at, pods: ready }));
      const web = { kind: 'Deployment', namespace: 'shop', name: 'web', states, serving };
      const calm = {
        ...web,
        name: 'calm',
        states: states.slice(0, 1),
        serving: serving.slice(0, 1),
      };
      const nothing = { zones: [], nodes: [], budgets: [], jobs: [], pods: [], deadlines: [] };
      const nobody = { evictions: [], holds: [], refusals: [], failures: [], unplaced: [] };
      const workloads = seconds === 10 ? [web, calm] : [calm, web];
      return summarize({ ...nothing, ...nobody, workloads }, 100);
    });
    const [web, calm] = typicalSummary(draws)?.workloads ?? [];
    assert.equal(web?.downSeconds, 20);
    assert.deepEqual(web?.longestGap, { from: 5, seconds: 20 });
    assert.equal(calm?.longestGap, null);
  });
});
