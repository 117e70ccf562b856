// Puts commands into the program, and gives each run its flags and the process.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ColorChoice } from '../render/style.ts';
import { fullNameOf } from './arguments.ts';
import type { ExtraConnectionFlags } from './common-flags.ts';
import type { ExitCode } from './exit.ts';
import { colored, type Output } from './output.ts';
import { refuseBlank } from './values.ts';

/** An argument of a command. */
type Argument = string | readonly string[] | undefined;

/** Runs a command; its arguments come after the invocation. */
export type Run<Flags, Args extends readonly Argument[]> = (
  invocation: Invocation<Flags>,
  ...args: Args
) => ExitCode | Promise<ExitCode>;

/** Runs a command line. */
export type RunProgram = (argv: readonly string[], surroundings: Surroundings) => Promise<ExitCode>;

/** Puts commands into the program and gives them their surroundings when they run. */
export class Registry {
  readonly #surroundings: Surroundings;
  readonly #end: (code: ExitCode) => void;
  readonly #program: RunProgram;

  /** `end` gets the exit code of the command that ran; `program` runs another one. */
  constructor(surroundings: Surroundings, end: (code: ExitCode) => void, program: RunProgram) {
    this.#surroundings = surroundings;
    this.#end = end;
    this.#program = program;
  }

  /** Adds a command that changes the cluster. */
  addChanging<Flags, Args extends readonly Argument[]>(
    parent: CommandUnknownOpts,
    command: CommandUnknownOpts,
    load: () => Promise<{ readonly run: Run<Flags, Args> }>,
  ): void {
    this.add(parent, command, () => {
      this.#surroundings.onChanging?.();
      return load();
    });
  }

  /** Adds a command that only asks; `load` gets its code when it runs. */
  add<Flags, Args extends readonly Argument[]>(
    parent: CommandUnknownOpts,
    command: CommandUnknownOpts,
    load: () => Promise<{ readonly run: Run<Flags, Args> }>,
  ): void {
    this.addGroup(parent, command);
    command.action(async (...passed: readonly unknown[]) => {
      // Commander passes the arguments, then the flags, then the command.
      const args = passed.slice(0, -2) as readonly unknown[] as Args;
      refuseBlank(command, args);
      const flags = command.optsWithGlobals() as Invocation<Flags>['flags'];
      const { output, interrupt } = this.#surroundings;
      const given = givenFlags(command);
      const { run } = await load();
      const shown = colored(output, flags.color);
      const shared = ofProgram(command);
      const rerun: Invocation<Flags>['rerun'] = (words, surroundings) =>
        this.#program([...shared, ...words], surroundings);
      this.#end(await run({ flags, given, output: shown, interrupt, rerun }, ...args));
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

/** The flags that were given for the program, as a command line has them. */
function ofProgram(command: CommandUnknownOpts): readonly string[] {
  if (command.parent) return ofProgram(command.parent);
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== 'cli') return [];
    const values: unknown = command.getOptionValue(name);
    return [values].flat().map((value) => {
      return value === true ? `${option.long}` : `${option.long}=${String(value)}`;
    });
  });
}

function givenFlags(command: CommandUnknownOpts): ReadonlySet<string> {
  const names = command.options.map((option) => option.attributeName());
  return new Set(names.filter((name) => command.getOptionValueSource(name) === 'cli'));
}

/** The services of the process that commands need. */
export interface Surroundings {
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupt: AbortSignal;
  /**
   * Called before a command that changes the cluster runs: it finishes even where its output is no longer
   * read. Left out: not needed.
   */
  readonly onChanging?: () => void;
}

/** The flags that every command takes. */
export interface GlobalFlags extends ExtraConnectionFlags {
  readonly color: ColorChoice;
  readonly namespace?: string | undefined;
}

/** One run of a command: its flags, and the services of the process. */
export interface Invocation<Flags> {
  readonly flags: Flags & GlobalFlags & Readonly<Record<string, unknown>>;
  /** The flags that the command line has, by the names that `flags` has them by. */
  readonly given: ReadonlySet<string>;
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupt: AbortSignal;
  /**
   * Runs another command, as the user would after this one: with the same flags of the program, such as those
   * of the connection, and with other surroundings.
   */
  readonly rerun: (args: readonly string[], surroundings: Surroundings) => Promise<ExitCode>;
}
