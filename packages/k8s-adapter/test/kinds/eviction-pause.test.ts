import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionPause } from '@taintmgr/core/policy';
import { now, read } from './read-kind.ts';

describe('EvictionPause', () => {
  const plain: EvictionPause = {
    name: 'one',
    uid: '',
    scope: { zones: [], nodes: null, taintKeys: [], namespaces: [] },
    readiness: false,
    deadlines: true,
    reason: '',
    until: null,
    since: now,
  };
  const since = (others: object, metadata: object): number | null => {
    const got = read('EvictionPause', undefined, others, metadata);
    return got.kind === 'EvictionPause' ? got.value.since : null;
  };
  it('holds everything where it says nothing', () => {
    assert.deepEqual(read('EvictionPause', undefined), { kind: 'EvictionPause', value: plain });
    assert.deepEqual(read('EvictionPause', {}), { kind: 'EvictionPause', value: plain });
  });
  it('says all that it can', () => {
    const spec = {
      scope: {
        zones: ['eu/a'],
        nodeSelector: {},
        taintKeys: ['example.com/broken'],
        namespaces: ['shop'],
      },
      readiness: true,
      deadlines: false,
      reason: 'network work',
      until: '1970-01-01t01:00:00.1234567891z',
    };
    const value: EvictionPause = {
      ...plain,
      scope: {
        zones: ['eu/a'],
        nodes: {},
        taintKeys: ['example.com/broken'],
        namespaces: ['shop'],
      },
      readiness: true,
      deadlines: false,
      reason: 'network work',
      until: 3_600_123,
    };
    assert.deepEqual(read('EvictionPause', spec), { kind: 'EvictionPause', value });
  });
  it('began when the leader says, or when it was made', () => {
    const created = { creationTimestamp: '1970-01-01T00:00:10Z' };
    assert.equal(since({}, created), 10_000);
    const status = { since: '1970-01-01T00:00:20Z', fieldOfTheFuture: 1 };
    assert.equal(since({ status }, created), 20_000);
    assert.equal(since({ status: { since: 'yesterday' } }, created), 10_000);
  });
});
