import { Command, type CommandUnknownOpts, Option } from '@commander-js/extra-typings';

/** The command line of `snapshot`. */
export interface SnapshotFlags {
  readonly output: 'json' | 'yaml';
}

const help = `
It holds nodes, pods, PodDisruptionBudgets, leases of nodes and of kube-controller-manager, workloads,
and what policies of taintmgr.dev say, and of these only the fields that decide about scheduling and
evictions: no environment, no commands, no images, no secrets, no addresses. Names and labels are kept.

Examples:
  kubectl taintmgr snapshot > snapshot.json
  npm run -s cluster -- --snapshot snapshot.json --topology snapshot`;

/** `snapshot`, as its help shows it. */
export function snapshotCommand(): CommandUnknownOpts {
  return new Command('snapshot')
    .summary('write a copy of the cluster, without sensitive data')
    .description(
      'write a copy of what decides about evictions in the cluster, without sensitive data: to simulate, to load into an embedded cluster, or to share with others',
    )
    .addOption(
      new Option('-o, --output <format>', 'how to print it')
        .choices(['json', 'yaml'])
        .default('json'),
    )
    .addHelpText('after', help);
}
