import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPressureMachine } from '@taintmgr/core/pressure';
import { fc } from '../fast-check.ts';
import { observationOf } from './objects.ts';
import { itAnswersPressure } from './script.ts';

// One threshold and a history of what was seen, judged anew from the whole history each time.

const value = 100;
const reclaim = 20;

const period = 25_000;

const gapMax = 60_000;

const capacity = 1000;

interface Seen {
  readonly at: number;
  /** Null: the signal was missing. */
  readonly available: number | null;
}

interface Standing {
  readonly phase: 'unknown' | 'clear' | 'waiting' | 'due';
  readonly since: number | null;
}

/** Whether at this point of the history the threshold is met, or was due before and is not over. */
function isMet(history: readonly Seen[], index: number, grace: number): boolean {
  const available = history[index]?.available;
  if (available == null) return false;
  if (available < value) return true;
  return available < value + reclaim && wasDue(history, index, grace);
}

/** Whether the last time it was seen before, it was due. */
function wasDue(history: readonly Seen[], index: number, grace: number): boolean {
  const before = history.slice(0, index).findLastIndex(({ available }) => available !== null);
  return before >= 0 && standing(history, before, grace).phase === 'due';
}

function standing(history: readonly Seen[], index: number, grace: number): Standing {
  const seen = history[index];
  assert.ok(seen);
  if (seen.available === null) {
    const before = history.slice(0, index).findLastIndex(({ available }) => available !== null);
    return { phase: 'unknown', since: before < 0 ? null : standing(history, before, grace).since };
  }
  if (!isMet(history, index, grace)) return { phase: 'clear', since: null };
  let since = seen.at;
  for (let earlier = index - 1; earlier >= 0; earlier -= 1) {
    const one = history[earlier];
    assert.ok(one);
    if (one.available === null) continue;
    if (!isMet(history, earlier, grace) || since - one.at > gapMax) break;
    since = one.at;
  }
  return { phase: seen.at - since >= grace ? 'due' : 'waiting', since };
}

/** It holds for the period after it was last met; what cannot be seen any more does not end it. */
function conditionHolds(history: readonly Seen[], index: number, grace: number): boolean {
  const seen = history[index];
  assert.ok(seen);
  const last = history.findLastIndex((_, i) => i <= index && isMet(history, i, grace));
  if (last < 0) return false;
  if (last === index || seen.at - (history[last]?.at ?? 0) < period) return true;
  return seen.available === null && conditionHolds(history, index - 1, grace);
}

describe('thresholds against their twin', () => {
  for (const grace of [0, 15_000, 70_000]) {
    it(`stand where the whole history says, grace ${grace} ms`, () => {
      const step = fc.record({
        wait: fc.integer({ min: 1, max: 40 }),
        available: fc.oneof(fc.constant(null), fc.constantFrom(50, 99, 100, 110, 119, 120, 500)),
      });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
          const machine = createPressureMachine({
            settings: {
              evictionHard: grace === 0 ? { 'pid.available': String(value) } : {},
              evictionSoft: grace === 0 ? {} : { 'pid.available': String(value) },
              evictionSoftGracePeriod: { 'pid.available': `${grace}ms` },
              evictionMinimumReclaim: { 'pid.available': String(reclaim) },
              evictionPressureTransitionPeriod: `${period}ms`,
            },
          });
          const node = { name: 'n1', uid: 'n1', labels: {}, conditions: [] };
          machine.handle(0, { kind: 'pressureNode', node });
          const history: Seen[] = [];
          let now = 0;
          for (const { wait, available } of steps) {
            now += wait * 1000;
            history.push({ at: now, available });
            const observation = observationOf(
              available === null ? {} : { 'pid.available': [available, capacity, now] },
            );
            machine.handle(now, { kind: 'observed', nodeName: 'n1', observation });
            const { signals, conditions } = machine.explain(now, 'n1') ?? {};
            const [state] = signals?.[0]?.thresholds ?? [];
            const last = history.length - 1;
            assert.deepEqual(
              { phase: state?.phase, since: state?.metSince },
              standing(history, last, grace),
            );
            const holds = conditions?.find(({ type }) => type === 'PIDPressure')?.holds;
            assert.equal(holds, conditionHolds(history, last, grace));
          }
        }),
        { numRuns: 300 },
      );
    });
  }
});

itAnswersPressure('soft conditions doubts clock-ahead');
