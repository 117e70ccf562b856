import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';
import { addPolicyFlag, type PolicyFlag } from '../../cli/policy-flag.ts';

/** The command line of `pending`. */
export interface PendingFlags extends OutputFlags, PolicyFlag {
  readonly allNamespaces?: true | undefined;
  readonly selector?: string | undefined;
  readonly sortBy: string;
}

/** `pending`, as its help shows it. */
export function pendingCommand(): CommandUnknownOpts {
  const command = new Command('pending')
    .summary('list the pods that taints will evict')
    .description('list the pods that taints will evict, and when')
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <selector>', 'label selector for the pods')
    .addOption(
      new Option('--sort-by <key>', 'due, name, node, or a path such as {.taint.key}').default(
        'due',
      ),
    )
    .addHelpText('after', '\nExample:\n  kubectl taintmgr pending -A --sort-by=due -o wide');
  addPolicyFlag(command);
  return addOutputFlags(command);
}
