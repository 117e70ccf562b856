// What another run has more or less than the first one, as data and behind the numbers of a table.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BudgetSummary, Recording, Summary, WorkloadSummary } from '@taintmgr/page';
import { differencesOf } from '../../../../src/commands/simulate/result/differences.ts';
import {
  budgetTable,
  comparedText,
  workloadTable,
} from '../../../../src/commands/simulate/result/rows.ts';
import { summarize } from '../../../../src/commands/simulate/result/summary.ts';

const nothing: Recording = {
  ...{ zones: [], nodes: [], workloads: [], budgets: [], jobs: [], pods: [], deadlines: [] },
  ...{ evictions: [], holds: [], refusals: [], failures: [], unplaced: [] },
};
const calm: Summary = summarize(nothing, 100);

function workload(given: Partial<WorkloadSummary>): WorkloadSummary {
  return {
    ...{ kind: 'Deployment', namespace: 'shop', name: 'web', wanted: 3, evictions: 0 },
    ...{ unavailableMax: 0, unavailablePercentMax: 0, worstAt: null, unavailableSeconds: 0 },
    ...{ downMax: 0, downPercentMax: 0, downWorstAt: null, downWorstWanted: 0, downSeconds: 0 },
    ...{ outageSeconds: 0, podMinutesLost: 0, longestGap: null, overAt: null, downAtEnd: 0 },
    ...given,
  };
}

function budget(given: Partial<BudgetSummary>): BudgetSummary {
  return { namespace: 'shop', name: 'web', refusals: 0, belowSeconds: 0, belowMax: 0, ...given };
}

describe('the differences of two runs', () => {
  it('are what the other one has more, to the thousandth', () => {
    const first: Summary = {
      ...calm,
      ...{ evictions: 5, refusals: 7, nodesTainted: 3 },
      workloads: [
        workload({ downSeconds: 0.1, downMax: 3, longestGap: { from: 1, seconds: 0.1 } }),
      ],
      budgets: [budget({ refusals: 4, belowSeconds: 2, belowMax: 1 })],
    };
    const other: Summary = {
      ...calm,
      ...{ evictions: 6, refusals: 5, nodesTainted: 1 },
      workloads: [
        workload({ downSeconds: 0.3, downMax: 2, longestGap: { from: 1, seconds: 0.3 } }),
      ],
      budgets: [budget({ refusals: 1, belowSeconds: 5, belowMax: 3 })],
    };
    const found = differencesOf([first], [other]) ?? assert.fail();
    const { evictions, refusals, nodesTainted, workloads, budgets } = found;
    assert.deepEqual([evictions, refusals, nodesTainted], [1, -2, -2]);
    const [one] = workloads;
    assert.deepEqual([one?.downSeconds, one?.downMax, one?.longestGapSeconds], [0.2, -1, 0.2]);
    const of = { namespace: 'shop', name: 'web' };
    assert.deepEqual(budgets, [{ ...of, refusals: -3, belowSeconds: 3, belowMax: 2 }]);
  });

  it('are of the share too, since runs may want more and fewer pods', () => {
    const half = workload({ wanted: 2, downMax: 1, downPercentMax: 50 });
    const quarter = workload({ wanted: 4, downMax: 1, downPercentMax: 25 });
    const [first, other] = [quarter, half].map((one) => ({ ...calm, workloads: [one] }));
    const [found] = differencesOf([first ?? calm], [other ?? calm])?.workloads ?? [];
    assert.deepEqual([found?.downMax, found?.downPercentMax], [0, 25]);
  });

  it('are of what is in both, by kind and name', () => {
    const [deployment, set] = [workload({}), workload({ kind: 'StatefulSet', evictions: 9 })];
    const first = { ...calm, workloads: [workload({ evictions: 1 }), workload({ name: 'old' })] };
    const other = { ...calm, workloads: [deployment, set, workload({ name: 'new' })] };
    const found = differencesOf([first], [other])?.workloads ?? [];
    assert.deepEqual(
      found.map(({ kind, name, evictions }) => [kind, name, evictions]),
      [['Deployment', 'web', -1]],
    );
  });
});

