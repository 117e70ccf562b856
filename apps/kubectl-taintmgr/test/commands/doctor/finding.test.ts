import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutFindings, findingsOf } from '../../../src/commands/doctor/finding.ts';

const finding = findingsOf('stuck-pods');
const many = (length: number) =>
  Array.from({ length }, (_, i) => finding('WARN', 'should have ended', { about: `pod/p${i}` }));

describe('findings of one check', () => {
  it('are all listed up to a dozen and one', () => {
    assert.deepEqual(cutFindings(many(13)), many(13));
  });

  it('are cut with a count beyond that, and those of others are not', () => {
    const other = finding('FAIL', 'x', { about: 'pod/x' });
    const shown = cutFindings([...many(70), other]);
    assert.deepEqual(shown.slice(0, 12), many(12));
    assert.deepEqual(shown.slice(12), [
      finding('WARN', 'and 58 more: -o json names all 70'),
      other,
    ]);
  });
});
