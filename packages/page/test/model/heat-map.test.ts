import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  columnsMax,
  type HeatLook,
  type HeatMap,
  heatMapOf,
  namespacesOf,
} from '../../src/model/heat-map.ts';
import { downFor, harmed, losses, lossOf } from '../world/losses.ts';

const all: HeatLook = { measure: 'lost', namespace: '', query: '', rowsMax: 10 };

/** A line for each row: its name, then its cells. */
function drawn({ rows }: HeatMap): readonly string[] {
  return rows.map(({ key, cells }) => {
    const texts = cells.map((cell) => (cell ? `${cell.text}/${cell.level}` : '.'));
    return [key, ...texts].join(' ');
  });
}

const input = losses([
  lossOf('a-1', {
    nodes: ['a-1'],
    workloads: [
      downFor('agent', 40, { kind: 'DaemonSet' }),
      downFor('web', 20, { downMax: 4 }),
      downFor('api', 12, { namespace: 'pay', unknown: ['Foo'] }),
    ],
  }),
  lossOf('b-1', { workloads: [downFor('web', 2, { unplacedAtEnd: 1 }), harmed('db')] }),
  lossOf('c-1', { workloads: [downFor('api', 5, { namespace: 'pay', downMax: 3 })] }),
  lossOf('d-1', {}),
]);

const looks: readonly (readonly [
  name: string,
  look: Partial<HeatLook>,
  columns: string,
  rows: readonly string[],
])[] = [
  [
    'all',
    {},
    'shop/web, pay/api, shop/db, shop/agent (DaemonSet)',
    ['a-1 20/4 12?/4 . 40/5', 'b-1 2.0/1 . 0/0 .', 'c-1 . 5.0/2 . .', 'd-1 . . . .'],
  ],
  [
    'the largest share',
    { measure: 'share' },
    'shop/web, pay/api, shop/db, shop/agent (DaemonSet)',
    ['a-1 100%/5 25%?/1 . 25%/1', 'b-1 25%/1 . 0%/0 .', 'c-1 . 75%/3 . .', 'd-1 . . . .'],
  ],
  [
    'a namespace, of which the worst is another loss',
    { namespace: 'pay' },
    'pay/api',
    ['a-1 12?/5', 'c-1 5.0/3', 'b-1 .', 'd-1 .'],
  ],
  ['the loss that is searched', { query: ' C-1 ' }, 'pay/api', ['c-1 5.0/5']],
  [
    'the workload that is searched',
    { query: 'web' },
    'shop/web',
    ['a-1 20/5', 'b-1 2.0/2', 'c-1 .', 'd-1 .'],
  ],
  ['nothing, as nothing has that name', { query: 'zzz' }, '', []],
  ['nothing, as there is no such namespace', { namespace: 'zzz', query: 'web' }, '', []],
  [
    'the worst two, with the workloads that these harm',
    { rowsMax: 2, query: '-1' },
    'shop/web, pay/api, shop/db, shop/agent (DaemonSet)',
    ['a-1 20/4 12?/4 . 40/5', 'b-1 2.0/1 . 0/0 .'],
  ],
];

describe('the heat map', () => {
  for (const [name, look, columns, rows] of looks) {
    it(`shows ${name}`, () => {
      const map = heatMapOf(input, { ...all, ...look });
      assert.equal(map.columns.map(({ label }) => label).join(', '), columns);
      assert.deepEqual(drawn(map), rows);
    });
  }

  it('says in the name of a cell what its colour and its marks say', () => {
    const { rows, marks } = heatMapOf(input, all);
    assert.deepEqual(
      rows.flatMap(({ cells }) => cells.flatMap((cell) => cell?.name ?? [])).slice(0, 5),
      [
        'shop/web: 4 of 4 down for 20m, 20 pod-minutes',
        'pay/api: 1 of 4 down for 12m, 12 pod-minutes, figures may be wrong',
        'shop/agent (DaemonSet): 1 of 4 down for 40m, 40 pod-minutes',
        'shop/web: 1 of 4 down for 2m, 2.0 pod-minutes, no room for 1',
        'shop/db: never down, 0 evictions, 0 pod-minutes',
      ],
    );
    assert.deepEqual(marks, { unknown: true, unplaced: true, moved: true });
  });

  it('has four limits, of which the hottest cell is over the last', () => {
    const limitsFor = (minutes: number): readonly number[] =>
      heatMapOf(losses([lossOf('a', { workloads: [downFor('web', minutes)] })]), all).limits;
    for (const [minutes, expected] of [
      [0.02, [0.1, 0.2, 0.5, 1]],
      [3, [0.2, 0.5, 1, 2]],
      [11, [1, 2, 5, 10]],
      [619, [50, 100, 200, 500]],
      [2_000_000, [50_000, 100_000, 200_000, 500_000]],
    ] as const) {
      assert.deepEqual(limitsFor(minutes), expected);
    }
  });

  it('sums in rows what is shown, and else what the document says', () => {
    const sums = (look: Partial<HeatLook>): readonly (readonly number[])[] =>
      heatMapOf(input, { ...all, ...look }).rows.map(({ podMinutesLost, evictions }) => {
        return [podMinutesLost, evictions];
      });
    assert.deepEqual(sums({}), [
      [72, 3],
      [2, 1],
      [5, 1],
      [0, 0],
    ]);
    assert.deepEqual(sums({ namespace: 'pay' }), [
      [12, 1],
      [5, 1],
      [0, 0],
      [0, 0],
    ]);
  });

  it('names each namespace in which something is harmed once', () => {
    assert.deepEqual(namespacesOf(input), ['pay', 'shop']);
  });

  it('has a column for each of the worst workloads, one for the others, and loses nothing', () => {
    const workload = fc.record({ id: fc.nat(80), minutes: fc.integer({ min: 1, max: 99 }) });
    const loss = fc.uniqueArray(workload, { selector: ({ id }) => id, maxLength: 60 });
    fc.assert(
      fc.property(fc.array(loss, { maxLength: 6 }), (many) => {
        const own = losses(
          many.map((one, at) => {
            const workloads = one.map(({ id, minutes }) => downFor(`w${id}`, minutes));
            return lossOf(`n${at}`, { workloads });
          }),
        );
        const { columns, others, rows } = heatMapOf(own, all);
        const names = new Set(many.flat().map(({ id }) => id));
        assert.equal(columns.length + others, names.size);
        assert.ok(columns.length <= columnsMax + 1 && others !== 1);
        rows.forEach(({ cells, loss: { workloads } }) => {
          const rest = workloads.length - cells.slice(0, columns.length).filter(Boolean).length;
          const last = others > 0 ? (cells[columns.length]?.name ?? '0 others') : '0 others';
          assert.equal(Number.parseInt(last, 10), rest, last);
        });
      }),
    );
  });
});
