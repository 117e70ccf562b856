import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Registry } from '../../cli/registry.ts';

/** The command line of `completion install`. */
export interface InstallFlags {
  readonly directory?: string | undefined;
}

const help = `
kubectl asks an executable of the name kubectl_complete-taintmgr, on the PATH, what the next word may
be. Set up kubectl's own completion first: kubectl completion --help.`;

/** Adds `completion`. */
export function addCompletion(parent: CommandUnknownOpts, registry: Registry): void {
  const completion = new Command('completion')
    .summary('let the shell complete commands, flags and names of the cluster')
    .description('let the shell complete commands, flags, nodes, pods, zones and taints')
    .helpCommand(false)
    .addHelpText('after', help);
  registry.addGroup(parent, completion);
  const install = new Command('install')
    .description('write kubectl_complete-taintmgr beside the plugin')
    .option('--directory <directory>', 'where to write it instead; it has to be on the PATH');
  registry.add<InstallFlags>(completion, install, async (invocation) => {
    const { installCompletion } = await import('./install.ts');
    return installCompletion(invocation);
  });
  const script = new Command('script').description('print kubectl_complete-taintmgr');
  registry.add<object>(completion, script, async ({ output }) => {
    const { completionScript } = await import('./install.ts');
    output.write(completionScript);
    return 0;
  });
}
