import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { addOutputFlags, type OutputFlags } from '../../cli/output-flags.ts';

/** The command line of `version`. */
export interface VersionFlags extends OutputFlags {
  readonly client?: true | undefined;
}

/** `version`, as its help shows it. */
export function versionCommand(): CommandUnknownOpts {
  const command = new Command('version')
    .description('print the versions of this plugin and of the API server')
    .option('--client', 'print the version of the plugin only');
  return addOutputFlags(command);
}
