import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';
import { addPolicyFlag, type PolicyFlag } from '../../cli/policy-flag.ts';

/** The command line of `status`. */
export interface StatusFlags extends OutputFlags, PolicyFlag {
  readonly shadow?: true | undefined;
}

/** `status`, as its help shows it. */
export function statusCommand(): CommandUnknownOpts {
  const command = new Command('status')
    .summary('say who evicts here, how the zones are doing, and what is blocked')
    .description(
      'say who evicts here, how the zones are doing, how many evictions are pending, overdue or blocked, and which drains can be undone',
    )
    .option(
      '--shadow',
      'say instead what kube-controller-manager evicted, and what taintmgr would have done; a controller with --dry-run keeps score',
    );
  addPolicyFlag(command);
  return addOutputFlags(command);
}
