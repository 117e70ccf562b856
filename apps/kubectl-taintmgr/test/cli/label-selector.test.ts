import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readLabelSelector } from '../../src/cli/values.ts';

it('reads each form of a requirement', () => {
  const { matchExpressions } = readLabelSelector(
    '--x',
    'a=1, b==2,c!=3,d in (4, 5),e notin (6),f,!g,example.com/h=,i in (,j)',
  );
  assert.deepEqual(matchExpressions, [
    { key: 'a', operator: 'In', values: ['1'] },
    { key: 'b', operator: 'In', values: ['2'] },
    { key: 'c', operator: 'NotIn', values: ['3'] },
    { key: 'd', operator: 'In', values: ['4', '5'] },
    { key: 'e', operator: 'NotIn', values: ['6'] },
    { key: 'f', operator: 'Exists' },
    { key: 'g', operator: 'DoesNotExist' },
    { key: 'example.com/h', operator: 'In', values: [''] },
    { key: 'i', operator: 'In', values: ['', 'j'] },
  ]);
});

it('refuses what is none', () => {
  for (const text of ['', ',', 'a=b=c', 'a in b', 'a in (b', 'a~b', 'a,,b', '!', 'a in (b c)']) {
    assert.throws(() => readLabelSelector('--x', text), /^UsageError: --x: got /, text);
  }
});
