import {
  Command,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { parseDuration } from '@taintmgr/core';
import { drainByTaint } from './commands/drain-by-taint/command.ts';
import { explainNode } from './commands/explain-node.ts';
import { addConnectionFlags } from './connection.ts';
import { type ExitCode, endingOf, exitCode } from './exit.ts';
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
 * Runs the command line (without program and script name) and says what is wrong with it, or what
 * went wrong; the exit code. Throws only for a mistake of ours.
 */
export async function runProgram(
  argv: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { output, interrupt } = surroundings;
  let code: ExitCode = exitCode.done;
  const program = createProgram(surroundings, (how) => {
    code = how;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    const ending = endingOf(error, interrupt);
    if (!ending) throw error;
    if (ending.lines !== '') output.err(ending.lines);
    return ending.code;
  }
}

function createProgram(surroundings: Surroundings, end: (code: ExitCode) => void): Command {
  const { output } = surroundings;
  const program = new Command('kubectl taintmgr')
    .description('See, trust and control pod eviction by node taints.')
    .version(version, '--version', 'print the version and exit')
    .helpOption('-h, --help', 'print this help and exit')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.out(withoutLineEnd(text)),
      writeErr: (text) => output.err(withoutLineEnd(text)),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('See kubectl taintmgr --help for the commands.');
  addConnectionFlags(program);
  const explain = new Command('explain').description('say why and when pods will be evicted');
  addCommand(program, explain, 'kubectl taintmgr explain');
  addCommand(explain, explainNodeCommand(surroundings), 'kubectl taintmgr explain node');
  addCommand(program, drainCommand(surroundings, end), 'kubectl taintmgr drain-by-taint');
  return program;
}

/** Adds a subcommand that behaves as its parent does, and names its own help. */
function addCommand(parent: CommandUnknownOpts, command: CommandUnknownOpts, path: string): void {
  command.copyInheritedSettings(parent).showHelpAfterError(`See ${path} --help.`);
  parent.addCommand(command);
}

function explainNodeCommand({ output, interrupt }: Surroundings): CommandUnknownOpts {
  return new Command('node')
    .description('say for each pod of a node why and when it will be evicted, or why it stays')
    .argument('<name>', 'name of the node')
    .action((name, _, command) => explainNode(name, command.optsWithGlobals(), output, interrupt));
}

function drainCommand(
  { output, interrupt }: Surroundings,
  end: (code: ExitCode) => void,
): CommandUnknownOpts {
  return new Command('drain-by-taint')
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
    .addHelpText('after', drainHelp)
    .action(async (taint, nodes, _, command) => {
      end(await drainByTaint(taint, nodes, command.optsWithGlobals(), output, interrupt));
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

/** Commander ends what it writes with line ends; so does Output. */
function withoutLineEnd(text: string): string {
  return text.replace(/\n$/, '');
}
