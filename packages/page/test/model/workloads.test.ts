import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bandsOf, type Row } from '../../src/model/row.ts';
import { rowsOf } from '../../src/model/rows.ts';
import { clock } from '../../src/model/words.ts';
import { allWorkloads, byHarm, longerDown, workloadRows } from '../../src/model/workloads.ts';
import { run, simulation, totals } from '../world/simulation.ts';

const evicted = {
  namespace: 'shop',
  pod: 'web-1',
  workload: 'Deployment shop/web',
  node: 'n1',
  at: 60,
  how: 'evict',
  because: ['no toleration for a:NoExecute'],
} as const;

/** Three pods of web, of which two are down from 60 to 90 and one is noticed; the budget allows one. */
const web = run({
  summary: [
    totals('calm'),
    totals('web', { downMax: 2, downSeconds: 30, podMinutesLost: 1, evictions: 1 }),
  ],
  workloads: [
    {
      ...{ kind: 'Deployment', namespace: 'shop', name: 'web' },
      states: [
        { at: 0, wanted: 3, ready: 3 },
        { at: 70, wanted: 3, ready: 2 },
        { at: 90, wanted: 3, ready: 3 },
      ],
      serving: [
        { at: 0, pods: 3 },
        { at: 60, pods: 1 },
        { at: 90, pods: 3 },
      ],
    },
  ],
  budgets: [
    {
      ...{ namespace: 'shop', name: 'at-least-two', workloads: ['Deployment shop/web'] },
      states: [{ at: 0, healthy: 3, desired: 2 }],
    },
    // Of two the strictest is drawn, and none that is about others as well.
    {
      ...{ namespace: 'shop', name: 'web', workloads: ['Deployment shop/web'] },
      states: [{ at: 0, healthy: 3, desired: 1 }],
    },
    {
      namespace: 'shop',
      name: 'all',
      workloads: ['Deployment shop/web', 'Deployment shop/api'],
      states: [{ at: 0, healthy: 6, desired: 6 }],
    },
  ],
  evictions: [evicted],
});

const labels = (rows: readonly Row[]): readonly string[] =>
  rows.flatMap((row) =>
    bandsOf(row).map(({ note, variant }) => [row.label, note, variant ?? ''].join('|')),
  );

describe('the lanes of workloads', () => {
  it('come by harm, those of nodes last, and what is calm is folded', () => {
    const agents = totals('agent', { kind: 'DaemonSet', podMinutesLost: 99, downMax: 1 });
    const api = totals('api', { podMinutesLost: 2, downMax: 1, downSeconds: 5 });
    const input = simulation(run({ ...web, summary: [...web.summary.workloads, agents, api] }));
    assert.deepEqual(
      byHarm(input).map(({ name }) => name),
      ['api', 'web', 'agent', 'calm'],
    );
    assert.deepEqual(labels(workloadRows(input, new Set())), [
      'Workloads: pods down, of all replicas||',
      'shop/web|2 of 3, 30s|',
      '1 more that are not affected||',
    ]);
    const [, , , calm] = workloadRows(input, new Set(['calm-workloads']));
    assert.equal(calm?.label, 'Deployment shop/calm');
  });

  it('are of what only a later run has, too', () => {
    const after = run({ ...web, summary: [totals('new', { podMinutesLost: 5, downMax: 1 })] });
    const names = byHarm(simulation(web, after)).map(({ name }) => name);
    assert.deepEqual(names, ['new', 'web', 'calm']);
    const before = { ...web, workloads: [], summary: { ...web.summary, workloads: [] } };
    const [, row] = workloadRows(simulation(before, web), new Set());
    assert.deepEqual(labels(row ? [row] : []), [
      'shop/web|not there|taintmgr',
      'shop/web|2 of 3, 30s|taintmgr',
    ]);
  });

  it('have what is down, what was noticed of it, and what the budget allows', () => {
    const [, row] = workloadRows(simulation(web), new Set());
    assert.deepEqual(row?.area?.steps, [
      { at: 0, value: 0, noticed: 0, allowed: 1 },
      { at: 60, value: 2, noticed: 0, allowed: 1 },
      { at: 70, value: 2, noticed: 1, allowed: 1 },
      { at: 90, value: 0, noticed: 0, allowed: 1 },
    ]);
    assert.equal(row.area.most, 3, 'all replicas');
    assert.deepEqual(
      row.marks.map(({ at, shape }) => [at, shape]),
      [[60, 'evicted']],
    );
  });

  it('tell of each time how many pods were wanted then', () => {
    const [track = assert.fail()] = web.workloads;
    const states = [...track.states, { at: 100, wanted: 1, ready: 1 }];
    const scaled = { ...web, workloads: [{ ...track, states }] };
    const { area } = workloadRows(simulation(scaled), new Set())[1] ?? assert.fail();
    const step = area?.steps.find(({ at }) => at === 60) ?? assert.fail();
    assert.equal(area?.about(step, 70, clock).title, 'shop/web: 2 of 3 down');
  });

  it('are as high as the most replicas of any time and run', () => {
    const scaled = (wanted: number) => {
      const [track = assert.fail()] = web.workloads;
      const states = [{ at: 0, wanted, ready: wanted }];
      return { ...web, workloads: [{ ...track, states }] };
    };
    const [, row = assert.fail()] = workloadRows(simulation(scaled(4), scaled(7)), new Set());
    assert.deepEqual(
      bandsOf(row).map(({ area }) => area?.most),
      [7, 7],
    );
  });

  it('open into the pods to which something happened', () => {
    const [, closed] = workloadRows(simulation(web), new Set());
    assert.equal(closed?.isOpen, false);
    const rows = workloadRows(simulation(web), new Set(['w Deployment shop/web']));
    assert.equal(rows[2]?.label, 'shop/web-1');
  });

  it('have a band for each variant, on the scale of all replicas, with the difference', () => {
    const worse = run({
      ...web,
      name: 'B',
      summary: [totals('web', { downMax: 2, downSeconds: 42 })],
    });
    const rows = workloadRows(
      simulation(run({ ...web, name: 'A', summary: web.summary.workloads }), worse),
      new Set(),
    );
    assert.equal(rows[0]?.aside, 'above the line A, below B');
    assert.deepEqual(labels(rows.slice(1, 2)), [
      'shop/web|2 of 3, 30s|A',
      'shop/web|2 of 3, 42s (+12s)|B',
    ]);
    assert.deepEqual(
      rows
        .slice(1, 2)
        .flatMap(bandsOf)
        .map(({ area }) => area?.most),
      [3, 3],
    );
  });
});

