import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { type Departure, departureFrom, gapFrom } from '../../src/history/departure.ts';

const whole: Departure = {
  ...{ namespace: 'shop', pod: 'web-1', uid: 'u1', node: 'a', seenAt: 1_000 },
  owner: { kind: 'ReplicaSet', name: 'web' },
  by: { kind: 'taintManager', source: 'condition', reason: 'DeletionByTaintManager', manager: 'k' },
  taint: {
    ...{ key: 'bad', value: '', effect: 'NoExecute', since: 900, sinceBy: 'timeAdded' },
    ...{ setBy: 'kubectl-taint', device: 'gpu.example.com/p/0' },
  },
  ...{ policy: 'slow', deadline: 2_000, way: 'eviction' },
  moves: [{ at: 1_500, from: 1_800, to: 2_000, why: 'Paused', words: 'pause night' }],
  refusals: [{ status: 429, words: 'no', count: 3, firstAt: 2_000, lastAt: 2_100 }],
  ...{ decidedAt: 1_000, askedAt: 2_000, answeredAt: 2_200, deletionTimestamp: 32_000 },
  goneAt: 20_000,
  successor: { pod: 'web-2', uid: 'u2', node: 'b', boundAt: 3_000, readyAt: 4_000 },
};

it('reads back what it was given', () => {
  assert.deepEqual(departureFrom(JSON.parse(JSON.stringify(whole))), whole);
  const gap = { from: 1, to: 2, why: 'tooMany', leader: 'me', namespace: 'shop', count: 7 };
  assert.deepEqual(gapFrom({ ...gap }), gap);
});

const { moves: _moves, refusals: _refusals, taint: _taint, owner: _owner, ...plain } = whole;

const odd: readonly [string, unknown, Departure | null][] = [
  ['nothing', null, null],
  ['no pod', { ...whole, pod: '' }, null],
  ['no time', { ...whole, seenAt: '1' }, null],
  ['a time that no Date can hold', { ...whole, seenAt: 9e15 }, null],
  ['an evictor of nobody', { ...whole, by: { kind: 'me', source: 'ownAct' } }, null],
  ['an owner without a name', { ...plain, owner: { kind: 'Job' } }, plain],
  ['a taint that is a text', { ...plain, taint: 'bad:NoExecute' }, plain],
  [
    'a fraction of a count',
    { ...plain, refusals: [{ ...whole.refusals?.[0], count: 0.5 }] },
    plain,
  ],
  ['a list of anything', { ...plain, moves: [null, 3, {}] }, plain],
  ['what nobody knows', { ...plain, more: 1, __proto__: { goneAt: 1 } }, plain],
];

for (const [name, value, expected] of odd) {
  it(`drops ${name}`, () => assert.deepEqual(departureFrom(value), expected));
}

it('takes anything, and what it gives it reads back', () => {
  const near = fc.record(
    Object.fromEntries(
      Object.entries(whole).map(([field, value]) => [
        field,
        fc.oneof({ weight: 5, arbitrary: fc.constant(value) }, fc.anything()),
      ]),
    ),
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(near, fc.anything()), (value) => {
      for (const read of [departureFrom, gapFrom]) {
        const found = read(value);
        if (found) assert.deepEqual(read(JSON.parse(JSON.stringify(found))), found);
      }
    }),
  );
});

it('keeps no long text and no long list', () => {
  const long = 'x'.repeat(1_001);
  const moves = Array.from({ length: 60 }, (_, at) => ({ at, why: 'Paused' }));
  const found = departureFrom({ ...whole, node: long, moves });
  assert.equal(found?.node, undefined);
  assert.equal(found?.moves?.length, 50);
});
