import type { MachineClocks } from '../../src/driver/runner.ts';
import type { Planted } from './sabotages.ts';

/** Faults of what controllers take for the time. */
export const clockSabotages: Readonly<Record<string, Planted>> = {
  "goes by the machine's clock": {
    story: 'clocks',
    seed: 13,
    breaks: ['before its deadline', 'acts on an old lease', 'acts without the lease'],
    sabotage: { clocks: neverBack, dates: false },
  },
  'does not mind that it overslept': {
    story: 'clocks',
    seed: 13,
    breaks: ['acts on an old lease', 'acts without the lease'],
    sabotage: { clocks: neverSet },
  },
  'does not ask the API server for the time': {
    story: 'clocks',
    seed: 31,
    breaks: ['before its deadline'],
    sabotage: { dates: false },
  },
};

/** One clock for everything: the wall clock, which stands still until it has caught up. */
function neverBack(machine: MachineClocks): MachineClocks {
  let latest = Number.NEGATIVE_INFINITY;
  const wall = (): number => {
    latest = Math.max(latest, machine.wall());
    return latest;
  };
  return { monotonic: wall, wall };
}

/** The wall clock is looked at once. */
function neverSet(machine: MachineClocks): MachineClocks {
  const off = machine.wall() - machine.monotonic();
  return { monotonic: () => machine.monotonic(), wall: () => machine.monotonic() + off };
}
