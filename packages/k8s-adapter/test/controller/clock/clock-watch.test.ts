import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClockWatch } from '../../../src/controller/clock/clock-watch.ts';

const second = 1000;
const year = 365 * 24 * 3600 * second;

/** How often it is said, where the clock is so far ahead at each second. */
function said(aheadAt: (seconds: number) => number): number {
  const watch = new ClockWatch('');
  const seconds = Array.from({ length: 3600 }, (_, at) => at);
  return seconds.filter((at) => watch.server(aheadAt(at)) !== null).length;
}

describe("what is said of the API server's clock", () => {
  it('is said once where all its answers are of one day in 2100', () => {
    assert.equal(
      said((at) => 73 * year - at * second),
      1,
    );
  });

  it('is said less and less often where it stands still from now on', () => {
    const times = said((at) => -at * second);
    assert.ok(times > 3 && times < 80, `${times} times in an hour`);
  });

  it('is said when it is set, and when it agrees again', () => {
    assert.equal(
      said((at) => (at < 100 ? 0 : at < 200 ? 5 * second : 0)),
      2,
    );
    assert.equal(
      said((at) => (at < 100 ? 73 * year : 0)),
      2,
    );
  });
});
