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

const tooMany: Outcome = { kind: 'failed', status: 429, message: '', retryAfter: 1000 };

/** What a server is like at an instant. */
interface Capacity {
  /** How long it works on one request. */
  readonly serviceMs: number;
  /** On how many at once. */
  readonly workers: number;
  /** How many may be there at most; one more is refused. */
  readonly room?: number;
}

interface Played {
  readonly done: number;
  readonly refused: number;
  readonly firstAt: number;
  /** The limit at the end of each of so many milliseconds. */
  readonly limits: readonly number[];
}

/** Sends whatever may be sent to a simulated server, for so long; time goes by in milliseconds. */
function play(ms: number, capacityAt: (now: number) => Capacity): Played {
  const pace = new Pace('id', 50);
  const waiting: string[] = [];
  const worked: { id: string; until: number }[] = [];
  const limits: number[] = [];
  let [count, refused, firstAt] = [0, 0, 0];
  for (let now = 0; now < ms; now++) {
    const { serviceMs, workers, room = Number.POSITIVE_INFINITY } = capacityAt(now);
    for (const { id } of worked.filter(({ until }) => until === now)) {
      pace.finish(now, id, done);
      count += 1;
      firstAt ||= now;
    }
    worked.splice(0, worked.length, ...worked.filter(({ until }) => until > now));
    // A server that refuses is not asked again in the same instant.
    while (pace.hasRoom) {
      const id = pace.start(now, 'pod', 'shop');
      if (waiting.length + worked.length < room) waiting.push(id);
      else {
        pace.finish(now, id, tooMany);
        refused += 1;
        break;
      }
    }
    for (const id of waiting.splice(0, workers - worked.length)) {
      worked.push({ id, until: now + serviceMs });
    }
    limits.push(pace.limit);
  }
  return { done: count, refused, firstAt, limits };
}

/** How often the limit turns round, and goes the other way by more than a few. */
function turns(limits: readonly number[]): number {
  const few = 4;
  let [count, high, low, isRising] = [0, 0, Number.POSITIVE_INFINITY, true];
  for (const limit of limits) {
    [high, low] = [Math.max(high, limit), Math.min(low, limit)];
    const hasTurned = isRising ? limit < high - few : limit > low + few;
    if (!hasTurned) continue;
    count += 1;
    isRising = !isRising;
    [high, low] = [limit, limit];
  }
  return count;
}

const minute = 60_000;

function lengthFor(serviceMs: number): number {
  return serviceMs < 10 ? 15_000 : minute;
}

describe('pace on a server that', () => {
  for (const [serviceMs, workers] of [
    [2, 2],
    [2, 8],
    [25, 4],
    [25, 32],
    [250, 8],
    [250, 32],
  ] as const) {
    it(`works ${serviceMs} ms on each of ${workers} at once is at its limit`, () => {
      const ms = lengthFor(serviceMs);
      const { done: count, firstAt, limits } = play(ms, () => ({ serviceMs, workers }));
      const most = (ms / serviceMs) * workers;
      assert.ok(count >= 0.97 * most, `${count} of ${most}`);
      assert.equal(firstAt, serviceMs, 'the first one waits for nobody');
      assert.ok(turns(limits) <= 2, `it does not swing: ${turns(limits)}`);
    });
  }

  for (const serviceMs of [2, 25, 250]) {
    it(`takes as many as come, ${serviceMs} ms each, gets as many as allowed`, () => {
      const ms = lengthFor(serviceMs);
      const { done: count, limits } = play(ms, () => ({ serviceMs, workers: 1000 }));
      assert.ok(count >= (0.97 * 50 * ms) / serviceMs, `${count}`);
      assert.deepEqual(new Set(limits.slice(4 * serviceMs)), new Set([50]), 'and keeps it');
    });
  }

  it('works 9 s on each, as with a slow webhook, gets as many as in the beginning', () => {
    const { done: count, limits } = play(5 * minute, () => ({ serviceMs: 9_000, workers: 1000 }));
    assert.equal(count, 16 * Math.floor((5 * minute) / 9_001));
    assert.deepEqual(new Set(limits), new Set([16]));
  });

  it('is down while a webhook is slow gets as many again as a slow one may', () => {
    const { limits } = play(10 * minute, (now) => {
      const isDown = now >= 17_000 && now < 19_000;
      return { serviceMs: 9_000, workers: 1000, room: isDown ? 0 : 1000 };
    });
    assert.equal(limits[18_990], 1);
    assert.equal(limits.at(-1), 16);
  });

  it('becomes slow is not drowned', () => {
    const { limits } = play(10 * minute, (now) => ({
      serviceMs: now < 20_000 ? 25 : 6_000,
      workers: 1000,
    }));
    assert.equal(limits[20_000], 50);
    assert.equal(limits[32_100], 16, 'after two rounds');
    assert.equal(limits.at(-1), 16);
  });

  it('slows down and recovers is at its limit again soon', () => {
    const slow = { serviceMs: 250, workers: 1000 };
    const fast = { serviceMs: 2, workers: 1000 };
    const { limits } = play(minute, (now) => (now >= 20_000 && now < 40_000 ? slow : fast));
    assert.ok(Math.min(...limits.slice(1000)) >= 24, 'it never gives up the half of it');
    assert.equal(limits[32_000], 50);
    assert.equal(limits.at(-1), 50);
  });

  it('refuses what is too much gets no more than it takes', () => {
    const {
      done: count,
      refused,
      limits,
    } = play(minute, () => {
      return { serviceMs: 25, workers: 10, room: 20 };
    });
    const most = (minute / 25) * 10;
    assert.ok(count >= 0.95 * most, `${count} of ${most}`);
    assert.ok(refused <= 0.02 * count, `${refused} refused`);
    assert.ok(Math.max(...limits.slice(1000)) <= 24, `${Math.max(...limits.slice(1000))}`);
  });
});
