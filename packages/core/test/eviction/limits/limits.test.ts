// When a cluster has become calm, everything due is gone: but for pods that a limit holds which has
// tripped, and which they are still under.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createEngine, type Node, type Outcome, type Pod, type Taint } from '@taintmgr/core';
import type { EvictionPolicy, LimitHit, LimitRule } from '@taintmgr/core/policy';
import { selectorText } from '../../../src/policy/limit.ts';
import { fc } from '../../fast-check.ts';
import { policyOf } from '../../policy/objects.ts';
import { itAnswersEvictions } from '../script.ts';
import { World } from './limit-world.ts';

const windowMs = 20_000;
const nodeNames = ['n0', 'n1', 'n2'];
const podNames = nodeNames.flatMap((_, node) =>
  ['shop', 'zeta'].flatMap((namespace) => [0, 1].map((pod) => `${namespace}/p${node}-${pod}`)),
);

const onLimit = fc.constantFrom('queue', 'trip');
const scope = fc.constantFrom<Pick<LimitRule, 'per' | 'name' | 'nodes'>>(
  { per: 'total' },
  { per: 'total', nodes: { matchLabels: { pool: 'spot' } } },
  { per: 'zone' },
  { per: 'zone', name: 'a' },
  { per: 'namespace' },
  { per: 'namespace', name: 'shop' },
  { per: 'node' },
  { per: 'taint', name: 'x' },
);
const limit: fc.Arbitrary<LimitRule> = fc
  .record({
    scope,
    onLimit,
    most: fc.constantFrom(
      { pods: 1, windowMs },
      { percent: 40, windowMs },
      { podsPerSecond: 0.2 },
      { podsPerSecond: 0.2, pods: 2, windowMs },
    ),
  })
  .map(({ scope: of, most, onLimit: at }) => ({ ...of, ...most, onLimit: at }));
const limits = fc.array(limit, { minLength: 1, maxLength: 3 });

const node = fc.constantFrom(...nodeNames);
type Act =
  | { readonly kind: 'taints'; readonly node: string; readonly keys: readonly string[] }
  | { readonly kind: 'place'; readonly node: string; readonly zone: string; readonly pool: string }
  | { readonly kind: 'ready'; readonly pod: string; readonly ready: 'True' | 'False' }
  | { readonly kind: 'labels'; readonly pod: string; readonly app: string }
  | { readonly kind: 'blocked'; readonly pod: string }
  | { readonly kind: 'policy'; readonly policy: Partial<EvictionPolicy> }
  | { readonly kind: 'noPolicy' };
const pod = fc.constantFrom(...podNames);
const keys = fc.uniqueArray(fc.constantFrom('x', 'y'), { maxLength: 2 });
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('taints' as const), node, keys }) },
  fc.record({
    kind: fc.constant('place' as const),
    node,
    zone: fc.constantFrom('a', 'b'),
    pool: fc.constantFrom('spot', 'other'),
  }),
  fc.record({
    kind: fc.constant('ready' as const),
    pod,
    ready: fc.constantFrom('True' as const, 'False' as const),
  }),
  fc.record({ kind: fc.constant('labels' as const), pod, app: fc.constantFrom('web', 'db') }),
  fc.record({ kind: fc.constant('blocked' as const), pod }),
  fc.record({
    kind: fc.constant('policy' as const),
    policy: fc.record({
      action: fc.constantFrom(null, 'Keep' as const, 'Evict' as const),
      limits: fc.oneof(fc.constant([]), limits),
      match: fc.constantFrom(
        { taints: [{ key: 'x' }], nodes: null, namespaces: null, pods: null, podPriority: null },
        {
          taints: [],
          nodes: null,
          namespaces: null,
          pods: { matchLabels: { app: 'web' } },
          podPriority: null,
        },
      ),
    }),
  }),
  fc.constant({ kind: 'noPolicy' as const }),
);
const steps = fc.array(fc.record({ waitMs: fc.nat(60).map((n) => n * 100), act }), {
  minLength: 1,
  maxLength: 14,
});

const held: Outcome = { kind: 'blocked', message: 'a budget', retryAfter: null };

/** What a step does to the world. */
function play(world: World, one: Act, blocked: Set<string>): void {
  switch (one.kind) {
    case 'taints':
      world.change(one.node, { taints: one.keys.map(taintOf) });
      return;
    case 'place':
      world.change(one.node, { zone: one.zone, labels: { pool: one.pool } });
      return;
    case 'ready':
      world.changePod(one.pod, { ready: one.ready });
      return;
    case 'labels':
      world.changePod(one.pod, { labels: { app: one.app } });
      return;
    case 'blocked':
      if (!blocked.delete(one.pod)) blocked.add(one.pod);
      return;
    case 'policy':
      world.tell({ kind: 'policyUpsert', policy: policyOf('gentle', one.policy) });
      return;
    case 'noPolicy':
      world.tell({ kind: 'policyDelete', name: 'gentle' });
  }
}

function taintOf(key: string): Taint {
  return { key, value: '', effect: 'NoExecute', timeAdded: null };
}

