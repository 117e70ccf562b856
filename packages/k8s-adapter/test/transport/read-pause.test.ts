import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ReadPause } from '../../src/transport/http2-connection.ts';

/** A pause after so many answers that each took so long, with so many more owed. */
function after(answers: number, took: number, owed: number): ReadPause {
  const pause = new ReadPause();
  for (let n = 0; n < answers + owed; n++) pause.begun();
  for (let n = 0; n < answers; n++) pause.ended(took);
  return pause;
}

it('waits for a third of what an answer takes, less what it was busy', () => {
  const table: readonly [string, took: number, owed: number, busy: number, pause: number][] = [
    ['eight are owed', 30, 8, 0, 10],
    ["fewer are owed: each is somebody's whole wait", 30, 7, 0, 0],
    ['the turn itself took a while', 30, 8, 4, 6],
    ['what is left of it is short', 30, 8, 8, 0],
    ['the turn took longer than that: what came piled up anyway', 30, 8, 12, 0],
    ['a quick server', 8, 50, 0, 0],
    ['a slow server', 250, 50, 0, 25],
  ];
  for (const [title, took, owed, busy, want] of table) {
    const pause = after(1000, took, owed);
    // What came before was long ago.
    let now = 1000;
    assert.equal(pause.next(now), 0, title);
    for (const _ of ['a pause', 'and another']) {
      now += busy;
      const waits = pause.next(now);
      assert.equal(Math.round(waits), want, title);
      now += waits;
    }
  }
});

it('begins without a pause, and ends with the burst', () => {
  const pause = after(0, 0, 20);
  assert.equal(pause.next(0), 0);
  assert.equal(pause.next(1), 0);
  // One answer says little.
  pause.ended(40);
  assert.equal(pause.next(1), 0);
  for (let n = 0; n < 11; n++) pause.ended(40);
  assert.ok(pause.next(1) > 0);
  pause.ended(40);
  assert.equal(pause.next(100), 0);
});

/** Plays a server that answers after `serviceMs`, each answer by itself; how long answers take at last. */
function settledMs(serviceMs: number, owed: number): number {
  const pause = new ReadPause();
  // Requests are spread over the time that one takes, and each is followed by another.
  const sent = Array.from({ length: owed }, (_, n) => -serviceMs + (n * serviceMs) / owed);
  for (const _ of sent) pause.begun();
  const took: number[] = [];
  for (let now = 0; now < 40 * serviceMs + 1000; ) {
    for (const [n, at] of sent.entries()) {
      if (at + serviceMs > now) continue;
      pause.ended(now - at);
      took.push(now - at);
      pause.begun();
      sent[n] = now;
    }
    const wait = pause.next(now);
    now = Math.max(now + wait, Math.min(...sent) + serviceMs);
  }
  const last = took.slice(-4 * owed);
  return last.reduce((sum, one) => sum + one, 0) / last.length;
}

it('never makes answers take more than half longer, as its pauses are part of what they take', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 }),
      fc.integer({ min: 1, max: 100 }),
      (service, owed) => settledMs(service, owed) <= 1.5 * service + 1e-6,
    ),
  );
});
