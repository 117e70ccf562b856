import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '../../src/api/api-server.ts';
import { node, pod } from '../../src/builders.ts';
import { Checkers } from '../../src/checkers/checkers.ts';
import { evictionDefaults } from '../../src/checkers/terms.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import { seededRandom } from '../../src/kernel/prng.ts';
import type { Json } from '../../src/objects/kube-object.ts';
import type { Exchange } from '../../src/wire/exchange.ts';

// What the checkers find of a client that evicts beside policies of the cluster.

const plural = 'evictionpolicies';
const group = 'taintmgr.dev';
const lists = {
  nodes: '/api/v1/nodes',
  pods: '/api/v1/pods',
  policies: `/apis/${group}/v1alpha1/${plural}`,
};

/** A cluster with a tainted node and two pods on it, and a client that has just read it. */
class World {
  readonly clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  readonly api = new ApiServer({ clock: this.clock, random: seededRandom(1) });
  readonly #checkers: Checkers;
  readonly #line: Exchange;

  constructor() {
    const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: open } } };
    this.api.create('customresourcedefinitions', {
      metadata: { name: `${plural}.${group}` },
      spec: {
        ...{ group, scope: 'Cluster', names: { plural, kind: 'EvictionPolicy' } },
        versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
      },
    });
    this.pass(1000);
    const terms = { ...evictionDefaults, clusterPolicies: true };
    this.#checkers = new Checkers(this.api, terms);
    const { apiHistory } = this.#checkers;
    this.#line = apiHistory.first.client(apiHistory.server(this.api.exchange));
    apiHistory.first.beginRun();
    for (const name of ['a', 'b']) {
      this.api.create(
        'pods',
        pod('default', name, { labels: { app: name }, spec: { nodeName: 'n' } }),
      );
    }
    this.pass(5000);
    this.api.create(
      'nodes',
      node('n', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }),
    );
    this.pass(5000);
  }

  pass(ms: number): void {
    this.clock.advanceTo(this.clock.now() + ms);
  }

  put(name: string, spec: Json): void {
    this.api.create(`${plural}.${group}`, { metadata: { name }, spec });
  }

  read(...names: readonly (keyof typeof lists)[]): void {
    for (const name of names) this.#ask('GET', lists[name]);
  }

  evict(name: string): void {
    this.#ask('DELETE', `/api/v1/namespaces/default/pods/${name}`);
  }

  get found(): readonly string[] {
    return this.#checkers.violations.map(({ invariant }) => invariant);
  }

  #ask(method: string, path: string): void {
    const nothing = (): void => {};
    const sink = { head: nothing, data: nothing, end: nothing, reset: nothing };
    this.#line({ method, path, headers: {}, body: null }, sink);
  }
}

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
      for (const [each, spec] of Object.entries(policies)) world.put(each, spec);
      world.pass(1);
      world.read('nodes', 'pods', 'policies');
      for (const each of evicted) world.evict(each);
      assert.deepEqual(world.found, found);
    });
  }

  it('that nobody has read the policies', () => {
    const world = new World();
    world.read('nodes', 'pods');
    world.evict('a');
    assert.deepEqual(world.found, ['evicts without the policies']);
  });

  it('nothing of a policy that came after they were read', () => {
    const world = new World();
    world.read('nodes', 'pods', 'policies');
    world.put('all', { action: 'Keep' });
    world.evict('a');
    assert.deepEqual(world.found, []);
  });

  it('nothing of a policy that was gone when they were read', () => {
    const world = new World();
    world.put('all', { action: 'Keep' });
    world.api.delete(`${plural}.${group}`, '', 'all');
    world.pass(1);
    world.read('nodes', 'pods', 'policies');
    world.evict('a');
    assert.deepEqual(world.found, []);
  });
});
