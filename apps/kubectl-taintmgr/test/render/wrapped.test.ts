import assert from 'node:assert/strict';
import { it } from 'node:test';
import { wrapped } from '../../src/render/table.ts';

const cases: readonly (readonly [line: string, lines: string])[] = [
  ['', ''],
  ['as it is', 'as it is'],
  ['a line of some words', 'a line of\n    some\n    words'],
  ['  set in, and goes on', '  set in,\n    and\n    goes on'],
  ['averylongwordwithoutaspace', 'averylongwordwithoutaspace'],
  ['before averylongwordwithoutaspace after', 'before\n    averylongwordwithoutaspace\n    after'],
];
for (const [line, lines] of cases) {
  it(`breaks ${JSON.stringify(line)}`, () => {
    assert.equal(wrapped(line, '    ', 11), lines);
  });
}
