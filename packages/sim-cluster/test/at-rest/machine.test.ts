import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Machine } from '../../src/at-rest/machine.ts';
import { node } from '../../src/builders.ts';
import { defaultTiming } from '../../src/kubelet/timing.ts';
import { formatMicroTime } from '../../src/objects/time.ts';

const heartbeatMs = 10_000;
const now = Date.parse('2026-01-01T00:00:00Z');
const machine = new Machine({ name: 'a-1' }, 1, {
  seed: 1,
  timing: { ...defaultTiming, heartbeatMs },
  now,
});

describe('a machine that is left alone renews its lease at each of its heartbeats', () => {
  const { readyAt } = machine;
  const cases: readonly (readonly [afterReadyMs: number, lastBeat: number, nextBeat: number])[] = [
    [0, 0, 1],
    [9_999, 0, 1],
    [10_000, 1, 2],
    [10_001, 1, 2],
    [300_000, 30, 31],
    [309_999, 30, 31],
  ];
  for (const [afterReadyMs, lastBeat, nextBeat] of cases) {
    it(`${afterReadyMs} ms after it was ready it has had ${lastBeat}`, () => {
      const at = readyAt + afterReadyMs;
      const { renewTime } = machine.lease(node('a-1'), at).spec;
      assert.equal(renewTime, formatMicroTime(readyAt + lastBeat * heartbeatMs));
      assert.equal(machine.progress(at).nextBeatAt, readyAt + nextBeat * heartbeatMs);
    });
  }
});
