import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sampleFault, soundSamples } from '../../../src/pressure/observation/observation.ts';

const fault = (available: number, capacity: number, time: number | null) =>
  sampleFault(100_000, 'pid.available', { available, capacity, time }, 60_000)?.code ?? null;

const cases: readonly (readonly [string, number, number, number | null, string | null])[] = [
  ['is sound', 1, 2, 99_000, null],
  ['is sound at the greatest age', 1, 2, 40_000, null],
  ['is older than allowed', 1, 2, 39_999, 'SignalStale'],
  ['is from the future', 1, 2, 160_001, 'SignalStale'],
  ['has no time', 1, 2, null, 'SignalWithoutTime'],
  ['has a time that is none', 1, 2, Number.NaN, 'SignalWithoutTime'],
  ['has more than there is', 3, 2, 99_000, 'SignalNonsense'],
  ['is negative', -1, 2, 99_000, 'SignalNonsense'],
  ['is of nothing', 0, 0, 99_000, 'SignalNonsense'],
  ['is no number', Number.NaN, 2, 99_000, 'SignalNonsense'],
];
for (const [name, available, capacity, time, expected] of cases) {
  it(`a sample that ${name}`, () => assert.equal(fault(available, capacity, time), expected));
}

it('leaves out those with a fault', () => {
  const good = { available: 1, capacity: 2, time: 100_000 };
  const samples = { 'pid.available': good, 'memory.available': { ...good, time: null } };
  const sound = soundSamples(100_000, { samples, pods: [] }, 60_000);
  assert.deepEqual(sound, { 'pid.available': good });
});
