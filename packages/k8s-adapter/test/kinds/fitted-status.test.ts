import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { time } from '../../src/kinds/fields.ts';
import { fitted } from '../../src/kinds/fitted-status.ts';
import type { ObjectSchema } from '../../src/kinds/schema.ts';
import { judge } from '../../src/kinds/validation.ts';

const name = { type: 'string', maxLength: 6 } as const;
const item = { type: 'object', required: ['name'], properties: { name } } as const;
const schema: ObjectSchema = {
  type: 'object',
  properties: {
    name,
    at: time('Some instant.'),
    plain: { type: 'array', maxItems: 2, items: name },
    keyed: { type: 'array', maxItems: 2, mapKeys: ['name'], items: item },
    map: { type: 'map', maxProperties: 1, values: name },
  },
};

const cases: readonly (readonly [string, object, object, object])[] = [
  [
    'what fits stays',
    { name: 'abcdef', plain: ['a', 'b'] },
    { name: 'abcdef', plain: ['a', 'b'] },
    {},
  ],
  ['a long text ends in dots', { name: 'abcdefg' }, { name: 'abc...' }, {}],
  ['characters count, not halves of them', { name: '😀😀😀😀😀😀' }, { name: '😀😀😀😀😀😀' }, {}],
  ['no character is cut in two', { name: '😀😀😀😀😀😀😀' }, { name: '😀😀😀...' }, {}],
  ['a long list ends', { plain: ['a', 'b', 'c', 'd'] }, { plain: ['a', 'b'] }, { plain: 2 }],
  [
    'an entry that is there already is left out',
    { keyed: [{ name: 'abcdefg' }, { name: 'abcdefh' }, { name: 'b' }] },
    { keyed: [{ name: 'abc...' }, { name: 'b' }] },
    { keyed: 1 },
  ],
  ['a long map ends', { map: { a: '1', b: '2' } }, { map: { a: '1' } }, { map: 1 }],
  ['what no schema knows is left out', { name: 'a', other: 1 }, { name: 'a' }, {}],
  ['what is not there stays away', { name: undefined }, {}, {}],
  ['a time stays', { at: '2026-01-01T00:00:00Z' }, { at: '2026-01-01T00:00:00Z' }, {}],
];

describe('a value that is to fit', () => {
  for (const [title, given, value, leftOut] of cases) {
    it(title, () => {
      assert.deepEqual(fitted(schema, given), { value, leftOut });
      assert.equal(judge(schema, value, []).kind, 'allowed');
    });
  }
});
