import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  advice,
  holdingPause,
  isHoldingPause,
  readFollowed,
} from '../../src/manifests/followed.ts';

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
      assert.equal(found.heldSince, writtenAt);
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

  it('of a drain holds the evictions for its taint, if that makes pods leave', () => {
    const spec = { nodes: ['n1'], taint: { key: 'kernel', effect: 'NoExecute' }, newer: 1 };
    const drain = readFollowed('NodeDrain', { metadata: { name: 'kernel' }, spec });
    const pause = holdingPause('NodeDrain', drain);
    assert.deepEqual(pause?.scope.taintKeys, ['kernel']);
    const taint = { key: 'kernel', effect: 'NoSchedule' };
    const harmless = readFollowed('NodeDrain', {
      metadata: { name: 'kernel' },
      spec: { ...spec, taint },
    });
    assert.equal(holdingPause('NodeDrain', harmless), null);
  });

  it('counts from when the leader wrote so, or from now where a newer version followed it', () => {
    const lastTransitionTime = '2026-11-03T00:00:00Z';
    const of = (inForce: object): number | null => {
      const conditions = [
        { type: 'InForce', observedGeneration: 3, lastTransitionTime, ...inForce },
      ];
      const metadata = { creationTimestamp: made, generation: 3 };
      return readFollowed('EvictionPolicy', { ...wrong(metadata), status: { conditions } })
        .heldSince;
    };
    assert.equal(of({ reason: 'CannotBeFollowed' }), Date.parse(lastTransitionTime));
    assert.equal(of({ reason: 'Followed' }), null);
    // It was changed since.
    assert.equal(of({ reason: 'Followed', observedGeneration: 2 }), Date.parse(made));
  });

  it('may have fields that an older definition hides', () => {
    const own = {
      'f:spec': { '.': {}, 'f:action': {}, 'f:match': { 'f:taints': {} }, 'f:hold': {} },
    };
    const ofStatus = { subresource: 'status', fieldsV1: { 'f:spec': { 'f:other': {} } } };
    const read = (spec: object) => {
      const metadata = { name: 'odd', managedFields: [{ fieldsV1: own }, ofStatus] };
      return readFollowed('EvictionPolicy', { metadata, spec });
    };
    const hidden = read({ action: 'Keep', match: {} });
    assert.equal(hidden.isCut, true);
    assert.deepEqual(hidden.faults, [
      'field "spec.match.taints" is hidden by an older definition of the kind',
      'field "spec.hold" is hidden by an older definition of the kind',
    ]);
    assert.match(advice(hidden), /^apply the newer CustomResourceDefinitions again/);
    const there = read({ action: 'Keep', hold: true, match: { taints: [] } });
    assert.equal(there.isCut, false);
    assert.match(advice(there), /^remove it, or run the newer version/);
    assert.equal(advice(readFollowed('EvictionPolicy', wrong({}))), '');
  });
});
