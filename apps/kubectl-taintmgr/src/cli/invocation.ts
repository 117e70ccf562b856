import type { ColorChoice } from '../render/style.ts';
import type { ExtraConnectionFlags } from './common-flags.ts';
import type { ExitCode } from './exit.ts';
import type { Output } from './output.ts';

/** What the commands need from the process. */
export interface Surroundings {
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupt: AbortSignal;
  /**
   * Called before a command runs that changes the cluster: it comes to its own end, also where nobody
   * reads what it says any more. Left out: nobody wants to know.
   */
  readonly onChanging?: () => void;
}

/** The flags that every command takes. */
export interface GlobalFlags extends ExtraConnectionFlags {
  readonly color: ColorChoice;
  readonly namespace?: string | undefined;
}

/** One run of a command: what the command line says, and what it needs of the process. */
export interface Invocation<Flags> {
  readonly flags: Flags & GlobalFlags & Readonly<Record<string, unknown>>;
  /** The flags that the command line has, by the names that `flags` has them by. */
  readonly given: ReadonlySet<string>;
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupt: AbortSignal;
  /**
   * Runs another command, as the user would after this one: with the flags that this one was given for the
   * program, such as those of the connection, and with what it writes and hears going elsewhere.
   */
  readonly rerun: (args: readonly string[], surroundings: Surroundings) => Promise<ExitCode>;
}
