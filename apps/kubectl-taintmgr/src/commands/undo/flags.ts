import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { dryRunOption } from '../../cli/dry-run-flag.ts';
import { narrowingSelector, nodeNames } from '../../cli/names.ts';

/** The command line of `undo`. */
export interface UndoFlags {
  readonly selector?: string | undefined;
  readonly dryRun: string;
}

const help = `
Without a name it lists the drains that can be undone.

Examples:
  kubectl taintmgr undo drain-20261120-230839-7f3a
  kubectl taintmgr undo maintenance=kernel node-1
  kubectl taintmgr undo nodedrain/kernel`;

/** `undo`, as its help shows it. */
export function undoCommand(): CommandUnknownOpts {
  return new Command('undo')
    .summary('undo what a drain has changed on nodes, and nothing else')
    .description(
      'undo what a drain has changed on nodes, the taint and the cordon, and nothing else: what was there before, or has been set by somebody else since, stays; a NodeDrain is deleted',
    )
    .argument('[drain]', 'name of the drain, or its taint as key[=value] or key[=value]:effect')
    .argument('[nodes...]', 'names of the nodes; all nodes of the drain by default', nodeNames)
    .option('-l, --selector <selector>', 'label selector for the nodes', narrowingSelector)
    .addOption(dryRunOption('client: only say what would be done; none: do it'))
    .addHelpText('after', help);
}
