// Times as they are written, also those that no date has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatMicroTime, formatTime } from '../../src/objects/time.ts';

const forEver = (2 ** 63 - 1) * 1000;

const written: readonly (readonly [number, string])[] = [
  [Date.parse('2026-01-01T00:00:00.900Z'), '2026-01-01T00:00:00Z'],
  [Date.parse('9999-12-31T23:59:59Z'), '9999-12-31T23:59:59Z'],
  [Date.parse('9999-12-31T23:59:59Z') + 1000, '9999-12-31T23:59:59Z'],
  [forEver, '9999-12-31T23:59:59Z'],
  [-forEver, '0000-01-01T00:00:00Z'],
  [-1000, '1969-12-31T23:59:59Z'],
];

for (const [instant, text] of written) {
  test(`${instant} is written as ${text}`, () => {
    assert.equal(formatTime(instant), text);
    assert.equal(formatMicroTime(instant).slice(0, 19), text.slice(0, 19));
  });
}