/** Whether the pod is under what holds it. */
function isUnder({ per, name, nodes }: LimitHit, of: Pod, on: Node, taint: Taint): boolean {
  if (nodes !== undefined && nodes !== selectorText({ matchLabels: on.labels ?? {} })) return false;
  const names = { total: '', zone: on.zone, namespace: of.namespace, node: on.name, workload: '' };
  return name === (per === 'taint' ? taint.key : names[per]);
}

/** What is due and still there, with what holds it; nothing where that has tripped and is for it. */
function stuck(world: World): readonly string[] {
  return world.pods().flatMap((one) => {
    const { namespace, name } = one;
    const told = world.engine.explain(world.now, { kind: 'pod', namespace, name });
    assert.ok(told?.kind === 'pod');
    const { decision, attempt } = told;
    if (decision.kind !== 'evict' || decision.deadline > world.now) return [];
    const [decisive] = decision.because;
    const hit = attempt?.kind === 'queued' ? attempt.hit : null;
    const on = world.nodeOf(one.nodeName);
    const isHeld = hit?.tripped && decisive && 'taint' in decisive;
    if (isHeld && isUnder(hit, one, on, decisive.taint)) return [];
    return [`${namespace}/${name}: ${JSON.stringify(attempt)}`];
  });
}

it('calm again, everything due is gone but what a limit holds that has tripped', () => {
  const seen = { gone: 0, held: 0 };
  fc.assert(
    fc.property(limits, fc.boolean(), steps, fc.constantFrom(1, 2, 50), (...of) => {
      const [rules, keepLimits, drawn, evictionsInFlightMax] = of;
      const config = { limits: rules, keepLimits, mode: 'evict', evictionsInFlightMax } as const;
      const world = new World(createEngine(config));
      const blocked = new Set<string>();
      world.outcome = (name) => (blocked.has(name) ? held : null);
      world.recordMs = 50;
      for (const name of nodeNames) world.node(name, { labels: { pool: 'spot' } });
      for (const name of podNames) world.pod(name, `n${name.at(-3)}`, { labels: { app: 'web' } });
      world.tell({ kind: 'synced' });
      for (const { waitMs, act: one } of drawn) {
        play(world, one, blocked);
        world.rest(waitMs);
      }
      blocked.clear();
      for (const name of podNames) world.changePod(name, { ready: 'True' });
      world.rest(3_600_000);
      assert.deepEqual(stuck(world), []);
      seen.gone += world.evicted.length;
      seen.held += world.tripped().length;
    }),
    { numRuns: 1500 },
  );
  assert.ok(seen.gone > 1000 && seen.held > 100, JSON.stringify(seen));
});

it('a place is kept in all limits or in none: who waits for a rate keeps none of another limit', () => {
  const slow: LimitRule = { per: 'namespace', name: 'aaa', podsPerSecond: 0.1, onLimit: 'queue' };
  const zone: LimitRule = { per: 'zone', pods: 5, windowMs: 600_000, onLimit: 'queue' };
  const world = new World(createEngine({ limits: [slow, zone], keepLimits: true }));
  world.recordMs = 50;
  for (const name of ['n0', 'n1']) world.node(name);
  for (let pod = 0; pod < 10; pod++) world.pod(`aaa/p${pod}`, 'n0');
  world.pod('zeta/p', 'n1');
  world.tell({ kind: 'synced' });
  world.taint('n0', 'x');
  world.rest(6_000);
  world.taint('n1', 'x');
  world.rest(1_000);
  assert.deepEqual(world.evicted, ['aaa/p0', 'zeta/p']);
});

it('no more is written down than can be under way, however much is due', () => {
  const rule: LimitRule = { per: 'workload', percent: 50, onLimit: 'queue' };
  const world = new World(createEngine({ limits: [rule], keepLimits: true }));
  world.recordMs = 50;
  world.node('n0');
  for (let pod = 0; pod < 400; pod++) {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `rs${pod}` };
    world.pod(`shop/p${pod}`, 'n0', { owner });
  }
  world.tell({ kind: 'synced' });
  world.taint('n0', 'x');
  world.rest(10_000);
  assert.equal(world.evicted.length, 400);
  const begun = world.told.flatMap((command) =>
    command.kind === 'keepLimits'
      ? [Object.values(command.record).flatMap((limit) => limit.begun ?? []).length]
      : [],
  );
  assert.ok(Math.max(...begun) <= 100, `${begun}`);
});

it('a place is kept for a minute after a request without an answer, whatever a later one says', () => {
  const rule: LimitRule = { per: 'total', pods: 1, windowMs: 600_000, onLimit: 'queue' };
  const world = new World(createEngine({ limits: [rule], mode: 'evict' }));
  const asked: string[] = [];
  world.outcome = (name) => {
    asked.push(name);
    if (name === 'shop/b') return null;
    return asked.length === 1
      ? { kind: 'failed', status: null, message: 'timeout', retryAfter: null }
      : { kind: 'blocked', message: 'a budget', retryAfter: null };
  };
  world.node('n0');
  for (const name of ['shop/a', 'shop/b']) world.pod(name, 'n0');
  world.tell({ kind: 'synced' });
  world.taint('n0', 'x');
  world.rest(59_000);
  assert.ok(asked.length > 2 && !asked.includes('shop/b'), `${asked}`);
  world.rest(20_000);
  assert.deepEqual(world.evicted, ['shop/b']);
});

itAnswersEvictions('limits policy-limits');
