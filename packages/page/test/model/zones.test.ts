import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { aboutsOf, bandsOf } from '../../src/model/row.ts';
import { clock } from '../../src/model/words.ts';
import { zoneRows } from '../../src/model/zones.ts';
import { run } from '../world/simulation.ts';

const ready = { at: 0, ready: 'True', cordoned: false, taints: [] } as const;
const taints = ['node.kubernetes.io/unreachable:NoExecute'];
const lost = { at: 120, ready: 'Unknown', cordoned: true, taints } as const;
const named = { namespace: 'shop', pod: 'web-1', workload: null, node: 'b-1' };

/** Of zone b one node is lost for a minute and loses a pod; zone a is calm. */
const outage = run({
  nodes: [
    { name: 'a-1', zone: 'r/a', states: [ready] },
    { name: 'b-1', zone: 'r/b', states: [ready, lost, { ...ready, at: 180 }] },
    { name: 'b-2', zone: 'r/b', states: [ready] },
  ],
  zones: [
    {
      name: 'r/b',
      states: [
        { at: 0, state: 'Normal', held: null },
        { at: 130, state: 'FullDisruption', held: 'all zones are down' },
        { at: 170, state: 'Normal', held: null },
      ],
    },
  ],
  evictions: [{ ...named, at: 150, how: 'evict', because: ['b'] }],
});
const end = 600;

const rowsOf = (...opened: readonly string[]) =>
  zoneRows([{ ...outage, variant: null }], end, new Set(opened));
const shown = (...opened: readonly string[]) =>
  rowsOf(...opened).map(({ label, note }) => (note === '' ? label : `${label} (${note})`));

describe('the lanes of zones', () => {
  it('come by harm and say what happened in them', () => {
    assert.deepEqual(shown(), [
      'Zones and nodes: nodes not ready',
      'r/b (1 of 2 not ready, 1 eviction)',
      'r/a (1 node, all ready)',
    ]);
  });

  it('open into nodes, those to which nothing happens folded, and nodes into pods', () => {
    assert.deepEqual(shown('z r/b'), [
      'Zones and nodes: nodes not ready',
      'r/b (1 of 2 not ready, 1 eviction)',
      'b-1 (1 eviction)',
      '1 node not affected',
      'r/a (1 node, all ready)',
    ]);
    assert.deepEqual(shown('z r/b', 'z r/b calm', 'n b-1').slice(2, 6), [
      'b-1 (1 eviction)',
      'shop/web-1',
      '1 node not affected',
      'b-2',
    ]);
  });

  it('count nodes that are not ready, of all nodes, and show taints and holds', () => {
    const [, zone] = rowsOf();
    assert.equal(zone?.area?.most, 2);
    assert.deepEqual(
      zone?.area?.steps.map(({ at, value }) => [at, value]),
      [
        [120, 1],
        [180, 0],
      ],
    );
    assert.deepEqual(
      zone.bars.map(({ from, until, fill }) => [from, until, fill]),
      [
        [120, 180, 'tainted'],
        [130, 170, 'held'],
      ],
    );
  });

  it('say why, in the order of time', () => {
    const [, , node] = rowsOf('z r/b');
    assert.ok(node);
    const [first] = aboutsOf(node, end, clock);
    assert.deepEqual(first, {
      at: 120,
      title: 'b-1: Ready=Unknown',
      facts: [
        ['taints', taints.join()],
        ['cordoned', 'yes'],
        ['from', '0:02:00 – 0:03:00'],
      ],
    });
  });
});

