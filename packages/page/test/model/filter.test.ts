import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LiveHistory, type LiveMoment, type LivePod } from '@taintmgr/page';
import {
  type Filter,
  filtered,
  liveFiltered,
  livePlacesOf,
  noFilter,
  placesOf,
} from '../../src/model/filter.ts';
import { pageData } from '../../src/model/page-data.ts';
import { rowsOf } from '../../src/model/rows.ts';
import { run, simulation, totals } from '../world/simulation.ts';

const ready = { at: 0, ready: 'True', cordoned: false, taints: [] } as const;
const pod = (name: string, node: string, workload: string) => {
  const [namespace = ''] = name.split('/');
  return { namespace, pod: name.slice(namespace.length + 1), node, workload };
};
const web = 'Deployment shop/web';
const db = 'StatefulSet data/db';
const pods = [
  ...[pod('shop/web-1', 'a-1', web), pod('shop/web-2', 'b-1', web)],
  pod('data/db-0', 'b-1', db),
];
const [web1 = assert.fail(), web2 = assert.fail(), db0 = assert.fail()] = pods;
const because = ['x'];
const ended = { setAt: 10, dueAt: 50, endedAt: 50, because };

/** web-1 of zone a is evicted, web-2 of zone b is refused by its budget, and db-0 may stay. */
const played = simulation(
  run({
    pods,
    nodes: [
      { name: 'a-1', zone: 'a', states: [ready] },
      { name: 'b-1', zone: 'b', states: [ready, { ...ready, at: 5, taints: ['x:NoExecute'] }] },
      { name: 'c-1', zone: 'c', states: [ready] },
    ],
    workloads: [
      { kind: 'Deployment', namespace: 'shop', name: 'web', states: [], serving: [] },
      { kind: 'StatefulSet', namespace: 'data', name: 'db', states: [], serving: [] },
    ],
    evictions: [{ ...web1, at: 50, how: 'evict', because }],
    refusals: [{ ...web2, budget: 'shop/web', firstAt: 50, lastAt: 60, count: 2, message: 'no' }],
    deadlines: [
      { ...web1, ...ended, end: 'evicted' },
      { ...db0, ...ended, end: 'cancelled' },
    ],
    summary: [
      totals('web', { downMax: 1, evictions: 1 }),
      totals('db', { kind: 'StatefulSet', namespace: 'data' }),
    ],
  }),
);

function shown(filter: Partial<Filter>) {
  const [one = assert.fail()] = filtered(played, { ...noFilter, ...filter }).runs;
  const named = (list: readonly { readonly pod: string }[]) => list.map((each) => each.pod);
  return {
    workloads: one.workloads.map(({ name }) => name),
    nodes: one.nodes.map(({ name }) => name),
    pods: [...named(one.evictions), ...named(one.refusals), ...named(one.deadlines)],
  };
}

describe('a filter of a simulation', () => {
  const nodes = ['a-1', 'b-1', 'c-1'];
  const cases: readonly (readonly [Partial<Filter>, ReturnType<typeof shown>])[] = [
    [{}, { workloads: ['web', 'db'], nodes, pods: ['web-1', 'web-2', 'web-1', 'db-0'] }],
    [{ namespace: 'data' }, { workloads: ['db'], nodes, pods: ['db-0'] }],
    [{ zone: 'a' }, { workloads: ['web'], nodes: ['a-1'], pods: ['web-1', 'web-1'] }],
    [{ zone: 'c' }, { workloads: [], nodes: ['c-1'], pods: [] }],
    [{ outcome: 'evicted' }, { workloads: ['web'], nodes: ['a-1'], pods: ['web-1', 'web-1'] }],
    [{ outcome: 'refused' }, { workloads: ['web'], nodes: ['b-1'], pods: ['web-2'] }],
    [{ outcome: 'called-off' }, { workloads: ['db'], nodes: ['b-1'], pods: ['db-0'] }],
    [
      { outcome: 'refused', zone: 'a' },
      { workloads: [], nodes: [], pods: [] },
    ],
    [{ outcome: 'held' }, { workloads: [], nodes: [], pods: [] }],
    [{ namespace: 'elsewhere' }, { workloads: [], nodes, pods: [] }],
  ];
  for (const [filter, expected] of cases) {
    it(`${JSON.stringify(filter)} leaves ${expected.workloads.join() || 'no workload'}`, () =>
      assert.deepEqual(shown(filter), expected));
  }

  it('leaves sums only where they are of what is left', () => {
    const sum = { workloads: 1, downMax: 1, podMinutesLost: 1, evictions: 1, unplaced: 0 };
    const places = (...names: readonly string[]) => names.map((name) => ({ name, ...sum }));
    const runs = played.runs.map((one) => ({
      ...one,
      summary: { ...one.summary, namespaces: places('data', 'shop'), zones: places('a', 'b') },
    }));
    const sums = (filter: Partial<Filter>): string => {
      const [one = assert.fail()] = filtered({ ...played, runs }, { ...noFilter, ...filter }).runs;
      return [...one.summary.namespaces, ...one.summary.zones].map(({ name }) => name).join();
    };
    assert.deepEqual(
      [{}, { namespace: 'shop' }, { zone: 'b' }, { namespace: 'shop', zone: 'b' }].map(sums),
      ['data,shop,a,b', 'shop', 'b', ''],
    );
    assert.equal(sums({ outcome: 'evicted' }), '');
  });

  it('leaves the same of the data that a page has', () => {
    const page = { ...played, ...pageData(played) };
    for (const [filter] of cases) {
      const [whole, own] = [played, page].map((input) =>
        filtered(input, { ...noFilter, ...filter }),
      );
      const rows = [whole, own].map((input) => {
        const choice = { opened: new Set<string>(), query: '', isHarmOnly: false };
        return rowsOf(input ?? assert.fail(), choice).map(({ key, note }) => `${key} ${note}`);
      });
      assert.deepEqual(rows[1], rows[0]);
    }
  });

  it('leaves the whole as it is where nothing is chosen', () => {
    assert.equal(filtered(played, noFilter), played);
  });

  it('offers the namespaces and zones that there are', () => {
    assert.deepEqual(placesOf(played), { namespaces: ['data', 'shop'], zones: ['a', 'b', 'c'] });
  });

  it('drops what nothing happens in, and headings with nothing under them', () => {
    const choice = { opened: new Set<string>(), query: '' };
    const labels = (isHarmOnly: boolean) =>
      rowsOf(played, { ...choice, isHarmOnly }).map(({ label }) => label);
    assert.deepEqual(labels(false), [
      ...['Workloads: pods down, of all replicas', 'shop/web', '1 more that are not affected'],
      ...['Zones and nodes: nodes not ready', 'b', 'a', 'c'],
    ]);
    assert.deepEqual(labels(true), [
      ...['Workloads: pods down, of all replicas', 'shop/web'],
      ...['Zones and nodes: nodes not ready', 'b', 'a'],
    ]);
    const none = filtered(played, { ...noFilter, namespace: 'elsewhere', zone: 'c' });
    assert.deepEqual(rowsOf(none, { ...choice, isHarmOnly: true }), []);
  });
});

