import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventTurn } from '../../src/controller/event-turn.ts';

const minute = 60_000;

/** So many requests under way, begun at the instant. */
function loaded(count: number, at: number): EventTurn {
  const turn = new EventTurn();
  for (let n = 0; n < count; n++) turn.begun(at);
  return turn;
}

function end(turn: EventTurn, count: number, at: number): void {
  for (let n = 0; n < count; n++) turn.ended(at);
}

/** When an Event may go out, from `from` on; null: not within a minute. */
function turnAfter(turn: EventTurn, from: number): number | null {
  for (let now = from; now < from + minute; now++) if (now >= turn.opensAt) return now - from;
  return null;
}

describe('Events about pods', () => {
  it('go at once where few requests are under way', () => {
    assert.equal(turnAfter(new EventTurn(), 0), 0);
    assert.equal(turnAfter(loaded(7, 0), 0), 0);
  });

  it('wait for a burst to end', () => {
    const turn = loaded(8, 0);
    end(turn, 8, 100);
    assert.equal(turnAfter(turn, 100), 250);
  });

  it('wait in the gaps between the waves of a slow server', () => {
    const turn = loaded(50, 0);
    assert.equal(turn.take(4_899), false);
    end(turn, 50, 4_900);
    assert.equal(turn.take(4_900), false, 'the next ones begin in a moment');
    for (let n = 0; n < 50; n++) turn.begun(4_901);
    assert.equal(turn.take(9_900), false);
  });

  it('are not held up by requests that are stuck', () => {
    assert.equal(turnAfter(loaded(50, 0), 0), 5000);
  });

  it('get a tenth of the requests once a burst has gone on for two minutes', () => {
    const turn = loaded(50, 0);
    const written = { before: 0, after: 0 };
    const requests = { before: 0, after: 0 };
    for (let now = 0; now < 10 * minute; now += 10) {
      const when = now < 2 * minute ? 'before' : 'after';
      turn.begun(now);
      requests[when] += 1;
      if (turn.take(now)) written[when] += 1;
      turn.ended(now);
    }
    assert.equal(written.before, 0);
    assert.equal(written.after, Math.floor(requests.after / 9));
  });

  it('have saved nothing up when a new burst begins', () => {
    const turn = loaded(50, 0);
    for (let now = 0; now < 3 * minute; now += 100) {
      turn.begun(now);
      turn.ended(now);
    }
    end(turn, 50, 3 * minute);
    const later = 5 * minute;
    for (let n = 0; n < 8; n++) turn.begun(later);
    assert.equal(turn.take(later), false);
  });
});
