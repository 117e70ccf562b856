import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inReadingOrder } from '../../src/model/runs.ts';
import { longerDown } from '../../src/model/workloads.ts';
import { run, simulation, totals } from '../world/simulation.ts';

const ours = { name: 'taintmgr', semantics: 'taintmgr' } as const;
const upstream = { name: 'kube-controller-manager', semantics: 'kube-controller-manager' } as const;

for (const [what, runs, expected] of [
  ['one run', [ours], ['taintmgr']],
  ['kube-controller-manager first', [upstream, ours], ['kube-controller-manager', 'taintmgr']],
  ['the other way round', [ours, upstream], ['kube-controller-manager', 'taintmgr']],
  [
    'names of the user in the order of the user',
    [{ ...ours, name: 'A' }, upstream],
    ['A', 'kube-controller-manager'],
  ],
] as const) {
  it(`the page orders ${what}`, () => {
    const input = simulation(...runs.map((one) => run(one)));
    assert.deepEqual(
      inReadingOrder(input).runs.map(({ name }) => name),
      expected,
    );
  });
}

it('runs that change places keep what several seeds have in common, the other way round', () => {
  const web = totals('web', { downMax: 1, downSeconds: 10 });
  const more = totals('web', { downMax: 1, downSeconds: 40 });
  const { kind, namespace, name } = web;
  const counts = {
    outageSeconds: 0,
    podMinutesLost: 0,
    unavailableMax: 0,
    downMax: 0,
    evictions: 0,
  };
  const others = {
    downPercentMax: 0,
    unavailableSeconds: 0,
    longestGapSeconds: 0,
    downSeconds: 25,
  };
  const differences = {
    ...{ totals: run().summary.totals, evictions: 3, refusals: 0, nodesTainted: 0, budgets: [] },
    workloads: [{ kind, namespace, name, ...counts, ...others }],
  };
  const bands = { workloads: [] };
  const { runs } = inReadingOrder(
    simulation(
      run({ ...ours, bands, summary: [web] }),
      run({ ...upstream, bands, differences, summary: [more] }),
    ),
  );
  const [first, second = assert.fail()] = runs;
  assert.equal(first?.differences, null);
  assert.equal(second.differences?.evictions, -3);
  assert.equal(longerDown(second, web, more), '−25s');
});
