import type { Engine } from '@taintmgr/core';
import type { Machine } from '../../src/controller/loop-parts.ts';
import type { Planted } from './sabotages.ts';

const story = { story: 'policies', theme: 'drains' } as const;

/** Faults of who evicts beside drains. */
export const drainSabotages: Readonly<Record<string, Planted>> = {
  'does not look for a sign of life before it takes over': {
    ...story,
    ...{ seed: 3, breaks: ['evicts beside a drain'] },
    sabotage: { machine: rash },
  },
};

/** Its requests are carried out as they are, whatever there is to be seen. */
function rash(engine: Engine): Machine {
  return {
    handle: (now, event) =>
      engine.handle(now, event).map((command) => {
        return 'confirm' in command ? { ...command, confirm: false } : command;
      }),
    nextWake: () => engine.nextWake(),
  };
}
