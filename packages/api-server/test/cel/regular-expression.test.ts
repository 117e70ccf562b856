// Regular expressions as Go reads them: what they match, and what it refuses in which words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goRegExp } from '../../src/cel/regular-expression.ts';

const matched: readonly (readonly [string, string, boolean])[] = [
  ['^[a-z]+$', 'abc', true],
  ['(?i)^abc$', 'ABC', true],
  ['(?s)a.b', 'a\nb', true],
  ['^a.b$', 'a\nb', false],
  ['(?P<name>a)b', 'ab', true],
  ['(?i:a)b', 'ab', true],
  ['\\Aab\\z', 'ab', true],
  ['\\Aab\\z', 'ab\n', false],
  ['[[:alpha:]_]+[[:digit:]]', 'ab_1', true],
  ['^\\p{Lu}\\pN\\p{Greek}$', 'A1ω', true],
  ['^\\x41\\x{1F600}$', 'A😀', true],
  ['\\Qa.b\\E', 'a.b', true],
  ['\\Qa.b\\E', 'axb', false],
  ['^a-b\\-c]$', 'a-b-c]', true],
  ['^{a}$', '{a}', true],
  ['^[]a]+$', ']a', true],
  ['^a{2,3}?b$', 'aab', true],
  ['^\\d+(\\.\\d+)?(Ki|Mi)$', '1.5Gi', false],
];

for (const [source, text, expected] of matched) {
  test(`${source} ${expected ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
    const compiled = goRegExp(source);
    assert.ok('pattern' in compiled, JSON.stringify(compiled));
    assert.equal(compiled.pattern.test(text), expected);
  });
}

const refused: readonly (readonly [string, string])[] = [
  ['[a-z', 'missing closing ]: `[a-z`'],
  ['(a', 'missing closing ): `(a`'],
  ['a)', 'unexpected ): `a)`'],
  ['^(?!a)', 'invalid or unsupported Perl syntax: `(?!`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?<=a)b', 'invalid named capture: `(?<=a)b`'],
  ['[b-a]', 'invalid character class range: `b-a`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['\\y', 'invalid escape sequence: `\\y`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
];

for (const [source, error] of refused) {
  test(`${source} is refused`, () => {
    assert.deepEqual(goRegExp(source), { error: `error parsing regexp: ${error}` });
  });
}

test('the matches of a text come from left to right, as many as are asked for', () => {
  const compiled = goRegExp('a.');
  assert.ok('pattern' in compiled);
  assert.deepEqual(compiled.pattern.all('abacad'), ['ab', 'ac', 'ad']);
  assert.deepEqual(compiled.pattern.all('abacad', 2), ['ab', 'ac']);
});

// With an engine that backtracks this text takes longer than the machine lives.
test('an expression of nested repetitions takes time linear in the text', () => {
  const compiled = goRegExp('^(a+)+$');
  assert.ok('pattern' in compiled);
  assert.equal(compiled.pattern.test(`${'a'.repeat(10_000)}b`), false);
});