describe('the differences of several seeds', () => {
  const drawsOf = (...downSeconds: readonly number[]): readonly Summary[] =>
    downSeconds.map((seconds) => ({ ...calm, workloads: [workload({ downSeconds: seconds })] }));
  const cases: readonly (readonly [string, readonly number[], readonly number[], number])[] = [
    ['the median where all seeds have more', [10, 20, 30], [13, 24, 35], 4],
    ['the median where all seeds have less', [10, 20, 30], [9, 15, 28], -2],
    ['none where one seed has less', [10, 20, 30], [13, 24, 29], 0],
    ['none where one seed is equal', [10, 20, 30], [13, 24, 30], 0],
  ];
  for (const [what, first, other, wanted] of cases) {
    it(what, () => {
      const found = differencesOf(drawsOf(...first), drawsOf(...other));
      assert.equal(found?.workloads[0]?.downSeconds, wanted);
    });
  }

  it('are of the same workload, wherever it stands', () => {
    const [web, db] = [workload({ downSeconds: 10 }), workload({ name: 'db', downSeconds: 50 })];
    const orders = [
      [web, db],
      [db, web],
    ].map((workloads) => ({ ...calm, workloads }));
    const longer = [web, db].map((one) => ({ ...one, downSeconds: one.downSeconds + 3 }));
    const found = differencesOf(orders, [
      { ...calm, workloads: longer },
      { ...calm, workloads: longer },
    ]);
    assert.deepEqual(
      found?.workloads.map(({ name, downSeconds }) => [name, downSeconds]),
      [
        ['web', 3],
        ['db', 3],
      ],
    );
  });

  it('are told in words where chance makes as much', () => {
    const column = workloadTable.columns.find(({ head }) => head === 'DOWN FOR') ?? assert.fail();
    const pairs = [
      [10, 13],
      [20, 18],
    ].map(([one = 0, two = 0]) => {
      return [workload({ downSeconds: one }), workload({ downSeconds: two })] as const;
    });
    const text = comparedText(column, workload({ downSeconds: 13 }), pairs);
    assert.equal(text, '13s ~');
  });
});

describe('a number of a table beside that of the first run', () => {
  /** What a column says of the two. */
  function said(head: string, item: Partial<WorkloadSummary>, first: Partial<WorkloadSummary>) {
    const column = workloadTable.columns.find((one) => one.head === head) ?? assert.fail(head);
    return comparedText(column, workload(item), [[workload(first), workload(item)]]);
  }
  const cases: readonly (readonly [
    string,
    Partial<WorkloadSummary>,
    Partial<WorkloadSummary>,
    string,
  ])[] = [
    ['EVICTIONS', { evictions: 3 }, { evictions: 1 }, '3 +2'],
    ['EVICTIONS', { evictions: 1 }, { evictions: 3 }, '1 -2'],
    ['EVICTIONS', { evictions: 1 }, { evictions: 1 }, '1'],
    // 9.9 s and 10.1 s are shown as 9s and 10s.
    ['DOWN FOR', { downSeconds: 10.1 }, { downSeconds: 9.9 }, '10s +1s'],
    ['DOWN FOR', { downSeconds: 10.9 }, { downSeconds: 10.1 }, '10s'],
    ['POD-MINUTES', { podMinutesLost: 1.5 }, { podMinutesLost: 2 }, '1.5 -0.5'],
  ];
  for (const [head, item, first, wanted] of cases) {
    it(`${head} ${wanted}`, () => assert.equal(said(head, item, first), wanted));
  }
});

describe('what is named as untouched', () => {
  const cases: readonly (readonly [what: string, isCalm: boolean, wanted: boolean])[] = [
    ['a workload', workloadTable.isCalm(workload({})), true],
    ['one that was down', workloadTable.isCalm(workload({ downMax: 1 })), false],
    ['one that looked so', workloadTable.isCalm(workload({ unavailableMax: 1 })), false],
    ['one whose pods were evicted', workloadTable.isCalm(workload({ evictions: 1 })), false],
    ['a budget', budgetTable.isCalm(budget({})), true],
    ['one that refused', budgetTable.isCalm(budget({ refusals: 1 })), false],
    ['one that was broken', budgetTable.isCalm(budget({ belowMax: 1 })), false],
  ];
  for (const [what, isCalm, wanted] of cases) {
    it(`${what}: ${wanted}`, () => assert.equal(isCalm, wanted));
  }
});
