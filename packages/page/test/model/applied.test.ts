import assert from 'node:assert/strict';
import { it } from 'node:test';
import { appliedTexts, rolloutFaults } from '../../src/model/applied.ts';
import type { AppliedObject, PageInput, Rollout } from '../../src/simulation.ts';
import { run, simulation } from '../world/simulation.ts';

const web: AppliedObject = {
  ...{ file: 'shop.yaml', line: 4, kind: 'Deployment', namespace: 'shop', name: 'web' },
  ...{ change: 'changed', fields: ['spec.replicas 3 -> 1', 'spec.paused <none> -> true'] },
};
const created: AppliedObject = { ...web, name: 'new', change: 'created', fields: [] };
const policy: AppliedObject = { ...created, kind: 'EvictionPolicy', namespace: '' };
const same: AppliedObject = { ...web, change: 'unchanged', fields: [] };

const cases: readonly (readonly [what: string, applied: AppliedObject[] | null, string[]])[] = [
  ['no manifests', null, []],
  ['nothing', [same], ['After: nothing of the manifests changes the cluster']],
  [
    'objects of each kind',
    [web, same, created, policy],
    [
      'After: Deployment shop/web changed (shop.yaml:4): spec.replicas 3 -> 1; spec.paused <none> -> true',
      'After: Deployment shop/new created (shop.yaml:4)',
      'After: EvictionPolicy new created (shop.yaml:4)',
    ],
  ],
];
for (const [what, applied, texts] of cases) {
  it(`what manifests change is told: ${what}`, () => {
    const input: PageInput = { ...simulation(run({})), ...(applied && { applied }) };
    assert.deepEqual(appliedTexts(input), texts);
  });
}

it('of many objects ten are told', () => {
  const applied = Array.from({ length: 13 }, () => created);
  const texts = appliedTexts({ ...simulation(run({})), applied });
  assert.equal(texts.length, 11);
  assert.equal(texts.at(-1), 'After: 3 more objects changed or created');
});

it('budgets that allowed nothing before are no fault of the manifests', () => {
  const budget = (name: string) => ({ namespace: 'shop', name, pods: 3 });
  const before: Rollout = { seconds: 4, unfinished: [], closedBudgets: [budget('db')] };
  const unfinished = [{ workload: 'Deployment shop/web', text: '1 of 3 pods updated' }];
  const after = { ...before, unfinished, closedBudgets: [budget('db'), budget('web')] };
  const runs = [before, after].map((rollout) => ({ ...run({}), rollout }));
  assert.deepEqual(rolloutFaults(simulation(...runs)), [
    'Deployment shop/web does not come to rest after: 1 of 3 pods updated',
    'PDB shop/web allows no eviction after: 0 of 3 may be down',
  ]);
});
