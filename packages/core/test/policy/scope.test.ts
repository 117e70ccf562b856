import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionPause } from '@taintmgr/core/policy';
import { holdsAll, matchesPattern, matchesSome } from '../../src/policy/scope.ts';
import { pauseOf } from './objects.ts';

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

// What a pause is for.

describe('a pause that holds every eviction', () => {
  const all = { zones: [], nodes: null, taintKeys: [], namespaces: [] };
  const cases: readonly (readonly [string, Partial<EvictionPause>, boolean])[] = [
    ['is for everything', { scope: all }, true],
    ['is not for zones', { scope: { ...all, zones: ['a'] } }, false],
    ['is not for some nodes', { scope: { ...all, nodes: { matchLabels: { pool: 'a' } } } }, false],
    ['is not for taints', { scope: { ...all, taintKeys: ['*'] } }, false],
    ['is not for namespaces', { scope: { ...all, namespaces: ['shop'] } }, false],
    ['is not of readiness alone', { scope: all, deadlines: false, readiness: true }, false],
  ];
  for (const [name, fields, expected] of cases) {
    it(name, () => assert.equal(holdsAll(pauseOf('p', fields)), expected));
  }
});
