import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionTrack, Recording } from '@taintmgr/page';
import { workloadTable } from '../../../../src/commands/simulate/result/rows.ts';
import { loopsOf, summarize } from '../../../../src/commands/simulate/result/summary.ts';

/** More than a call of JavaScript takes as arguments. */
const long = 300_000;

/** Something that happens again and again, in each second once. */
function eachSecond<Item>(make: (at: number) => Item): readonly Item[] {
  return Array.from({ length: long }, (_, at) => make(at));
}

const nothing: Recording = {
  ...{ zones: [], nodes: [], workloads: [], budgets: [], jobs: [], pods: [], deadlines: [] },
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

  it('counts a budget as below what it wants to the end, and not where it has just enough', () => {
    const budget = { namespace: 'shop', name: 'web', workloads: [] };
    const refusal = { namespace: 'shop', node: 'a', workload: null, firstAt: 1, lastAt: 2 };
    const refusals = [
      { ...refusal, pod: 'web-1', budget: 'shop/web', count: 3, message: 'm' },
      { ...refusal, pod: 'web-2', budget: 'shop/web', count: 2, message: 'm' },
      { ...refusal, pod: 'db-1', budget: 'shop/db', count: 7, message: 'm' },
    ];
    const states = [
      { at: 0, healthy: 2, desired: 2 },
      { at: 10, healthy: 1, desired: 2 },
      { at: 15, healthy: 2, desired: 2 },
      { at: 50, healthy: 0, desired: 2 },
    ];
    const summary = summarize({ ...nothing, refusals, budgets: [{ ...budget, states }] }, 60);
    assert.deepEqual(summary.budgets, [
      { namespace: 'shop', name: 'web', refusals: 5, belowSeconds: 15, belowMax: 2 },
    ]);
    assert.equal(summary.refusals, 12);
  });

  it('counts nodes with a NoExecute taint that they did not begin with', () => {
    const node = (name: string, ...taints: readonly (readonly string[])[]) => ({
      ...{ name, zone: 'z', pods: [] },
      states: taints.map((now, at) => ({
        at,
        ...({ ready: 'True', cordoned: false } as const),
        taints: now,
      })),
    });
    const [bad, worse, idle] = ['bad:NoExecute', 'worse:NoExecute', 'idle:NoSchedule'];
    const nodes = [
      node('new', [], [bad]),
      node('gone', [], [bad], []),
      node('another', [bad], [bad, worse]),
      node('kept', [bad], [bad, idle]),
      node('less', [bad], []),
    ];
    assert.equal(summarize({ ...nothing, nodes }, 60).nodesTainted, 3);
  });

  it('counts pods that fitted nowhere: all, the most at once, those at the end', () => {
    const one = { namespace: 'shop', workload: null, message: 'no room' };
    const unplaced = [
      { ...one, pod: 'a', from: 0, until: 10 },
      { ...one, pod: 'b', from: 10, until: 20 },
      { ...one, pod: 'c', from: 20, until: null },
    ];
    const summary = summarize({ ...nothing, unplaced }, 60);
    assert.deepEqual(summary.unplaced, { pods: 3, atOnceMax: 1, atEnd: 1 });
  });

  it('says until when something kept pods: to the end, if it keeps one of them to the end', () => {
    const one = { namespace: 'shop', workload: 'Deployment shop/web', node: 'a' };
    const limit = { kind: 'limit', name: 'zone=z', tripped: false, text: 'is used up' } as const;
    const holds = [
      { ...one, ...limit, pod: 'web-1', from: 5, until: 20 },
      { ...one, ...limit, pod: 'web-2', from: 7, until: null },
      { ...one, ...limit, pod: 'web-1', from: 30, until: 40 },
      { ...one, ...limit, name: 'zone=y', pod: 'web-3', from: 3, until: 40 },
      { ...one, ...limit, name: 'zone=y', pod: 'web-3', from: 1, until: 2 },
    ];
    const held = [
      { at: 0, held: null },
      { at: 10, held: 'too many' },
      { at: 20, held: null },
      { at: 30, held: null },
    ];
    const normal = { state: 'Normal', ready: 3, notReady: 0, rate: 0.1 };
    const zones = [{ name: 'z', states: held.map((state) => ({ ...normal, ...state })) }];
    const { causes } = summarize({ ...nothing, holds, zones }, 60);
    assert.deepEqual(
      causes.map(({ kind, name, pods, from, until }) => [kind, name, pods, from, until]),
      [
        ['limit', 'zone=y', 1, 1, 40],
        ['limit', 'zone=z', 2, 5, null],
        ['zone', 'z', 0, 10, 20],
      ],
    );
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

/** A pod of shop/web that was on node a for ten seconds, and why it was evicted. */
function evicted(at: number, because: string): EvictionTrack {
  const pod = { namespace: 'shop', pod: `web-${at}`, node: 'a', workload: 'Deployment shop/web' };
  return { ...pod, at, arrivedAt: at - 10, how: 'delete', because: [because], reasons: [] };
}

describe('a loop of evictions', () => {
  const taint = 'no toleration for x:NoExecute';

  it('is of one reason, three times at least', () => {
    const found = loopsOf([evicted(10, taint), evicted(30, taint), evicted(50, taint)]);
    assert.deepEqual(
      found.map(({ name, evictions, firstAt, lastAt, because }) => {
        return [name, evictions, firstAt, lastAt, because];
      }),
      [['Deployment shop/web', 3, 10, 50, [taint]]],
    );
    assert.deepEqual(loopsOf([evicted(10, taint), evicted(30, taint)]), []);
  });

  it('is not made of a failure, a wrong taint and a new kernel that come to a node one after the other', () => {
    const story = [evicted(10, 'unreachable'), evicted(900, 'gpu'), evicted(1800, 'kernel')];
    assert.deepEqual(loopsOf(story), []);
  });
});