describe('how much longer a workload was down than in the first run', () => {
  const own = totals('web', { downMax: 2, downSeconds: 30 });
  const first = totals('web', { downMax: 2, downSeconds: 33 });
  const id = { kind: own.kind, namespace: own.namespace, name: own.name };
  const nothing = { outageSeconds: 0, podMinutesLost: 0, unavailableMax: 0, downMax: 0 };
  const less = { downPercentMax: 0, unavailableSeconds: 0, evictions: 0, longestGapSeconds: 0 };
  const settledAt = (downSeconds: number) => ({
    ...run({ summary: [own] }),
    bands: { workloads: [] },
    differences: {
      ...{ evictions: 0, refusals: 0, nodesTainted: 0, budgets: [], totals: run().summary.totals },
      workloads: [{ ...id, ...nothing, ...less, downSeconds }],
    },
  });

  it('is as both are written where one seed was played', () => {
    assert.equal(longerDown(run({ summary: [own] }), own, first), '−3s');
  });

  it('is what several seeds have in common', () => {
    assert.equal(longerDown(settledAt(-2), own, first), '−2s');
  });

  it('is no difference where chance makes as much', () => {
    assert.equal(longerDown(settledAt(0), own, first), 'no difference');
  });
});

describe('many workloads that are harmed', () => {
  const named = (count: number) => Array.from({ length: count }, (_, index) => `w${index}`);
  const rowsOfSome = (count: number, ...opened: readonly string[]) => {
    const summary = named(count).map((name, index) =>
      totals(name, { downMax: 1, podMinutesLost: index }),
    );
    const id = { kind: 'Deployment', namespace: 'shop', states: [], serving: [] };
    const workloads = named(count).map((name) => ({ ...id, name }));
    const rows = workloadRows(simulation(run({ summary, workloads })), new Set(opened));
    return rows.slice(1).map(({ label, isOpen }) => `${label}${isOpen ? ' (open)' : ''}`);
  };
  const worst = (count: number) =>
    named(count)
      .map((name) => `shop/${name}`)
      .toReversed();

  it('are all shown as long as they are few', () => {
    assert.deepEqual(rowsOfSome(12), worst(12));
  });

  it('are the worst ten, and the others below a fold', () => {
    assert.deepEqual(rowsOfSome(13), [...worst(13).slice(0, 10), '3 more that are affected']);
    assert.deepEqual(rowsOfSome(13, allWorkloads), [
      ...worst(13).slice(0, 10),
      '3 more that are affected (open)',
      ...worst(13).slice(10),
    ]);
  });
});

it('of many things that keep pods those that keep most are shown', () => {
  const causes = Array.from({ length: 13 }, (_, index) => ({
    ...({ kind: 'budget', name: `b${index}`, workload: null, pods: index } as const),
    ...{ from: 0, until: 9, text: 'no' },
  }));
  const of = run({ summary: [totals('web')] });
  const input = simulation({ ...of, summary: { ...of.summary, causes } });
  const labelsOf = (...opened: readonly string[]) =>
    rowsOf(input, { opened: new Set(opened), query: '', isHarmOnly: true })
      .map(({ label }) => label)
      .filter((label) => /^budget|more$/.test(label));
  assert.deepEqual(labelsOf().slice(0, 2), ['budget b12', 'budget b11']);
  assert.equal(labelsOf().at(-1), '3 more');
  assert.equal(labelsOf('all-causes taintmgr').length, 14);
});
