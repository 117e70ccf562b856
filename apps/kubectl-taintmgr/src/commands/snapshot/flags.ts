import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Registry } from '../../registry.ts';

/** What the command line of `snapshot` says. */
export interface SnapshotFlags {
  readonly output: 'json' | 'yaml';
}

const help = `
It holds nodes, pods, disruption budgets, the leases of nodes, and workloads; of these what decides
about scheduling and evictions, and nothing else: no environment, no commands, no images, no secrets,
no addresses. Names and labels stay.

Examples:
  kubectl taintmgr snapshot > snapshot.json
  npm run -s cluster -- --snapshot snapshot.json --topology snapshot`;

/** Adds `snapshot`. */
export function addSnapshot(parent: CommandUnknownOpts, registry: Registry): void {
  const command = new Command('snapshot')
    .summary('write down the cluster, without what is nobody’s business')
    .description(
      'write down what of the cluster decides about evictions, without what is nobody’s business: to try things on an embedded cluster, to simulate, to show to others',
    )
    .addOption(
      new Option('-o, --output <format>', 'how to print it')
        .choices(['json', 'yaml'])
        .default('json'),
    )
    .addHelpText('after', help);
  registry.add<SnapshotFlags>(parent, command, async (invocation) => {
    const { takeSnapshot } = await import('./command.ts');
    return await takeSnapshot(invocation);
  });
}
