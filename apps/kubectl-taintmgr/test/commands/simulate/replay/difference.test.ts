import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  differenceOf,
  type EngineAnswer,
} from '../../../../src/commands/simulate/replay/replay.ts';

// What counts as a difference between a recording and this build, however one of them has stopped.

const place = { step: 3, at: 5, event: { kind: 'tick' } } as const;

/** A recorded step that stopped the engine so, or did not; it asked for nothing. */
function differenceBetween(recorded: string | null, replayed: string | null): unknown {
  const step = { ...place, ...(recorded !== null && { threw: recorded }) };
  const answer: EngineAnswer = { commands: [], threw: replayed };
  const found = differenceOf(7, step, answer);
  return found && [found.line, found.command, found.recorded, found.replayed];
}

describe('the difference of a step', () => {
  const cases = [
    [null, null, null],
    ['it broke', 'it broke', null],
    ['it broke', null, [7, null, 'it broke', null]],
    [null, 'it broke', [7, null, null, 'it broke']],
    ['it broke', 'otherwise', [7, null, 'it broke', 'otherwise']],
  ] as const;
  for (const [recorded, replayed, expected] of cases) {
    it(`recorded: ${recorded}, played: ${replayed}`, () => {
      assert.deepEqual(differenceBetween(recorded, replayed), expected);
    });
  }
});