describe('a filter of a live cluster', () => {
  const of = (name: string, node: string, said: Partial<LivePod>): LivePod => {
    const [namespace = '', only = ''] = name.split('/');
    return {
      ...{ uid: name, namespace, pod: only, node, workload: null, state: 'Evict', setAt: 1000 },
      ...{ dueAt: 9_000_000, remainingSeconds: null, isEstimate: false, evictor: null },
      ...{ because, holds: [] },
      ...said,
    };
  };
  const zones = ['a', 'b'].map((name) => {
    const none = { notReady: 0, tainted: 0, pending: 0, overdue: 0, heldPods: 0, blocked: 0 };
    return { name, state: 'Normal', held: null, nodes: 1, ...none, stuck: 0 };
  });
  const moment: LiveMoment = {
    ...{ at: 2000, evictedBy: 'nobody', warnings: [], notes: [], zones },
    nodes: ['a', 'b'].map((zone) => ({ ...ready, name: `${zone}-1`, zone })),
    pods: [
      of('shop/web-1', 'a-1', { holds: [{ kind: 'PDB', name: 'web', text: 'no' }] }),
      of('shop/web-2', 'b-1', { state: 'Terminating' }),
      of('data/db-0', 'b-1', { state: 'Held' }),
    ],
    ...{ podsLeftOut: 0, actions: [] },
  };
  const history = new LiveHistory('test', 0);
  history.take(moment);
  // One has left.
  history.take({
    ...moment,
    at: 4000,
    pods: moment.pods.filter(({ pod: name }) => name !== 'web-2'),
  });
  const input = history.input() ?? assert.fail();

  const cases: readonly (readonly [
    Partial<Filter>,
    readonly string[],
    number,
    readonly string[],
  ])[] = [
    [{}, ['web-1', 'db-0'], 1, ['a', 'b']],
    [{ namespace: 'data' }, ['db-0'], 0, ['a', 'b']],
    [{ zone: 'a' }, ['web-1'], 0, ['a']],
    [{ outcome: 'blocked' }, ['web-1'], 0, ['a', 'b']],
    [{ outcome: 'Held' }, ['db-0'], 0, ['a', 'b']],
    [{ outcome: 'left' }, [], 1, ['a', 'b']],
  ];
  for (const [filter, names, left, inZones] of cases) {
    it(`${JSON.stringify(filter)} leaves ${names.join() || 'no pod'}`, () => {
      const rest = liveFiltered(input, { ...noFilter, ...filter });
      assert.deepEqual(
        rest.pods.map((one) => one.pod),
        names,
      );
      assert.equal(rest.record.evictions.length, left);
      assert.deepEqual(
        rest.zones.map(({ name }) => name),
        inZones,
      );
    });
  }

  it('offers namespaces also of those that have left', () => {
    assert.deepEqual(livePlacesOf(input), { namespaces: ['data', 'shop'], zones: ['a', 'b'] });
  });
});
