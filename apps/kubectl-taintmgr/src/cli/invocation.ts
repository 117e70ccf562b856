import type { ColorChoice } from '../render/style.ts';
import type { ExtraConnectionFlags } from './connection-flags.ts';
import type { Output } from './output.ts';

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
}
