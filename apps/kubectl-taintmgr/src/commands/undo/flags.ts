import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { dryRunOption } from '../../dry-run-flag.ts';
import type { Registry } from '../../registry.ts';

/** What the command line of `undo` says. */
export interface UndoFlags {
  readonly selector?: string | undefined;
  readonly dryRun: string;
}

const help = `
Without a name it lists the drains that can be undone.

Examples:
  kubectl taintmgr undo drain-20261120-230839-7f3a
  kubectl taintmgr undo maintenance=kernel node-1`;

/** Adds `undo`. */
export function addUndo(parent: CommandUnknownOpts, registry: Registry): void {
  const command = new Command('undo')
    .summary('take back what a drain has set on nodes, and only that')
    .description(
      'take back what a drain has set on nodes, the taint and the cordon, and only that: what was so before, or somebody else has set since, stays',
    )
    .argument('[drain]', 'name of the drain, or its taint as key[=value] or key[=value]:effect')
    .argument('[nodes...]', 'names of the nodes; all that the drain has touched when left out')
    .option('-l, --selector <selector>', 'label selector for the nodes')
    .addOption(dryRunOption('client: only say what would be done; none: do it'))
    .addHelpText('after', help);
  registry.add<UndoFlags>(parent, command, async (invocation, drain, nodes) => {
    const { undo } = await import('./command.ts');
    const name = drain === undefined ? null : String(drain);
    return await undo(name, nodes as readonly string[], invocation);
  });
}
