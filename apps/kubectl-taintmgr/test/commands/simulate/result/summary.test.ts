import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Recording } from '../../../../src/commands/simulate/record/recorder.ts';
import { workloadTable } from '../../../../src/commands/simulate/result/columns.ts';
import { summarize } from '../../../../src/commands/simulate/result/summary.ts';

/** More than a call of JavaScript takes as arguments. */
const long = 300_000;

/** Something that happens again and again, in each second once. */
function eachSecond<Item>(make: (at: number) => Item): readonly Item[] {
  return Array.from({ length: long }, (_, at) => make(at));
}

const nothing: Recording = {
  ...{ zones: [], nodes: [], workloads: [], budgets: [], pods: [], deadlines: [] },
  ...{ evictions: [], holds: [], refusals: [], failures: [], unplaced: [] },
};

const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };

describe('the summary of a run', () => {
  it('takes as many failures, changes of a workload and of a budget as there are', () => {
    const pod = { namespace: 'shop', pod: 'web-1', node: 'a', workload: 'Deployment shop/web' };
    const summary = summarize(
      {
        ...nothing,
        failures: eachSecond((at) => ({ ...pod, at: at + 1, message: 'two budgets' })),
        workloads: [
          {
            ...web,
            states: eachSecond((at) => ({ at, wanted: 2, ready: 2 - (at % 2) })),
            serving: eachSecond((at) => ({ at, pods: 2 - (at % 2) })),
          },
        ],
        budgets: [
          {
            ...{ namespace: 'shop', name: 'web', workloads: [] },
            states: eachSecond((at) => ({ at, healthy: 2 - (at % 2), desired: 2 })),
          },
        ],
      },
      long,
    );
    const { causes, workloads, budgets } = summary;
    assert.deepEqual(
      causes.map(({ kind, pods, from, until }) => [kind, pods, from, until]),
      [['failure', 1, 1, long]],
    );
    assert.deepEqual([workloads[0]?.downMax, workloads[0]?.downPercentMax], [1, 50]);
    assert.equal(budgets[0]?.belowMax, 1);
  });

  it('says how many pods were wanted when the most were down, not at the end', () => {
    const states = [
      { at: 0, wanted: 8, ready: 8 },
      { at: 60, wanted: 1, ready: 1 },
    ];
    const serving = [8, 4, 1].map((pods, index) => ({ at: 30 * index, pods }));
    const { workloads } = summarize({ ...nothing, workloads: [{ ...web, states, serving }] }, 90);
    const [own = assert.fail()] = workloads;
    assert.deepEqual(
      [own.downMax, own.downWorstAt, own.downWorstWanted, own.wanted],
      [4, 30, 8, 1],
    );
    const column = workloadTable.columns.find(({ head }) => head === 'MOST DOWN');
    assert.equal(column?.text(own), '4 of 8');
  });
});
