import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@taintmgr/sim-cluster';
import { World } from './world/policy-world.ts';

// What the checkers find of a client that evicts beside policies of the cluster.

const kept = 'evicts what a policy keeps';
const only = (app: string): Json => ({ podSelector: { matchLabels: { app } } });
const one = [{ per: 'Total', pods: 1, window: '60s' }];

const cases: readonly (readonly [
  name: string,
  policies: Readonly<Record<string, Json>>,
  evicted: readonly string[],
  found: readonly string[],
])[] = [
  ['nothing where there are none', {}, ['a', 'b'], []],
  ['that a pod left which is kept', { all: { action: 'Keep' } }, ['a'], [kept]],
  ['nothing where another pod is kept', { b: { match: only('b'), action: 'Keep' } }, ['a'], []],
  [
    'which policy comes first',
    { low: { action: 'Keep' }, high: { action: 'Delete', priority: 1 } },
    ['a'],
    [],
  ],
  [
    'which name comes first',
    { first: { action: 'Keep' }, second: { action: 'Delete' } },
    ['a'],
    [kept],
  ],
  ['that a policy was not read', { odd: { action: 'Delete', newer: true } }, ['a'], [kept]],
  [
    'that a pod had time by default',
    { patient: { action: 'Delete', defaultTolerationSeconds: 60 } },
    ['a'],
    ['before its deadline'],
  ],
  [
    'that the taint was too young',
    { old: { action: 'Delete', minTaintAge: '1m' } },
    ['a'],
    ['before its deadline'],
  ],
  ['that budgets were to be asked', { soft: { action: 'Evict' } }, ['a'], ['deletes too early']],
  [
    'nothing of a namespace with other labels',
    { red: { match: { namespaceSelector: { matchLabels: { team: 'red' } } }, action: 'Keep' } },
    ['a'],
    [],
  ],
  [
    'nothing where kube-controller-manager would delete it at once',
    { like: { action: 'KubeControllerManager', minTaintAge: '1m' } },
    ['a'],
    [],
  ],
  ['nothing within a limit', { slow: { limits: one } }, ['a'], []],
  ['that a limit was broken', { slow: { limits: one } }, ['a', 'b'], ['limit of a policy']],
  [
    'nothing of pods that a limit is not for',
    { slow: { match: only('b'), limits: one } },
    ['a', 'b'],
    [],
  ],
];

describe('the checkers of policies find', () => {
  for (const [name, policies, evicted, found] of cases) {
    it(name, () => {
      const world = new World();
      for (const [each, spec] of Object.entries(policies))
        world.put('evictionpolicies', each, spec);
      world.pass(1);
      world.read();
      for (const each of evicted) world.evict(each);
      assert.deepEqual(world.found, found);
    });
  }

  it('that a pod left as soon as its taint says, where a policy asks for when it came', () => {
    for (const [action, found] of [
      ['Delete', []],
      ['KubeControllerManager', ['before its deadline']],
    ] as const) {
      const world = new World('2025-12-31T23:59:00Z');
      world.put('evictionpolicies', 'all', { action, defaultTolerationSeconds: 30 });
      world.pass(22_500);
      world.read();
      world.evict('a');
      assert.deepEqual(world.found, found);
    }
  });

  it('that a pod left of a namespace whose labels nobody had read', () => {
    const world = new World();
    const match = { namespaceSelector: { matchLabels: { team: 'red' } } };
    world.put('evictionpolicies', 'red', { match, action: 'Delete' });
    world.pass(1);
    world.read('nodes', 'pods', 'policies', 'pauses');
    world.evict('a');
    assert.deepEqual(world.found, [kept]);
  });

  it('that nobody has read the policies', () => {
    const world = new World();
    world.read('nodes', 'pods');
    world.evict('a');
    assert.deepEqual(world.found, ['evicts without the policies']);
  });

  it('nothing of a policy that came after they were read', () => {
    const world = new World();
    world.read();
    world.put('evictionpolicies', 'all', { action: 'Keep' });
    world.evict('a');
    assert.deepEqual(world.found, []);
  });

  it('nothing of a policy that was gone when they were read', () => {
    const world = new World();
    world.put('evictionpolicies', 'all', { action: 'Keep' });
    world.delete('evictionpolicies', 'all');
    world.pass(1);
    world.read();
    world.evict('a');
    assert.deepEqual(world.found, []);
  });
});
