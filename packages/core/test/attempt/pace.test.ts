import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '@taintmgr/core';
import { Pace } from '../../src/attempt/pace.ts';

const done: Outcome = { kind: 'done' };
const blocked: Outcome = { kind: 'blocked', message: '', retryAfter: null };
const webhook = 'admission webhook "w.example.com" denied the request: it is being moved';
const failed = (status: number | null): Extract<Outcome, { kind: 'failed' }> => {
  return { kind: 'failed', status, message: '', retryAfter: null };
};

/** Sends as many as it may at `now`, and answers all of them after `took`. */
function round(pace: Pace, now: number, outcome: Outcome, took = 10): number {
  const ids: string[] = [];
  while (pace.hasRoom) {
    ids.push(pace.start(now, 'pod', 'shop'));
  }
  for (const id of ids) pace.finish(now + took, id, outcome);
  return ids.length;
}

/** One that has come up to fifty at once. */
function warm(): Pace {
  const pace = new Pace('id', 50);
  for (const now of [0, 100, 200]) round(pace, now, done);
  return pace;
}

describe('pace', () => {
  it('begins with few, and is soon as fast as it may be while all goes well', () => {
    const pace = new Pace('id', 50);
    assert.deepEqual(
      [0, 100, 200, 300].map((now) => round(pace, now, done)),
      [16, 32, 50, 50],
    );
  });

  const cases: readonly (readonly [name: string, outcome: Outcome, took: number, next: number])[] =
    [
      ['too many requests', failed(429), 10, 25],
      ['not available', failed(503), 10, 25],
      ['no answer', failed(null), 10, 25],
      ['a slow answer', done, 6000, 25],
      ['a webhook that says too many requests', { ...failed(429), message: webhook }, 10, 50],
      ['a disruption budget', blocked, 10, 50],
      ['a refusal of another kind', failed(403), 10, 50],
    ];
  for (const [name, outcome, took, next] of cases) {
    it(`after ${name}: ${next}`, () => {
      const pace = warm();
      round(pace, 300, outcome, took);
      assert.equal(pace.limit, next);
    });
  }

  it('halves once a round, never below one, and recovers by one a round', () => {
    const pace = new Pace('id', 8);
    const sizes = [0, 1, 2, 3, 4].map((n) => round(pace, n * 100, failed(429)));
    assert.deepEqual(sizes, [8, 4, 2, 1, 1]);
    const after = [5, 6, 7, 8].map((n) => round(pace, n * 100, done));
    assert.deepEqual(after, [1, 2, 2, 3]);
  });

  it('takes no notice of answers to what it did not send', () => {
    const pace = new Pace('id', 2);
    assert.equal(pace.finish(0, 'stranger', failed(429)), null);
    assert.equal(pace.limit, 2);
  });
});
