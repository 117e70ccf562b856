import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addOutputFlags } from '../../cli/output-flags.ts';

/** The command line of `status`. */
export function statusCommand(): CommandUnknownOpts {
  const command = new Command('status')
    .summary('say who evicts here, how the zones are doing, and what is blocked')
    .description(
      'say who evicts here, how the zones are doing, how many evictions are pending, overdue or blocked, and which drains can be undone',
    );
  return addOutputFlags(command);
}
