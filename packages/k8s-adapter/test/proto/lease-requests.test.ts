import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatMicroTime } from '../../src/proto/lease-requests.ts';

it('a time is written with six digits, as MicroTime wants it', () => {
  const instant = Date.parse('2026-01-01T00:00:02.5Z');
  assert.equal(formatMicroTime(instant), '2026-01-01T00:00:02.500000Z');
  assert.equal(formatMicroTime(instant + 0.25), '2026-01-01T00:00:02.500000Z');
});
