import type { Engine, Event } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import type { Machine } from '../../src/controller/loop-parts.ts';
import { without } from './machines.ts';
import type { Planted } from './sabotages.ts';

const story = { story: 'policies', theme: 'pauses' } as const;

/** Faults of who goes by the pauses of the cluster. */
export const pauseSabotages: Readonly<Record<string, Planted>> = {
  'does not mind pauses': {
    ...story,
    seed: 19,
    breaks: ['evicts in a pause'],
    sabotage: {
      machine: (engine) =>
        without(engine, (event) => event.kind === 'pauseUpsert' && isOfCluster(event.pause)),
    },
  },
  'gives no time back': {
    ...story,
    seed: 10,
    breaks: ['before its deadline', 'kept start too early'],
    sabotage: { machine: givingNothingBack },
  },
};

function isOfCluster({ name }: EvictionPause): boolean {
  return !name.includes('/') && !name.startsWith('{');
}

/** What is over was hardly there. */
function givingNothingBack(engine: Engine): Machine {
  const there = new Map<string, EvictionPause>();
  const handle: Machine['handle'] = (now, event: Event) => {
    if (event.kind === 'pauseUpsert') there.set(event.pause.name, event.pause);
    const pause = event.kind === 'pauseDelete' ? there.get(event.name) : undefined;
    if (!pause) return engine.handle(now, event);
    const late: Event = { kind: 'pauseUpsert', pause: { ...pause, since: now } };
    return [...engine.handle(now, late), ...engine.handle(now, event)];
  };
  return { handle, nextWake: () => engine.nextWake() };
}
