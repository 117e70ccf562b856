import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { parseDuration } from '@taintmgr/core';
import { drainByTaint } from './commands/drain-by-taint/command.ts';
import { explainNode } from './commands/explain-node.ts';
import { clusterCommand } from './connection.ts';
import { type ExitCode, exitCode } from './exit.ts';
import type { Output } from './output.ts';
import { version } from './version.ts';

/** What the commands need from the process. */
export interface Surroundings {
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupt: AbortSignal;
}

const dryRuns = ['none', 'client', 'server'] as const;

const drainHelp = `
Exit codes:
  0    done
  1    usage, rights, or the API server
  2    not finished: disruption budgets hold pods back
  3    not finished within --timeout
  130  interrupted; the same command goes on from there

Examples:
  kubectl taintmgr drain-by-taint maintenance=kernel:NoExecute node-1 --ignore-daemonsets --dry-run=server
  kubectl taintmgr drain-by-taint maintenance=kernel:NoExecute -l pool=blue --ignore-daemonsets --timeout=10m`;

/**
 * Runs the command line (without program and script name). Throws CommanderError for a wrong one,
 * after printing what is wrong, and whatever the command throws.
 */
export async function runProgram(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  let code: ExitCode = exitCode.done;
  const program = new Command('kubectl taintmgr')
    .description('See, trust and control pod eviction by node taints.')
    .version(version, '--version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('See kubectl taintmgr --help for the commands and flags.');
  program
    .command('explain')
    .copyInheritedSettings(program)
    .description('say why and when pods will be evicted')
    .helpCommand(false)
    .addCommand(explainNodeCommand(surroundings).copyInheritedSettings(program));
  program.addCommand(
    drainCommand(surroundings, (how) => {
      code = how;
    }).copyInheritedSettings(program),
  );
  await program.parseAsync(argv, { from: 'user' });
  return code;
}

function explainNodeCommand({ output }: Surroundings) {
  return clusterCommand('node')
    .description('say for each pod of a node why and when it will be evicted, or why it stays')
    .argument('<name>', 'name of the node')
    .action((name, flags) => explainNode(name, flags, output));
}

function drainCommand({ output, interrupt }: Surroundings, end: (code: ExitCode) => void) {
  return clusterCommand('drain-by-taint')
    .description(
      'taint nodes and evict the pods that do not tolerate it, each when its time is over, asking disruption budgets',
    )
    .argument('<taint>', 'key[=value]:NoExecute')
    .argument('[nodes...]', 'names of the nodes; or give --selector')
    .option('-l, --selector <selector>', 'label selector for the nodes')
    .option('--pod-selector <selector>', 'label selector for the pods to evict')
    .addOption(
      new Option('--dry-run <strategy>', 'client: only plan; server: ask the API server as well')
        .choices(dryRuns)
        .default(dryRuns[0])
        .preset(dryRuns[1]),
    )
    .option('--force', 'also evict pods that no controller would start again', false)
    .option('--ignore-daemonsets', 'leave DaemonSet pods where they are', false)
    .option('--delete-emptydir-data', 'also evict pods whose emptyDir data is lost', false)
    .option('--grace-period <seconds>', "grace period; negative: the pod's own", integer, -1)
    .option('--timeout <duration>', 'give up after this time, e.g. 10m; 0: never', duration, 0)
    .option('--allow-overlap', 'go on although kube-controller-manager ignores budgets', false)
    .addHelpText('after', drainHelp)
    .action(async (taint, nodes, flags) => {
      end(await drainByTaint(taint, nodes, flags, output, interrupt));
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
