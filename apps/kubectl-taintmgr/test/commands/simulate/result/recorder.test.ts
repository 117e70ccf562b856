import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { deployment, namespace, pdb, statefulSet, VirtualClock } from '@taintmgr/sim-cluster';
import { coveredBy } from '../../../../src/commands/simulate/result/recorder.ts';

// The budgets of a cluster are called as people like.

const { api } = new ServedCluster({ clock: new VirtualClock(0), seed: 1 });
for (const name of ['shop', 'data']) api.create('namespaces', namespace(name));
for (const name of ['web', 'api'])
  api.create('deployments', deployment('shop', name, { replicas: 1 }));
api.create('statefulsets', statefulSet('data', 'db', { replicas: 1 }));

const cases: readonly (readonly [string, string, object | undefined, readonly string[]])[] = [
  ['of another name', 'shop', { matchLabels: { app: 'web' } }, ['Deployment shop/web']],
  [
    'by an expression',
    'shop',
    { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'api'] }] },
    ['Deployment shop/api', 'Deployment shop/web'],
  ],
  ['of everything', 'shop', {}, ['Deployment shop/api', 'Deployment shop/web']],
  ['of another namespace', 'data', { matchLabels: { app: 'web' } }, []],
  ['of a StatefulSet', 'data', { matchLabels: { app: 'db' } }, ['StatefulSet data/db']],
  ['without a selector', 'shop', undefined, []],
];

describe('what a budget covers', () => {
  for (const [name, inNamespace, selector, expected] of cases) {
    it(`${name}: ${expected.join(' and ') || 'nothing'}`, () => {
      const budget = pdb(inNamespace, 'guard', { minAvailable: 1 });
      const given = { ...budget, spec: { ...budget.spec, selector } };
      assert.deepEqual([...coveredBy(given, api)].sort(), expected);
    });
  }
});
