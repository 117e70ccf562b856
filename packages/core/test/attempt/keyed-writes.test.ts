import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import { KeyedWrites, type WriteRules } from '../../src/attempt/keyed-writes.ts';

const done: Outcome = { kind: 'done' };
const gone: Outcome = { kind: 'gone' };
const changed: Outcome = { kind: 'changed', message: '' };
const failed = (retryAfter: number | null = null): Outcome => {
  return { kind: 'failed', status: 500, message: '', retryAfter };
};

function writes(rules: Partial<WriteRules> = {}): KeyedWrites {
  const waits = { retryWaitMsMin: 100, retryWaitMsMax: 400, confirmationWaitMs: 5000 };
  return new KeyedWrites({ ...waits, prefix: 'id', max: 2, ...rules });
}

/** Writes `key` at 0 once for each outcome; its failures in a row, and how long it waits then. */
function waitAfter(one: KeyedWrites, outcomes: readonly Outcome[]): readonly (number | null)[] {
  for (const outcome of outcomes) one.settle(0, one.begin('n1'), outcome);
  return [one.failures('n1'), one.dueAt('n1')];
}

describe('keyed writes', () => {
  const cases: readonly (readonly [string, readonly Outcome[], number, number, number])[] = [
    ['a success', [done], 0, 5000, 5000],
    ['an object that is gone', [gone], 0, 5000, 5000],
    ['a failure', [failed()], 1, 50, 100],
    ['two', [failed(), failed()], 2, 100, 200],
    ['many', [1, 2, 3, 4, 5, 6].map(() => failed()), 6, 200, 400],
    ['a failure that names a time', [failed(3000)], 1, 3000, 3000],
    ['a failure after a success', [failed(), done, failed()], 1, 50, 100],
    ['a first stale one', [changed], 1, 0, 0],
    ['a second stale one', [changed, changed], 2, 100, 200],
  ];
  for (const [name, outcomes, failures, min, max] of cases) {
    it(`waits after ${name}`, () => {
      const one = writes({ isStale: ({ kind }) => kind === 'changed' });
      const [count, at = null] = waitAfter(one, outcomes);
      assert.equal(count, failures);
      assert.ok(at !== null && at >= min && at <= max, `${at}`);
      assert.equal(one.nextWake(), at);
    });
  }

  it('hands out what is due while there is room', () => {
    const one = writes();
    for (const key of ['n3', 'n1', 'n2']) one.notice(10, key);
    one.postpone('n1', 20);
    assert.deepEqual([...one.takeDue(9)], []);
    const ids = Array.from(one.takeDue(30), (key) => one.begin(key));
    assert.deepEqual([...one.takeDue(30), one.nextWake(), one.room], [null, 0]);
    const ended = ids.map((id) => one.settle(30, id, done)?.key);
    assert.deepEqual(ended, ['n2', 'n3']);
    assert.deepEqual([...one.takeDue(30)], ['n1']);
  });

  it('writes one at a time for each, and hears of nothing while it waits after a failure', () => {
    const one = writes();
    const id = one.begin('n1');
    one.notice(0, 'n1');
    assert.deepEqual([one.isUnderWay('n1'), one.dueAt('n1')], [true, null]);
    const at = one.settle(0, id, failed())?.at;
    one.notice(0, 'n1');
    assert.deepEqual([one.isUnderWay('n1'), one.dueAt('n1')], [false, at]);
    one.settle(0, one.begin('n1'), done);
    one.notice(7, 'n1');
    assert.equal(one.dueAt('n1'), 7);
  });

  it('knows only the end of what it sent, and of no object that was forgotten', () => {
    const one = writes();
    const first = one.begin('n1');
    one.forget('n1');
    const second = one.begin('n1');
    assert.equal(one.room, 0);
    assert.deepEqual(
      ['stranger', first].map((id) => one.settle(0, id, failed())),
      [null, null],
    );
    assert.deepEqual([one.room, one.failures('n1')], [1, null]);
    assert.deepEqual(one.settle(0, second, done), { key: 'n1', failures: 0, at: 5000 });
    assert.equal(one.settle(0, second, done), null);
  });
});
