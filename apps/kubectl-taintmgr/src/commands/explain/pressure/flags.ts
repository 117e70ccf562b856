import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { addOutputFlags, type OutputFlags } from '../../../output-flags.ts';
import type { Registry } from '../../../registry.ts';

/** What the command line of `explain pressure` says. */
export interface PressureFlags extends OutputFlags {
  readonly evictionHard?: string | undefined;
  readonly evictionSoft?: string | undefined;
  readonly evictionSoftGracePeriod?: string | undefined;
  readonly evictionMinimumReclaim?: string | undefined;
  readonly semantics: 'precise' | 'kubelet-1.36';
  readonly signal?: string | undefined;
  readonly exitCode?: true | undefined;
}

/** Adds `explain pressure NODE`. */
export function addPressure(explain: CommandUnknownOpts, registry: Registry): void {
  const command = new Command('pressure')
    .description('say what a node is short of, who would be evicted for it, and in which order')
    .argument('<node>', 'name of the node')
    .option('--eviction-hard <list>', 'as if these were the thresholds, as a kubelet takes them')
    .option('--eviction-soft <list>', 'the same, acted on after a while')
    .option('--eviction-soft-grace-period <list>', 'how long a soft threshold has to be met')
    .option('--eviction-minimum-reclaim <list>', 'so much more has to be available afterwards')
    .option('--signal <name>', 'who would go for this one, e.g. nodefs.available')
    .addOption(
      new Option('--semantics <name>', 'whose rules hold: precise are those of taintmgr')
        .choices(['kubelet-1.36', 'precise'])
        .default('kubelet-1.36'),
    )
    .option(
      '--exit-code',
      'exit with 1 when a pod would be evicted, with 2 when that cannot be told',
    )
    .addHelpText('after', '\nExample:\n  kubectl taintmgr explain pressure node-1');
  addOutputFlags(command);
  registry.add<PressureFlags>(explain, command, async (invocation, name) => {
    const { explainPressure } = await import('./command.ts');
    return await explainPressure(String(name), invocation);
  });
}
