import assert from 'node:assert/strict';
import { it } from 'node:test';
import { node, pod } from '../../src/builders.ts';
import { keyOf } from '../../src/controllers/pods.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { NodePool } from '../../src/scheduler/node-pool.ts';
import { type PodSelector, podSelector } from '../../src/scheduler/pod-selector.ts';
import { fc } from '../world/fast-check.ts';

// What is counted as pods come, change and go is what a walk over all of them would count.

const apps = ['web', 'db'] as const;
const spaces = ['one', 'two'] as const;
const nodeNames = ['n-1', 'n-2', 'n-3'] as const;
const isWeb = { key: 'app', operator: 'in', values: ['web'] } as const;
const hasTier = { key: 'tier', operator: 'exists', values: [] } as const;

const selectors: readonly PodSelector[] = [
  podSelector(['one'], [isWeb]),
  podSelector(['one'], [isWeb, hasTier]),
  podSelector(['one', 'two'], [{ ...isWeb, operator: 'notin' }]),
  podSelector([], [hasTier], [{ key: 'team', operator: 'in', values: ['two'] }]),
  podSelector(['two'], null),
];

const stepDrawn = fc.record({
  number: fc.integer({ min: 0, max: 5 }),
  space: fc.constantFrom(...spaces),
  app: fc.constantFrom(...apps),
  hasTier: fc.boolean(),
  nodeName: fc.constantFrom(...nodeNames),
  state: fc.constantFrom('running', 'ending', 'ended', 'gone'),
});

type Step = typeof stepDrawn extends fc.Arbitrary<infer Drawn> ? Drawn : never;

function podOf({ number, space, app, hasTier, nodeName, state }: Step): KubeObject {
  const labels = { app, ...(hasTier ? { tier: 'back' } : {}) };
  const made = pod(space, `p-${number}`, { labels, spec: { ...pod('', '').spec, nodeName } });
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const metadata = state === 'ending' ? { ...made.metadata, deletionTimestamp } : made.metadata;
  return { ...made, metadata, status: { phase: state === 'ended' ? 'Failed' : 'Running' } };
}

/** By node, as someone counts who starts anew. */
function walked(
  pods: Iterable<KubeObject>,
  selects: (pod: KubeObject) => boolean,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const one of pods) {
    const { nodeName } = one.spec;
    if (selects(one)) counts.set(nodeName, (counts.get(nodeName) ?? 0) + 1);
  }
  return counts;
}

const predicates: readonly ((pod: KubeObject) => boolean)[] = [
  ({ metadata: { namespace, labels } }) => namespace === 'one' && labels?.app === 'web',
  ({ metadata: { namespace, labels } }) =>
    namespace === 'one' && labels?.app === 'web' && labels?.tier !== undefined,
  ({ metadata: { labels } }) => labels?.app !== 'web',
  ({ metadata: { namespace, labels } }) => namespace === 'two' && labels?.tier !== undefined,
  () => false,
];

it('pods are counted by what selects them, whatever happens to them', () => {
  fc.assert(
    fc.property(fc.array(stepDrawn, { maxLength: 40 }), fc.nat(40), (steps, askedAt) => {
      const pool = new NodePool((namespace) => ({ team: namespace }));
      for (const name of nodeNames) pool.setNode(node(name));
      const there = new Map<string, KubeObject>();
      for (const [at, step] of steps.entries()) {
        const one = podOf(step);
        const key = keyOf(one);
        if (step.state === 'gone') pool.deletePod(key);
        else pool.setPod(key, one);
        if (step.state === 'gone' || step.state === 'ended') there.delete(key);
        else there.set(key, one);
        if (at < askedAt) continue;
        for (const [index, selector] of selectors.entries()) {
          const isSelected = predicates[index] ?? assert.fail();
          const all = walked(there.values(), isSelected);
          const staying = walked(
            there.values(),
            (pod) => isSelected(pod) && !pod.metadata.deletionTimestamp,
          );
          assert.deepEqual(named(pool.tallies.of(selector)), all);
          assert.deepEqual(named(pool.tallies.staying(selector)), staying);
        }
        for (const name of nodeNames) {
          const count = [...there.values()].filter(({ spec }) => spec.nodeName === name).length;
          assert.equal(pool.place(name)?.pods.size, count);
        }
      }
    }),
  );
});

function named(
  counts: ReadonlyMap<{ readonly name: string }, number>,
): ReadonlyMap<string, number> {
  return new Map([...counts].map(([{ name }, count]) => [name, count]));
}