describe('a zone in few words', () => {
  const taint = (key: string) => ({ ...ready, taints: [`${key}:NoExecute`] });
  const noted = (tense: 'ever' | 'now', ...states: (typeof outage.nodes)[number]['states'][]) => {
    const nodes = states.map((one, index) => ({ name: `n-${index}`, zone: 'z', states: one }));
    return zoneRows([{ ...run({ nodes }), variant: null }], end, new Set(), tense).at(-1)?.note;
  };
  const back = [lost, { ...ready, at: 300 }];
  const cases: readonly (readonly [string, string | undefined, string])[] = [
    [
      'of which two are tainted from the start',
      noted('now', [taint('a')], [taint('b')], [ready]),
      '2 of 3 tainted',
    ],
    [
      'the same of a simulation',
      noted('ever', [taint('a')], [taint('b')], [ready]),
      '2 of 3 tainted',
    ],
    ['that is well again', noted('now', back, [ready]), '2 nodes, all ready'],
    ['that was lost in a simulation', noted('ever', back, [ready]), '1 of 2 not ready'],
    [
      'with a lost and a tainted node',
      noted('now', [lost], [taint('a')], [ready]),
      '1 of 3 not ready, 2 tainted, 1 cordoned',
    ],
    ['whose cordon is all', noted('now', [{ ...ready, cordoned: true }]), '1 of 1 cordoned'],
    [
      'with a node that is gone',
      noted('now', [{ ...ready, ready: 'Gone' }], [ready]),
      '1 node, all ready',
    ],
    [
      'with other taints',
      noted('now', [{ ...ready, taints: ['a:NoSchedule'] }]),
      '1 node, all ready',
    ],
  ];
  for (const [name, note, expected] of cases)
    it(`${name}: ${expected}`, () => assert.equal(note, expected));

  it('shows a node that was tainted from the start, before those to which nothing happens', () => {
    const nodes = [
      { name: 'n-1', zone: 'z', states: [ready] },
      { name: 'n-2', zone: 'z', states: [taint('a')] },
    ];
    const labels = zoneRows([{ ...run({ nodes }), variant: null }], end, new Set(['z z'])).map(
      ({ label }) => label,
    );
    assert.deepEqual(labels.slice(2), ['n-2', '1 node not affected']);
  });
});

describe('the zones of two variants', () => {
  const shop = (pod: string, at: number) => {
    return { ...named, pod, at, how: 'evict', because: [] } as const;
  };
  const other = { ...outage, evictions: [shop('web-1', 150), shop('web-2', 160)] };
  const runs = [
    { ...outage, variant: 'A' },
    { ...other, variant: 'B' },
  ];
  const lanes = (...opened: readonly string[]) =>
    zoneRows(runs, end, new Set(opened)).map((row) => {
      const notes = bandsOf(row).map(({ variant, note }) => `${variant ?? ''}: ${note}`);
      return [row.label, row.isOpen, ...notes];
    });

  it('have a band for each in one lane, with what the other one has more', () => {
    assert.deepEqual(lanes().slice(1), [
      ['r/b', false, 'A: 1 of 2 not ready, 1 eviction', 'B: 1 of 2 not ready, 2 evictions (+1)'],
      ['r/a', false, ': 1 node, all ready'],
    ]);
  });

  it('open into nodes of both, and these into the pods of each', () => {
    assert.deepEqual(lanes('z r/b', 'n b-1').slice(2, 7), [
      ['b-1', true, 'A: 1 eviction', 'B: 2 evictions (+1)'],
      ['shop/web-1', null, 'A: '],
      ['shop/web-1', null, 'B: '],
      ['shop/web-2', null, 'B: '],
      ['1 node not affected', false, ': '],
    ]);
  });

  it('say of each thing whose it is', () => {
    const [, zone = assert.fail()] = zoneRows(runs, end, new Set());
    const titles = aboutsOf(zone, end, clock).map(({ title }) => title);
    assert.ok(titles.includes('A: shop/web-1 evicted'), titles.join());
    assert.ok(titles.includes('B: shop/web-2 evicted'), titles.join());
  });

  it('have one key for each lane', () => {
    const keys = zoneRows(runs, end, new Set(['z r/b', 'z r/b calm', 'n b-1'])).map(
      (row) => row.key,
    );
    assert.equal(new Set(keys).size, keys.length, keys.join('\n'));
  });
});
