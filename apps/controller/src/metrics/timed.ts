import type { Event } from '@taintmgr/core';
import type { Machine } from '@taintmgr/k8s-adapter';

/** Told how long the machine took for an event. */
export type Handled = (event: Event['kind'], seconds: number) => void;

/** The machine, with a stop watch beside it. */
export function timed(machine: Machine, handled: readonly Handled[]): Machine {
  return {
    nextWake: () => machine.nextWake(),
    handle: (now, event) => {
      const begun = performance.now();
      const commands = machine.handle(now, event);
      const seconds = (performance.now() - begun) / 1000;
      for (const observe of handled) observe(event.kind, seconds);
      return commands;
    },
  };
}
