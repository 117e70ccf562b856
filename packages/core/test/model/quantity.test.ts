import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseQuantity, quantityValue } from '@taintmgr/core';
import { formatAmount } from '../../src/model/quantity.ts';
import { fc } from '../fast-check.ts';

describe('quantities', () => {
  it('are read in linear time', () => {
    // With a backtracking expression each would take a minute.
    const zeros = '0'.repeat(200_000);
    assert.throws(() => parseQuantity(`.${zeros}\u0000`), /must match the regular expression/);
  });

  const cases: readonly [text: string, value: number, printed: string][] = [
    ['0', 0, '0'],
    ['1024Mi', 2 ** 30, '1Gi'],
    ['1.5Gi', 1.5 * 2 ** 30, '1536Mi'],
    ['1000', 1000, '1k'],
    ['1234', 1234, '1234'],
    ['1.5', 1.5, '1500m'],
    ['5.', 5, '5.'],
    ['-2Ki', -2048, '-2Ki'],
    ['1e3', 1000, '1e3'],
    ['2000e3', 2_000_000, '2e6'],
    ['1e21', 1e21, '1e21'],
    ['1000E', 1e21, '1e21'],
    ['8Ei', 2 ** 63, '9223372036854775807'],
    ['0.1n', 1e-9, '1n'],
    ['0.0001Ki', 0.1024, '102400u'],
    ['9007199254740993', 2 ** 53, '9007199254740993'],
  ];
  for (const [text, value, printed] of cases) {
    it(`${text} is ${printed}`, () => {
      const quantity = parseQuantity(text);
      assert.equal(quantityValue(quantity), value);
      assert.equal(quantity.text, printed);
    });
  }

  it('refuses what is none, and what nobody means', () => {
    for (const text of ['', 'Gi1', '1Gib', '1 Gi', '--1', '1e', '1e1000000', '9'.repeat(101)]) {
      assert.throws(() => parseQuantity(text), RangeError, text);
    }
  });

  it('reads again what it printed', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 40), max: 2 ** 52 }), (amount) => {
        assert.equal(quantityValue(parseQuantity(formatAmount(amount))), amount);
        assert.equal(quantityValue(parseQuantity(formatAmount(amount, 'DecimalSI'))), amount);
      }),
    );
  });
});
