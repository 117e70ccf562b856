import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPressureMachine, type PressureMachine } from '@taintmgr/core/pressure';
import { observationOf, pressurePod, usageOf } from './objects.ts';

const Gi = 2 ** 30;

/** What happens at a second: memory is plenty or short, is not told, or the node does not answer. */
type Happening = readonly [at: number, what: 'plenty' | 'short' | 'untold' | 'silent'];

/** A soft threshold with a grace period of two minutes. */
function machine(): PressureMachine {
  const made = createPressureMachine({
    settings: {
      evictionHard: {},
      evictionSoft: { 'memory.available': '1Gi' },
      evictionSoftGracePeriod: { 'memory.available': '2m' },
    },
  });
  const node = { name: 'n1', uid: 'n1', labels: {}, conditions: [] };
  made.handle(0, { kind: 'pressureNode', node });
  made.handle(0, { kind: 'pressurePod', pod: pressurePod('web') });
  made.handle(0, { kind: 'synced' });
  return made;
}

/** At which second a pod goes; null: at none. */
function evictedAt(happenings: readonly Happening[]): number | null {
  const made = machine();
  for (const [at, what] of happenings) {
    const now = at * 1000;
    if (what === 'silent') {
      made.handle(now, { kind: 'observationFailed', nodeName: 'n1', message: 'timeout' });
    } else {
      const available = what === 'plenty' ? 4 * Gi : Gi / 2;
      const usage = [usageOf('web', { workingSetBytes: Gi })];
      const observation = observationOf(
        what === 'untold' ? {} : { 'memory.available': [available, 8 * Gi, now] },
        usage,
      );
      made.handle(now, { kind: 'observed', nodeName: 'n1', observation });
    }
    const commands = made.handle(now, { kind: 'tick' });
    if (commands.some(({ kind }) => kind === 'evictUnderPressure')) return at;
  }
  return null;
}

/** Memory is short from the fourth look on. */
function looks(spacing: number): readonly Happening[] {
  return [1, 2, 3, 4, 5, 6, 7, 8].map((look) => [look * spacing, look < 4 ? 'plenty' : 'short']);
}

describe('a soft threshold of a node', () => {
  // The first look at or after two minutes of it.
  const spacings: readonly [spacing: number, look: number][] = [
    [60, 6],
    [61, 6],
    [90, 6],
    [200, 5],
  ];
  for (const [spacing, look] of spacings) {
    it(`is due at the first look after its grace period, at one every ${spacing} s`, () => {
      assert.equal(evictedAt(looks(spacing)), look * spacing);
    });
  }

  it('is due one look later where nobody knows yet how often there are any', () => {
    const short = [200, 400, 600].map((at): Happening => [at, 'short']);
    assert.equal(evictedAt(short), 600);
  });

  const gaps: readonly [name: string, happenings: readonly Happening[], evicted: number | null][] =
    [
      [
        'nobody asked for longer than usual',
        [
          [10, 'plenty'],
          [20, 'plenty'],
          [30, 'short'],
          [40, 'short'],
          [170, 'short'],
          [280, 'short'],
        ],
        null,
      ],
      [
        'nobody asked for longer than usual, where it is asked seldom',
        [
          [90, 'plenty'],
          [180, 'plenty'],
          [270, 'short'],
          [541, 'short'],
        ],
        null,
      ],
      [
        'it was late, where it is asked seldom',
        [
          [90, 'plenty'],
          [180, 'plenty'],
          [270, 'short'],
          [540, 'short'],
        ],
        540,
      ],
      [
        'it did not answer meanwhile',
        [
          [70, 'plenty'],
          [140, 'plenty'],
          [210, 'short'],
          [280, 'silent'],
          [350, 'short'],
        ],
        null,
      ],
      [
        'it did not tell meanwhile',
        [
          [70, 'plenty'],
          [140, 'plenty'],
          [210, 'short'],
          [280, 'untold'],
          [350, 'short'],
        ],
        null,
      ],
    ];
  for (const [name, happenings, evicted] of gaps) {
    it(`${evicted === null ? 'begins anew' : 'goes on'}: ${name}`, () => {
      assert.equal(evictedAt(happenings), evicted);
    });
  }
});
