import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  noOthers,
  numberFrom,
  oneOf,
  positive,
  trueOrFalse,
  wholeNumber,
  withDefaults,
} from '../../src/kernel/checks.ts';

it('fills in what was left out, and what is there and undefined', () => {
  const options: { a?: number | undefined; b?: number } = { a: undefined, b: 5 };
  assert.deepEqual(withDefaults<object>({ a: 1, b: 2, c: 3 }, options), { a: 1, b: 5, c: 3 });
});

const refused: readonly (readonly [act: () => void, message: string])[] = [
  [() => wholeNumber('n', 1.5, 0), 'config.n: got 1.5, want a whole number from 0'],
  [() => wholeNumber('n', 2 ** 53, 0), `config.n: got ${2 ** 53}, want a whole number from 0`],
  [() => numberFrom('n', Number.NaN, 0), 'config.n: got null, want a number from 0'],
  [() => positive('n', 0, 100), 'config.n: got 0, want a number above 0, at most 100'],
  [() => positive('n', 101, 100), 'config.n: got 101, want a number above 0, at most 100'],
  [() => oneOf('m', 'c', ['a', 'b']), 'config.m: got "c", want a or b'],
  [() => noOthers('p.', { b: 1 }, { a: 1 }), 'config.p.b: no such option, want one of a'],
  [
    () => trueOrFalse('p.', { a: 'yes' }, { a: true } as object),
    'config.p.a: got "yes", want true or false',
  ],
];
for (const [act, message] of refused) {
  it(`refuses: ${message}`, () => assert.throws(act, { name: 'RangeError', message }));
}

it('allows the bounds themselves', () => {
  wholeNumber('n', 0, 0);
  numberFrom('n', 0.5, 0.5);
  positive('n', 100, 100);
  oneOf('m', 'b', ['a', 'b']);
  noOthers('', { a: undefined }, { a: 1 });
});
