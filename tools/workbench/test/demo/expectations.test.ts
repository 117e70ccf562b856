import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeObject, pod as podObject } from '@taintmgr/sim-cluster';
import { Expectations, type Fate, type Result } from '../../src/demo/expectations.ts';

// The demo's own judge: what it expects against what it sees.

const start = 1_000_000;
const built = podObject('shop', 'web-0', { spec: { nodeName: 'n1' } });
const pod: KubeObject = { ...built, metadata: { ...built.metadata, uid: 'u1' } };
const leaving: KubeObject = {
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
};
const cancel: KubeObject = {
  metadata: { name: 'web-0.1', namespace: 'shop' },
  involvedObject: { uid: 'u1' },
  message: 'Cancelling deletion of Pod shop/web-0',
};

type Seen = readonly [resource: string, object: KubeObject, seconds: number];

const evicted = (after: number, budget?: true): Fate =>
  budget ? { kind: 'evicted', after, budget } : { kind: 'evicted', after };
const gone = (seconds: number): Seen => ['pods', leaving, seconds];
const calledOff: Seen = ['events', cancel, 3];

describe('Expectations', () => {
  const cases: readonly (readonly [
    name: string,
    fate: Fate,
    seen: readonly Seen[],
    isComplete: boolean,
    verdict: Pick<Result, 'ok' | 'expected' | 'happened'>,
  ])[] = [
    ['at once', evicted(0), [gone(0.05)], true, says(true, 'evicted at once', 'evicted at once')],
    [
      'on time',
      evicted(5),
      [gone(5.4)],
      true,
      says(true, 'evicted after 5 s', 'evicted after 5.4 s'),
    ],
    [
      'too early',
      evicted(5),
      [gone(4.9)],
      true,
      says(false, 'evicted after 5 s', 'evicted after 4.9 s'),
    ],
    [
      'too late',
      evicted(5),
      [gone(8.1)],
      true,
      says(false, 'evicted after 5 s', 'evicted after 8.1 s'),
    ],
    [
      'late for a budget',
      evicted(0, true),
      [gone(10)],
      true,
      says(true, 'evicted when its budget allows', 'evicted after 10 s'),
    ],
    ['not at all', evicted(0), [], false, says(false, 'evicted at once', 'kept')],
    [
      'only the first eviction counts',
      evicted(1),
      [gone(1), gone(9)],
      true,
      says(true, 'evicted after 1 s', 'evicted after 1 s'),
    ],
    [
      'called off',
      { kind: 'calledOff' },
      [calledOff],
      true,
      says(true, 'called off', 'called off'),
    ],
    ['not called off', { kind: 'calledOff' }, [], false, says(false, 'called off', 'kept')],
    ['kept', { kind: 'kept' }, [['pods', pod, 1]], true, says(true, 'kept', 'kept')],
    ['not kept', { kind: 'kept' }, [gone(1)], true, says(false, 'kept', 'evicted after 1 s')],
  ];
  for (const [name, fate, seen, isComplete, verdict] of cases) {
    it(name, () => {
      const expectations = new Expectations();
      expectations.expect(pod, fate, start);
      for (const [resource, object, seconds] of seen) {
        expectations.observe(resource, object, start + seconds * 1000);
      }
      assert.equal(expectations.isComplete, isComplete);
      assert.deepEqual(expectations.results(), [
        { name: 'shop/web-0', nodeName: 'n1', ...verdict },
      ]);
    });
  }

  it('a later expectation takes the place of an earlier one', () => {
    const expectations = new Expectations();
    expectations.expect(pod, { kind: 'kept' }, start);
    expectations.expect(pod, evicted(0), start);
    assert.deepEqual(
      expectations.results().map(({ expected }) => expected),
      ['evicted at once'],
    );
  });

  function says(ok: boolean, expected: string, happened: string) {
    return { ok, expected, happened };
  }
});
