import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pageData } from '../../src/model/page-data.ts';
import { reason, run, simulation } from '../world/simulation.ts';

const pod = (name: string, node: string) => ({
  ...{ namespace: 'shop', pod: name, workload: 'Deployment shop/web', node },
});
const states = [{ at: 0, state: 'serving' }] as const;
const ready = { at: 0, ready: 'True', cordoned: false, taints: [] } as const;

it('a page has one pod of a workload in each zone, and of reasons those of evictions', () => {
  const because = ['no toleration'];
  const reasons = [reason({})];
  const played = run({
    pods: [pod('1', 'a-1'), pod('2', 'a-2'), pod('3', 'b-1')].map((one) => ({ ...one, states })),
    nodes: ['a-1', 'a-2', 'b-1'].map((name) => {
      return { name, zone: name.slice(0, 1), states: [ready], pods: [{ at: 0, count: 1 }] };
    }),
    deadlines: [
      { ...pod('1', 'a-1'), setAt: 0, dueAt: 1, endedAt: 1, end: 'evicted', because, reasons },
    ],
    evictions: [{ ...pod('1', 'a-1'), at: 1, how: 'delete', because, reasons }],
  });
  const [of = assert.fail()] = pageData(simulation(played)).runs;
  assert.deepEqual(
    of.pods.map(({ pod: name, states: kept }) => [name, kept.length]),
    [
      ['1', 0],
      ['3', 0],
    ],
  );
  assert.deepEqual(
    of.nodes,
    played.nodes.map((node) => ({ ...node, pods: [] })),
  );
  assert.deepEqual([of.deadlines[0]?.reasons, of.evictions[0]?.reasons], [[], reasons]);
});
