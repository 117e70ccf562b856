import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { formatNames } from '../render/format.ts';

/** The flags of every command that prints an answer. */
export interface OutputFlags {
  readonly output?: string | undefined;
  /** False with --no-headers. */
  readonly headers?: boolean | undefined;
}

/** Adds kubectl's flags about how the answer is printed. */
export function addOutputFlags(command: CommandUnknownOpts): CommandUnknownOpts {
  return command
    .addOption(
      new Option(
        '-o, --output <format>',
        `how to print it: ${formatNames.join(', ')} (default table)`,
      ),
    )
    .option('--no-headers', 'print a table without its heads');
}
