import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createPressureMachine,
  type NodeObservation,
  type PressureCommand,
  type PressureMachine,
  type PressureSettingsInput,
} from '@taintmgr/core/pressure';
import { evictions, Gi, machineWith, observationOf, pressurePod, see, usageOf } from './objects.ts';

const hard: PressureSettingsInput = { evictionHard: { 'memory.available': '1Gi' } };

describe('thresholds of containerfs', () => {
  it('hold at once, and from the second pass on in the kubelet', () => {
    const settings: PressureSettingsInput = {
      evictionHard: { 'imagefs.available': '10%' },
      filesystemLayout: 'dedicatedImages',
    };
    const usage = [
      usageOf('web', {
        containers: [
          {
            name: 'main',
            workingSetBytes: null,
            rootfs: { usedBytes: Gi, inodesUsed: 1 },
            logs: { usedBytes: null, inodesUsed: null },
          },
        ],
      }),
    ];
    const evicted = (['precise', 'kubelet-1.36'] as const).map((semantics) => {
      const machine = machineWith([pressurePod('web')], settings, { semantics });
      return [1000, 2000].map((now) => {
        const seen = observationOf(
          {
            'containerfs.available': [Gi, 100 * Gi, now],
            'imagefs.available': [50 * Gi, 100 * Gi, now],
          },
          usage,
        );
        return evictions(see(machine, now, seen)).length;
      });
    });
    assert.deepEqual(evicted, [
      [1, 0],
      [0, 1],
    ]);
  });
});

describe('a replica that stood by', () => {
  const conditionsOf = (commands: readonly PressureCommand[]): readonly string[] =>
    commands.flatMap((command) =>
      command.kind === 'setPressureConditions'
        ? command.conditions.map(({ type, status }) => `${type}=${status}`)
        : [],
    );

  it('takes back what the one before it wrote meanwhile', () => {
    const settings = { ...hard, evictionPressureTransitionPeriod: '1m' };
    const machine = machineWith([], settings, { leader: false });
    const plenty = (now: number): NodeObservation =>
      observationOf({ 'memory.available': [4 * Gi, 8 * Gi, now] });
    see(machine, 1000, plenty(1000));
    const conditions = ['MemoryPressure'] as const;
    const node = { name: 'n1', uid: 'n1', labels: {}, conditions };
    machine.handle(2000, { kind: 'pressureNode', node });
    machine.handle(3000, { kind: 'leadership', held: true });
    assert.deepEqual(conditionsOf(see(machine, 4000, plenty(4000))), ['MemoryPressure=False']);
  });

  it('writes again what somebody else took away', () => {
    const machine = machineWith([], hard);
    const short = (now: number): NodeObservation =>
      observationOf({ 'memory.available': [Gi / 2, 8 * Gi, now] });
    const commands = see(machine, 1000, short(1000));
    assert.deepEqual(conditionsOf(commands), ['MemoryPressure=True']);
    const written = commands.find(({ kind }) => kind === 'setPressureConditions');
    const id = written && 'id' in written ? written.id : assert.fail();
    machine.handle(1100, { kind: 'result', id, outcome: { kind: 'done' } });
    const node = { name: 'n1', uid: 'n1', labels: {}, conditions: [] };
    machine.handle(1200, { kind: 'pressureNode', node });
    assert.deepEqual(conditionsOf(see(machine, 2000, short(2000))), ['MemoryPressure=True']);
  });
});

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
