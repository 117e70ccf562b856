import { type Config, createEngine } from '@taintmgr/core';
import {
  type FlightStep,
  flightLine,
  flightLineFrom,
  type Machine,
  redactCommand,
  redactEvent,
} from '../../src/index.ts';

/** The machine, and the lines that a recorder writes of it. */
export function listened(machine: Machine): {
  readonly machine: Machine;
  readonly lines: string[];
} {
  const lines: string[] = [];
  const handle: Machine['handle'] = (at, event) => {
    const commands = machine.handle(at, event);
    const redacted = { event: redactEvent(event), commands: commands.map(redactCommand) };
    lines.push(flightLine({ step: lines.length + 1, at, ...redacted }));
    return commands;
  };
  return { machine: { handle, nextWake: () => machine.nextWake() }, lines };
}

/** What an engine of this configuration does that is told what the lines say. */
export function replayed(config: Partial<Config>, lines: readonly string[]): readonly string[] {
  const { machine, lines: again } = listened(createEngine(config));
  for (const line of lines) {
    const { at, event } = flightLineFrom(JSON.parse(line)) as FlightStep;
    machine.handle(at, event);
  }
  return again;
}
