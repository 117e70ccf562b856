import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ExitCode } from './exit.ts';
import type { Invocation } from './invocation.ts';
import { colored, type Output } from './output.ts';
import { fullNameOf } from './position.ts';

/** What the commands need from the process. */
export interface Surroundings {
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupt: AbortSignal;
}

/** Runs a command; its arguments come after the invocation. */
export type Run<Flags> = (
  invocation: Invocation<Flags>,
  ...args: readonly unknown[]
) => Promise<ExitCode>;

/** Puts commands into the program and gives them what they need when they run. */
export class Registry {
  readonly #surroundings: Surroundings;
  readonly #end: (code: ExitCode) => void;

  /** `end` is told how the command that ran has ended. */
  constructor(surroundings: Surroundings, end: (code: ExitCode) => void) {
    this.#surroundings = surroundings;
    this.#end = end;
  }

  /** Adds a command that runs. */
  add<Flags>(parent: CommandUnknownOpts, command: CommandUnknownOpts, run: Run<Flags>): void {
    this.addGroup(parent, command);
    command.action(async (...given: readonly unknown[]) => {
      // Commander passes the arguments, then the flags, then the command.
      const args = given.slice(0, -2);
      const flags = command.optsWithGlobals() as Invocation<Flags>['flags'];
      const { output, interrupt } = this.#surroundings;
      this.#end(await run({ flags, output: colored(output, flags.color), interrupt }, ...args));
    });
  }

  /** Adds a command that behaves as its parent does, and names its own help. */
  addGroup(parent: CommandUnknownOpts, command: CommandUnknownOpts): void {
    parent.addCommand(command);
    command.copyInheritedSettings(parent).showHelpAfterError(`See ${fullNameOf(command)} --help.`);
  }
}
