// What a pause is for.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionPause } from '@taintmgr/core/policy';
import { holdsAll } from '../../src/policy/pause-scope.ts';
import { pauseOf } from './objects.ts';

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
