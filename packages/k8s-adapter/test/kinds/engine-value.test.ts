import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { engineValue } from '../../src/kinds/engine-value.ts';
import { duration, time } from '../../src/kinds/fields.ts';
import type { ObjectSchema } from '../../src/kinds/schema.ts';

const wait = duration('Some time.');
const schema: ObjectSchema = {
  type: 'object',
  properties: {
    wait,
    waits: {
      type: 'array',
      maxItems: 9,
      items: { type: 'object', properties: { wait } },
    },
    at: time('Some instant.'),
    part: { type: 'integerOrString' },
    text: { type: 'string' },
    labels: { type: 'map', maxProperties: 9, values: { type: 'string' } },
  },
};

const cases: readonly (readonly [string, object, object])[] = [
  ['a duration becomes milliseconds', { wait: '1m30s' }, { wait: 90_000 }],
  ['a part of a millisecond counts as a whole one', { wait: '0.001ms' }, { wait: 1 }],
  ['so do durations in lists', { waits: [{ wait: '1s' }, {}] }, { waits: [{ wait: 1000 }, {}] }],
  ['a time becomes an instant', { at: '1970-01-01t00:00:01.5z' }, { at: 1500 }],
  ['a percentage has no zeros before it', { part: '07%' }, { part: '7%' }],
  ['a number stays', { part: 7 }, { part: 7 }],
  [
    'a text that looks like a duration stays',
    { text: '10m', labels: { wait: '10m' } },
    { text: '10m', labels: { wait: '10m' } },
  ],
];

describe('a value as the engine takes it', () => {
  for (const [title, allowed, value] of cases) {
    it(title, () => assert.deepEqual(engineValue(schema, allowed), value));
  }
});
