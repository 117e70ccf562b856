import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';

/** The command line of `completion install`. */
export interface InstallFlags {
  readonly directory?: string | undefined;
}

const help = `
kubectl asks an executable of the name kubectl_complete-taintmgr, on the PATH, what the next word may
be. Set up kubectl's own completion first: kubectl completion --help.`;

/** `completion`, whose commands follow. */
export function completionGroup(): CommandUnknownOpts {
  return new Command('completion')
    .summary('let the shell complete commands, flags and names of the cluster')
    .description('let the shell complete commands, flags, nodes, pods, zones and taints')
    .helpCommand(false)
    .addHelpText('after', help);
}

/** `completion install`, as its help shows it. */
export function installCommand(): CommandUnknownOpts {
  return new Command('install')
    .description('write kubectl_complete-taintmgr beside the plugin')
    .option('--directory <directory>', 'where to write it instead; it has to be on the PATH');
}

/** `completion script`, as its help shows it. */
export function scriptCommand(): CommandUnknownOpts {
  return new Command('script').description('print kubectl_complete-taintmgr');
}
