// The command line of `doctor`.
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';
import type { Registry } from '../../cli/registry.ts';

const help = `
Exit codes:
  0  nothing worse than a warning
  1  the cluster could not be examined
  2  something fails`;

/** Adds `doctor`. */
export function addDoctor(parent: CommandUnknownOpts, registry: Registry): void {
  const command = new Command('doctor')
    .summary('find what would keep evictions from working')
    .description(
      'find what would keep evictions from working: missing permissions, two controllers for the same pods, PodDisruptionBudgets that never allow an eviction, taints without a time, clocks that differ',
    )
    .addHelpText('after', help);
  addOutputFlags(command);
  registry.add<OutputFlags>(parent, command, async (invocation) => {
    const { examine } = await import('./command.ts');
    return await examine(invocation);
  });
}
