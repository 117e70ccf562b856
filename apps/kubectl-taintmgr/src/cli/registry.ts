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

/** What is given to a command beside its flags. */
type Argument = string | readonly string[] | undefined;

/** Runs a command; its arguments come after the invocation. */
export type Run<Flags, Args extends readonly Argument[]> = (
  invocation: Invocation<Flags>,
  ...args: Args
) => ExitCode | Promise<ExitCode>;

/** Puts commands into the program and gives them what they need when they run. */
export class Registry {
  readonly #surroundings: Surroundings;
  readonly #end: (code: ExitCode) => void;

  /** `end` gets the exit code of the command that ran. */
  constructor(surroundings: Surroundings, end: (code: ExitCode) => void) {
    this.#surroundings = surroundings;
    this.#end = end;
  }

  /** Adds a command; `load` gets its code when it runs. */
  add<Flags, Args extends readonly Argument[]>(
    parent: CommandUnknownOpts,
    command: CommandUnknownOpts,
    load: () => Promise<{ readonly run: Run<Flags, Args> }>,
  ): void {
    this.addGroup(parent, command);
    command.action(async (...passed: readonly unknown[]) => {
      // Commander passes the arguments, then the flags, then the command.
      const args = passed.slice(0, -2) as readonly unknown[] as Args;
      const flags = command.optsWithGlobals() as Invocation<Flags>['flags'];
      const { output, interrupt } = this.#surroundings;
      const given = givenFlags(command);
      const { run } = await load();
      const shown = colored(output, flags.color);
      this.#end(await run({ flags, given, output: shown, interrupt }, ...args));
    });
  }

  /** Adds a command that behaves as its parent does, and names its own help. */
  addGroup(parent: CommandUnknownOpts, command: CommandUnknownOpts): CommandUnknownOpts {
    parent.addCommand(command);
    return command
      .copyInheritedSettings(parent)
      .showHelpAfterError(`See ${fullNameOf(command)} --help.`);
  }
}

function givenFlags(command: CommandUnknownOpts): ReadonlySet<string> {
  const names = command.options.map((option) => option.attributeName());
  return new Set(names.filter((name) => command.getOptionValueSource(name) === 'cli'));
}
