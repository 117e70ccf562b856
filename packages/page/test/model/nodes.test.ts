import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { zoneRows } from '../../src/model/nodes.ts';
import { aboutsOf } from '../../src/model/row.ts';
import { clock } from '../../src/model/words.ts';
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

const rowsOf = (...opened: readonly string[]) => zoneRows(outage, end, new Set(opened));
const shown = (...opened: readonly string[]) =>
  rowsOf(...opened).map(({ label, note }) => (note === '' ? label : `${label} (${note})`));

describe('the lanes of zones', () => {
  it('come by harm and say what happened in them', () => {
    assert.deepEqual(shown(), [
      'Zones and nodes: nodes not ready',
      'r/b (1 of 2 not ready, 1 eviction)',
      'r/a (1 node, calm)',
    ]);
  });

  it('open into nodes, those to which nothing happens folded, and nodes into pods', () => {
    assert.deepEqual(shown('z r/b'), [
      'Zones and nodes: nodes not ready',
      'r/b (1 of 2 not ready, 1 eviction)',
      'b-1 (1 eviction)',
      '1 node to which nothing happens',
      'r/a (1 node, calm)',
    ]);
    assert.deepEqual(shown('z r/b', 'z r/b calm', 'n b-1').slice(2, 6), [
      'b-1 (1 eviction)',
      'shop/web-1',
      '1 node to which nothing happens',
      'b-2',
    ]);
  });

  it('count nodes that are not ready, and show taints and holds', () => {
    const [, zone] = rowsOf();
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
