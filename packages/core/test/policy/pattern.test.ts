import assert from 'node:assert/strict';
import { it } from 'node:test';
import { matchesPattern, matchesSome } from '../../src/policy/pattern.ts';

const cases: readonly (readonly [pattern: string, text: string, expected: boolean])[] = [
  ['web', 'web', true],
  ['web', 'web-1', false],
  ['*', '', true],
  ['web-*', 'web-', true],
  ['*-web', 'a-web', true],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'a-c-b-c', true],
  ['a*b*c', 'acb', false],
  ['ab*bc', 'abc', false],
  ['a*b*b*c', 'abc', false],
];
for (const [pattern, text, expected] of cases) {
  it(`${pattern} ${expected ? 'fits' : 'does not fit'} '${text}'`, () => {
    assert.equal(matchesPattern(pattern, text), expected);
  });
}

it('is any text where no pattern is given, and one of them otherwise', () => {
  assert.ok(matchesSome([], 'a') && matchesSome(['b', 'a*'], 'ab') && !matchesSome(['b'], 'a'));
});
