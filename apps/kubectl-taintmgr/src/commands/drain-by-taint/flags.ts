import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { parseDuration } from '@taintmgr/core';
import type { Registry } from '../../registry.ts';
import type { DrainFlags } from './drain.ts';

const dryRuns = ['none', 'client', 'server'] as const;

const help = `
Exit codes:
  0    done
  1    usage, rights, or the API server
  2    not finished: disruption budgets hold pods back
  3    not finished within --timeout
  130  interrupted; the same command goes on from there

Examples:
  kubectl taintmgr drain-by-taint maintenance=kernel:NoExecute node-1 --ignore-daemonsets --dry-run=server
  kubectl taintmgr drain-by-taint maintenance=kernel:NoExecute -l pool=blue --ignore-daemonsets --timeout=10m`;

/** Adds `drain-by-taint`. */
export function addDrain(parent: CommandUnknownOpts, registry: Registry): void {
  const command = new Command('drain-by-taint')
    .summary('cordon and taint nodes and evict the pods that do not tolerate it')
    .description(
      'cordon and taint nodes and evict the pods that do not tolerate it, each when its time is over, asking disruption budgets',
    )
    .argument('<taint>', 'key[=value]:NoExecute')
    .argument('[nodes...]', 'names of the nodes; or give --selector')
    .option('-l, --selector <selector>', 'label selector for the nodes')
    .option('--pod-selector <selector>', 'label selector for the pods to evict')
    .addOption(
      new Option('--dry-run <strategy>', 'client: only plan; server: ask the API server as well')
        .choices(dryRuns)
        .default(dryRuns[0]),
    )
    .option('--force', 'also evict pods that no controller would start again')
    .option('--ignore-daemonsets', 'leave DaemonSet pods where they are')
    .option('--delete-emptydir-data', 'also evict pods whose emptyDir data is lost')
    .option('--grace-period <seconds>', "grace period; negative: the pod's own", integer, -1)
    .option('--timeout <duration>', 'give up after this time, e.g. 10m; 0: never', duration, 0)
    .option('--allow-overlap', 'go on although kube-controller-manager ignores budgets')
    .addHelpText('after', help);
  registry.add<DrainFlags>(parent, command, async (invocation, taint, nodes) => {
    const { drainByTaint } = await import('./command.ts');
    return await drainByTaint(String(taint), nodes as readonly string[], invocation);
  });
}

function integer(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Want a whole number of seconds.');
}

function duration(text: string): number {
  const millis = parseDuration(text);
  if (millis !== null) return millis;
  throw new InvalidArgumentError('Want a duration such as 30s, 10m or 1h30m.');
}
