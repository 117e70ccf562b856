import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';
import type { Registry } from '../../cli/registry.ts';

/** The command line of `status`. */
export function addStatus(parent: CommandUnknownOpts, registry: Registry): void {
  const command = new Command('status')
    .summary('say who evicts here, how the zones are doing, and what is blocked')
    .description(
      'say who evicts here, how the zones are doing, how many evictions are pending, overdue or blocked, and which drains can be undone',
    );
  addOutputFlags(command);
  registry.add<OutputFlags>(parent, command, async (invocation) => {
    const { tellStatus } = await import('./command.ts');
    return await tellStatus(invocation);
  });
}
