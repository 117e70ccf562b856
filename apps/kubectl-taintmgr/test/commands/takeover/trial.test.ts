import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  atOnceCase,
  type Fate,
  laterCase,
  otherCase,
} from '../../../src/commands/takeover/trial.ts';

// What `takeover verify` calls passed: a trial that is lenient lets a cluster be taken over that should not.

const said = { upstream: 'Marking for deletion', ours: 'taintmgr decides' } as const;
const stays: Fate = { ...said, goneAfter: null, by: '' };
const byUs: Fate = { ...said, goneAfter: 300, by: 'the Eviction API' };
const byThem: Fate = { ...said, goneAfter: 300, by: 'kube-controller-manager' };

const fates: readonly {
  readonly name: string;
  readonly fate: Fate;
  readonly atOnce: boolean;
  readonly later: boolean;
  readonly other: boolean;
}[] = [
  { name: 'it stays', fate: stays, atOnce: true, later: true, other: false },
  { name: 'taintmgr evicted it', fate: byUs, atOnce: true, later: true, other: true },
  { name: 'upstream deleted it', fate: byThem, atOnce: false, later: false, other: true },
  {
    name: 'upstream has not tried yet',
    fate: { ...stays, upstream: null },
    atOnce: false,
    later: false,
    other: false,
  },
  {
    name: 'taintmgr says nothing',
    fate: { ...stays, ours: null },
    atOnce: false,
    later: true,
    other: false,
  },
];

describe('a case of takeover verify', () => {
  for (const { name, fate, atOnce, later, other } of fates) {
    it(`is judged where ${name}`, () => {
      assert.equal(atOnceCase(fate).passed, atOnce, 'no toleration');
      assert.equal(laterCase(fate, 60_000).passed, later, 'a toleration of some seconds');
      assert.equal(otherCase(fate).passed, other, 'not taken over');
    });
  }

  it('has not passed while the seconds of the toleration may still run', () => {
    const passed = [5_000, 6_499, 6_500].map((sinceTaint) => laterCase(stays, sinceTaint).passed);
    assert.deepEqual(passed, [false, false, true]);
  });
});
