import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatDeadline,
  formatDuration,
  formatTime,
  parseDuration,
  parseTime,
} from '@taintmgr/core/time';
import { ClusterClock } from '../../src/kernel/time.ts';
import { fc } from '../fast-check.ts';

describe('time', () => {
  it('reads and writes what Date reads and writes', () => {
    const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
    fc.assert(
      fc.property(seconds, fc.integer({ min: 0, max: 999 }), (second, milli) => {
        const text = new Date(second * 1000 + milli).toISOString();
        assert.equal(parseTime(text), second * 1000 + milli);
        assert.equal(formatTime(second * 1000 + milli), `${text.slice(0, -5)}Z`);
      }),
    );
  });

  it('writes what is to come in the second after it, never before it', () => {
    const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_798 });
    fc.assert(
      fc.property(seconds, fc.integer({ min: 0, max: 999 }), (second, milli) => {
        const written = parseTime(formatDeadline(second * 1000 + milli)) ?? Number.NaN;
        assert.equal(written, (milli === 0 ? second : second + 1) * 1000);
      }),
    );
  });

  const readable: readonly [string, number | null][] = [
    ['2026-01-02T03:04:05Z', Date.UTC(2026, 0, 2, 3, 4, 5)],
    ['2026-01-02T03:04:05.123456Z', Date.UTC(2026, 0, 2, 3, 4, 5, 123)],
    ['2026-01-02T03:04:05+02:00', Date.UTC(2026, 0, 2, 1, 4, 5)],
    ['2026-01-02T03:04:05-00:30', Date.UTC(2026, 0, 2, 3, 34, 5)],
    ['2026-13-02T03:04:05Z', null],
    ['2026-01-02T24:00:00Z', null],
    ['2026-01-02', null],
    ['yesterday', null],
    ['', null],
  ];
  for (const [text, expected] of readable) {
    it(`parseTime(${JSON.stringify(text)})`, () => assert.equal(parseTime(text), expected));
  }

  const lengths: readonly [number, string][] = [
    [0, '0s'],
    [999, '0s'],
    [41_000, '41s'],
    [174_000, '2m54s'],
    [3_600_000, '1h'],
    [3_660_999, '1h1m'],
    [3_605_000, '1h'],
    [3 * 86_400_000 + 4 * 3_600_000 + 5000, '3d4h'],
    [-41_500, '-41s'],
    [-10, '0s'],
  ];
  for (const [length, text] of lengths) {
    it(`formatDuration(${length}) = ${text}`, () => assert.equal(formatDuration(length), text));
  }

  const durations: readonly [string, number | null][] = [
    ['0', 0],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['1m500ms', 60_500],
    ['5', null],
    ['s', null],
    ['-5s', null],
    ['1d16h', 144_000_000],
    ['d', null],
    ['1w', null],
    ['', null],
  ];
  for (const [text, expected] of durations) {
    it(`parseDuration(${JSON.stringify(text)})`, () => assert.equal(parseDuration(text), expected));
  }
});

it('shows what is written, and when that is by our time', () => {
  const clock = new ClusterClock();
  clock.set(3000);
  assert.deepEqual([clock.wall(1000), clock.when(4000)], [4000, 1000]);
});

it('dates what holds by its own word, and what says nothing or is yet to come by now', () => {
  const clock = new ClusterClock();
  clock.set(-500);
  const written = [2000, null, undefined, Number.NaN, 99_000];
  const since = written.map((at) => clock.since(5000, at));
  assert.deepEqual(since, [2500, 5000, 5000, 5000, 5000]);
});
