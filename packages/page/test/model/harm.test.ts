import assert from 'node:assert/strict';
import { it } from 'node:test';
import { harmedBy } from '../../src/model/harm.ts';
import type { RunDocument } from '../../src/simulation.ts';
import { run, totals } from '../world/simulation.ts';

const web = 'Deployment shop/web';
const ready = { at: 0, ready: 'True', cordoned: false, taints: [] } as const;
const nodes = ['a-1', 'a-2', 'b-1', 'c'].map((name) => {
  return { name, zone: name.length > 1 ? name.slice(0, 1) : '', states: [ready] };
});
const eviction = (node: string, workload = web) => ({
  ...{ namespace: 'shop', pod: `on-${node}`, workload, node, at: 1, because: [] },
  how: 'delete' as const,
});
const budget = { namespace: 'shop', name: 'web', states: [], workloads: [web] };

/** With budgets and causes in its summary. */
function played(
  evicted: readonly string[],
  summary: Partial<RunDocument['summary']> = {},
): RunDocument {
  const of = run({
    nodes,
    evictions: [...evicted.map((node) => eviction(node)), eviction('b-1', 'Deployment shop/api')],
    budgets: [budget],
    summary: [totals('web')],
  });
  return { ...of, summary: { ...of.summary, ...summary } };
}

const kept = { workload: web, pods: 3, from: 0, until: null, text: '' };

for (const [what, of, wanted] of [
  ['nothing is known', played([]), ''],
  ['one node', played(['a-1', 'a-1']), 'a-1 of a'],
  ['nodes of a zone', played(['a-1', 'a-2']), '2 nodes of a'],
  ['nodes of several zones', played(['a-1', 'b-1']), '2 nodes of 2 zones'],
  ['a node in no zone', played(['c']), 'c'],
  [
    'budgets that were not kept, or refused',
    played([], {
      budgets: [
        { namespace: 'shop', name: 'web', belowMax: 2, belowSeconds: 61, refusals: 4 },
        { namespace: 'shop', name: 'api', belowMax: 1, belowSeconds: 1, refusals: 1 },
      ],
    }),
    'budget web: 2 too few for 1m1s, refused 4',
  ],
  [
    'a budget that was kept',
    played([], { budgets: [{ ...budget, belowMax: 0, belowSeconds: 0, refusals: 0 }] }),
    '',
  ],
  [
    'what kept its pods',
    played([], {
      causes: [
        { ...kept, kind: 'room', name: '' },
        { ...kept, kind: 'limit', name: 'policy=all', pods: 1 },
        { ...kept, kind: 'room', name: '', workload: 'Deployment shop/api' },
      ],
    }),
    'no room for 3 pods; held by limit policy=all for 1 pod',
  ],
] as const) {
  it(`a workload is harmed by ${what}`, () => assert.equal(harmedBy(of, web), wanted));
}
