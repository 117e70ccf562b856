import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { objectName } from '../../../cli/names.ts';
import { addOutputFlags, type OutputFlags } from '../../../cli/output-flags.ts';

/** The command line of `explain pressure`. */
export interface PressureFlags extends OutputFlags {
  readonly evictionHard?: string | undefined;
  readonly evictionSoft?: string | undefined;
  readonly evictionSoftGracePeriod?: string | undefined;
  readonly evictionMinimumReclaim?: string | undefined;
  readonly semantics: 'precise' | 'kubelet-1.36' | 'kubelet-1.6';
  readonly signal?: string | undefined;
  readonly exitCode?: true | undefined;
}

/** `explain pressure NODE`, as its help shows it. */
export function pressureCommand(): CommandUnknownOpts {
  const command = new Command('pressure')
    .description('say what a node is short of, who would be evicted for it, and in which order')
    .argument('<node>', 'name of the node', objectName)
    .option('--eviction-hard <list>', 'assume these hard thresholds, in the syntax of the kubelet')
    .option('--eviction-soft <list>', 'assume these soft thresholds')
    .option('--eviction-soft-grace-period <list>', 'how long each soft threshold must be met')
    .option('--eviction-minimum-reclaim <list>', 'how much each eviction must reclaim at least')
    .option('--signal <name>', 'show the eviction order for this signal, e.g. nodefs.available')
    .addOption(
      new Option('--semantics <name>', 'whose rules apply; precise: those of taintmgr')
        .choices(['kubelet-1.36', 'kubelet-1.6', 'precise'])
        .default('kubelet-1.36'),
    )
    .option('--exit-code', 'exit with 1 when a pod would be evicted, with 2 on errors')
    .addHelpText('after', '\nExample:\n  kubectl taintmgr explain pressure node-1');
  return addOutputFlags(command);
}
