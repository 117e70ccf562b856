import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdingPause, isHoldingPause, readFollowed } from '../../src/manifests/followed.ts';

// What holds evictions while an object of the cluster cannot be followed, and since when.

const made = '2026-11-01T00:00:00Z';
const edited = '2026-11-02T00:00:00Z';
const wrong = (metadata: object): object => ({
  metadata: { name: 'odd', uid: 'u', resourceVersion: '1', ...metadata },
  spec: { action: 'Drop' },
});

describe('an object that cannot be followed', () => {
  const cases: readonly (readonly [string, object, number | null])[] = [
    ['was written when it was made', { creationTimestamp: made }, Date.parse(made)],
    [
      'was written when somebody last edited it',
      { creationTimestamp: made, managedFields: [{ time: edited }, { time: made }] },
      Date.parse(edited),
    ],
    ['says nothing of it', {}, null],
    ['says what is no time', { creationTimestamp: 'once', managedFields: [7, {}] }, null],
  ];
  for (const [name, metadata, writtenAt] of cases) {
    it(name, () => {
      const found = readFollowed('EvictionPolicy', wrong(metadata));
      assert.equal(found.writtenAt, writtenAt);
      const pause = holdingPause('EvictionPolicy', found);
      assert.ok(pause && isHoldingPause(pause));
      // Pods have back the time since then and no more; without one, that from now on.
      assert.equal(pause.since, writtenAt ?? Number.POSITIVE_INFINITY);
    });
  }

  it('holds nothing where it is a taint rule, or can be followed', () => {
    const rule = readFollowed('NodeTaintRule', wrong({}));
    assert.equal(rule.object, null);
    assert.equal(holdingPause('NodeTaintRule', rule), null);
    const right = readFollowed('EvictionPolicy', { ...wrong({}), spec: { action: 'Keep' } });
    assert.equal(right.object?.kind, 'EvictionPolicy');
    assert.equal(holdingPause('EvictionPolicy', right), null);
  });
});
