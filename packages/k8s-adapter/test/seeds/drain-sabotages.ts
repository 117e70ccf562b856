import type { Engine, Event, Node } from '@taintmgr/core';
import type { Machine } from '../../src/controller/loop-parts.ts';
import type { Planted } from './sabotages.ts';

const story = { story: 'policies', theme: 'drains' } as const;

/** Faults of who evicts beside drains. */
export const drainSabotages: Readonly<Record<string, Planted>> = {
  'does not look for a sign of life before it takes over': {
    ...story,
    ...{ seed: 2, breaks: ['evicts beside a drain'] },
    sabotage: { machine: rash },
  },
  'waits for ever for a drain that is dead': {
    ...story,
    ...{ seed: 7, breaks: ['overdue'] },
    sabotage: { machine: patient },
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

/** Each drain seems to give a sign of life every few seconds. */
function patient(engine: Engine): Machine {
  const nodes = new Map<string, Node>();
  let heardAt = 0;
  return {
    handle: (now, event) => {
      if (event.kind === 'nodeUpsert') nodes.set(event.node.name, event.node);
      if (event.kind === 'nodeDelete') nodes.delete(event.name);
      if (now - heardAt < 5000) return engine.handle(now, event);
      heardAt = now;
      const alive = [...nodes.values()].flatMap((node): readonly Event[] => {
        if (!node.drains) return [];
        const drains = node.drains.map((drain) => ({ ...drain, heartbeat: `heard ${now}` }));
        return [{ kind: 'nodeUpsert', node: { ...node, drains } }];
      });
      return [...alive, event].flatMap((one) => engine.handle(now, one));
    },
    nextWake: () => engine.nextWake(),
  };
}
