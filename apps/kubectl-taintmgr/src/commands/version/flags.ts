import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';
import type { Registry } from '../../cli/registry.ts';

/** The command line of `version`. */
export interface VersionFlags extends OutputFlags {
  readonly client?: true | undefined;
}

/** Adds `version`. */
export function addVersion(parent: CommandUnknownOpts, registry: Registry): void {
  const command = new Command('version')
    .description('print the versions of this plugin and of the API server')
    .option('--client', 'print the version of the plugin only');
  addOutputFlags(command);
  registry.add<VersionFlags>(parent, command, async (invocation) => {
    const { tellVersion } = await import('./command.ts');
    return await tellVersion(invocation);
  });
}
