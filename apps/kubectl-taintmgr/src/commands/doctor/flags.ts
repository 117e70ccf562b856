// The command line of `doctor`.
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addOutputFlags } from '../../cli/output-flags.ts';

const help = `
Exit codes:
  0  nothing worse than a warning
  1  the cluster could not be examined
  2  something fails`;

/** `doctor`, as its help shows it. */
export function doctorCommand(): CommandUnknownOpts {
  const command = new Command('doctor')
    .summary('find what would keep evictions from working')
    .description(
      'find what would keep evictions from working: missing permissions, two controllers for the same pods, PodDisruptionBudgets that never allow an eviction, taints without a time, clocks that differ',
    )
    .addHelpText('after', help);
  return addOutputFlags(command);
}
