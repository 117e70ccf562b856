import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { canRewrite } from '../../src/cli/output.ts';

describe('canRewrite', () => {
  const cases: readonly (readonly [
    name: string,
    isTTY: boolean,
    columns: number,
    TERM: string,
    boolean,
  ])[] = [
    ['a terminal', true, 80, 'xterm', true],
    ['a file or a pipe', false, 80, 'xterm', false],
    ['a terminal that does not say how large it is', true, 0, 'xterm', false],
    ['a terminal that cannot move its cursor', true, 80, 'dumb', false],
  ];
  for (const [name, isTTY, columns, TERM, expected] of cases) {
    it(name, () => assert.equal(canRewrite({ isTTY, columns }, { TERM }), expected));
  }
});
