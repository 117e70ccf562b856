import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addOutputFlags, type OutputFlags } from '../../../cli/output-flags.ts';
import { addPolicyFlag, type PolicyFlag } from '../../../cli/policy-flag.ts';

/** The command line of `explain policy`. */
export interface PolicyFlags extends OutputFlags, PolicyFlag {}

/** `explain policy POD|NODE`, as its help shows it. */
export function policyCommand(): CommandUnknownOpts {
  const command = new Command('policy')
    .description('say which EvictionPolicy counts for a pod or the pods of a node, and why')
    .argument('<subject>', 'NAME or pod/NAME of a pod, or node/NAME')
    .argument('[name]', 'the name, where only pod or node stands before it')
    .addHelpText('after', '\nExample:\n  kubectl taintmgr explain policy pod/db-0 -n shop');
  addPolicyFlag(command);
  return addOutputFlags(command);
}
