import type { Command, Engine, Event } from '@taintmgr/core';
import type { Machine } from '../../src/controller/loop-parts.ts';

// Engines that hear something else than they are told, or whose commands are not carried out.

/** Does not hear of some events. */
export function without(engine: Engine, isLost: (event: Event) => boolean): Machine {
  return {
    handle: (now, event) => (isLost(event) ? [] : engine.handle(now, event)),
    nextWake: () => engine.nextWake(),
  };
}

/** Hears events otherwise than they are. */
export function hearing(engine: Engine, heard: (event: Event, now: number) => Event): Machine {
  return {
    handle: (now, event) => engine.handle(now, heard(event, now)),
    nextWake: () => engine.nextWake(),
  };
}

/** Some of its commands are never carried out, though it is told that they were. */
export function swallowing(engine: Engine, isSwallowed: (command: Command) => boolean): Machine {
  const handle: Machine['handle'] = (now, event) =>
    engine.handle(now, event).flatMap((command) => {
      if (!('id' in command) || !isSwallowed(command)) return [command];
      return handle(now, { kind: 'result', id: command.id, outcome: { kind: 'done' } });
    });
  return { handle, nextWake: () => engine.nextWake() };
}
