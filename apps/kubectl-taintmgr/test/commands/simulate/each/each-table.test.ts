import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EachDocument, Loss } from '@taintmgr/page';
import { eachTable } from '../../../../src/commands/simulate/each/each-table.ts';
import { plain } from '../../../../src/render/style.ts';

function loss(name: string, more: Partial<Loss> = {}): Loss {
  const figures = { evictions: 0, podMinutesLost: 0, refusals: 0, blocked: 0, pods: 3 };
  const unplaced = { pods: 0, atOnceMax: 0, atEnd: 0 };
  const event = `{at: 1m, stopKubelet: {node: ${name}}}`;
  return {
    name,
    event,
    nodes: [name],
    failed: null,
    ...figures,
    unplaced,
    workloads: [],
    budgets: [],
    ...more,
  };
}

function workload(
  name: string,
  downMax: number,
  unplacedAtEnd: number,
  unknown?: readonly string[],
) {
  const times = {
    downSeconds: 396,
    outageSeconds: 0,
    podMinutesLost: 62,
    downAtEnd: 0,
    evictions: 10,
  };
  const wanted = { wanted: 30, downWorstWanted: 30 };
  return {
    kind: 'Deployment',
    namespace: 'shop',
    name,
    downMax,
    ...wanted,
    ...times,
    unplacedAtEnd,
    ...(unknown && { unknown }),
  };
}

const worst = loss('node-1', {
  podMinutesLost: 62.04,
  unplaced: { pods: 4, atOnceMax: 4, atEnd: 4 },
  blocked: 2,
  workloads: [workload('web', 10, 1, ['pod affinity']), workload('db', 3, 3)],
  budgets: [
    { namespace: 'shop', name: 'web', refusals: 9, belowMax: 7, belowSeconds: 0.2, blocked: 2 },
  ],
});

function document(losses: readonly Loss[], more: Partial<EachDocument> = {}): EachDocument {
  const common = {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'LossSimulation',
    source: 'a.json',
  } as const;
  const asked = { each: 'node', by: 'down', seed: 1, startsAt: '2026-01-01T00:00:00Z' } as const;
  const found = {
    rules: 'taintmgr',
    complete: true,
    missing: [],
    notes: [],
    unplayed: [],
  } as const;
  const command = 'kubectl taintmgr simulate -f a.json';
  return { ...common, ...asked, ...found, untilSeconds: 1800, command, losses, ...more };
}

const usual = { wide: false, headers: true, width: null, paint: plain };
const many = Array.from({ length: 300 }, (_, index) =>
  loss(`node-${index}`, { podMinutesLost: 300 - index, workloads: [workload('web', 1, 0)] }),
);

describe('the table of losses', () => {
  it('answers first, then tells each loss', () => {
    const lines = eachTable(
      document([worst, loss('node-2'), loss('node-3', { failed: 'no memory' })]),
      usual,
    );
    assert.equal(
      lines,
      [
        'worst: node node-1: 62 pod-minutes, PDB shop/web below by 7, no room for 4 pods, budgets keep 2 pods',
        '',
        'LOSS     POD-MINUTES   NO ROOM           BUDGETS BROKEN          STAY            WORST                              EVICTIONS   PODS   NODES',
        'node-1   62            3 of shop/db +1   shop/web by 7 for <1s   2 by shop/web   shop/web ? 10 of 30 for 6m36s +1   0           3      1',
        'node-3   <none>        <none>            <none>                  <none>          failed: no memory                  <none>      3      1',
        '',
        'nothing is affected by the loss of: node node-2',
        '',
        '30m of a.json, in which each of 3 nodes is lost at 1m: its machines die; seed 1',
        '? shop/web: pod affinity, which is not simulated',
      ].join('\n'),
    );
  });

  it('has a hundred lines at most, unless more are asked for', () => {
    const lines = (...args: Parameters<typeof eachTable>) => eachTable(...args).split('\n');
    const all = document(many, { unplayed: many.map(({ name }) => name) });
    assert.ok(lines(all, usual).length <= 100);
    assert.ok(lines(all, usual).includes('and 220 more, which harm less; --top all shows all'));
    assert.ok(lines(all, usual, 299).includes('and 1 more, which harms less; --top all shows all'));
    assert.equal(lines(all, usual, 5).filter((line) => line.startsWith('node-')).length, 5);
    assert.equal(lines(all, usual, 'all').filter((line) => line.startsWith('node-')).length, 300);
    assert.equal(
      lines(all, { ...usual, wide: true }).filter((line) => line.startsWith('node-')).length,
      300,
    );
  });

  const answers: readonly (readonly [string, readonly Loss[], string])[] = [
    ['nothing is harmed', [loss('node-1'), loss('node-2')], 'no loss affects anything'],
    [
      'pods have no room without a loss either',
      [loss('node-1', { unplaced: { pods: 1, atOnceMax: 1, atEnd: 1 } })],
      'no loss affects anything',
    ],
    ['all failed', [loss('node-1', { failed: 'no memory' })], 'no loss could be played'],
    ['none was played', [], 'no loss was played'],
  ];
  for (const [what, losses, answer] of answers) {
    it(`says so where ${what}`, () => {
      assert.equal(eachTable(document(losses), usual).split('\n')[0], answer);
    });
  }
});
