import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { collect } from '../../../cli/connection-flags.ts';
import { addOutputFlags, type OutputFlags } from '../../../cli/output-flags.ts';

/** The command line of `explain policy`. */
export interface PolicyFlags extends OutputFlags {
  readonly policy?: readonly string[] | undefined;
}

/** `explain policy POD|NODE`, as its help shows it. */
export function policyCommand(): CommandUnknownOpts {
  const command = new Command('policy')
    .description('say which EvictionPolicy counts for a pod or the pods of a node, and why')
    .argument('<subject>', 'NAME or pod/NAME of a pod, or node/NAME')
    .addOption(
      new Option(
        '--policy <path>',
        'as if the policies of this file or directory were there; may be repeated',
      ).argParser(collect),
    )
    .addHelpText('after', '\nExample:\n  kubectl taintmgr explain policy pod/db-0 -n shop');
  return addOutputFlags(command);
}
