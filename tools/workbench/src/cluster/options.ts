import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Terminal } from '@taintmgr/controller/src/flags/command-line.ts';

/** The command line of `npm run cluster`. */
export interface ClusterFlags {
  readonly port?: number;
  readonly token?: string;
  readonly kubeconfig?: string;
  readonly topology: (typeof topologies)[number];
  readonly snapshot?: string;
  readonly seed?: number;
}

const topologies = ['empty', 'three-zones', 'snapshot'] as const;

const summary =
  'Serves the API of an embedded Kubernetes cluster over HTTPS on the loopback interface.';

const details = `
Topologies:
  empty        an API server on which nothing else acts
  three-zones  nine nodes with kubelets, workloads, scheduler and controllers
  snapshot     the nodes, pods and workloads of --snapshot, at work

Examples:
  npm run -s cluster -- --port 0 --token T --kubeconfig FILE
  kubectl get nodes,pods,pdb,leases,deploy,rs,sts,ds -A -o json > FILE
  npm run -s cluster -- --snapshot FILE                      # as it was when it was taken
  npm run -s cluster -- --snapshot FILE --topology snapshot  # and goes on from there`;

/**
 * Reads the command line (without program and script name). Prints what is wrong, or the help, and
 * throws CommanderError with the exit code to use.
 */
export function parseClusterFlags(
  argv: readonly string[],
  terminal: Partial<Terminal> = {},
): ClusterFlags {
  const program = new Command('npm run -s cluster --')
    .description(summary)
    .helpOption('-h, --help', 'print this help and exit')
    .option(
      '--port <number>',
      'port to listen on; 0, the default, lets the system choose',
      wholeNumber(65_535),
    )
    .option('--token <token>', 'bearer token of the administrator; a random one by default', filled)
    .option(
      '--kubeconfig <file>',
      'where to write the kubeconfig; a temporary file by default',
      filled,
    )
    .option(
      '--snapshot <file>',
      'what kubectl get -o yaml or -o json printed, to begin with',
      filled,
    )
    .addOption(
      new Option('--topology <name>', 'what works in the cluster')
        .choices(topologies)
        .default(topologies[0]),
    )
    .option(
      '--seed <number>',
      'seed of everything random in the cluster; default 1',
      wholeNumber(2 ** 31),
    )
    .addHelpText('after', details)
    .showHelpAfterError('See npm run -s cluster -- --help')
    .allowExcessArguments(false)
    .configureOutput(terminal)
    .exitOverride();
  const flags = program.parse(argv, { from: 'user' }).opts();
  if (flags.topology === 'snapshot' && flags.snapshot === undefined) {
    program.error('error: --topology snapshot needs --snapshot FILE');
  }
  return flags;
}

function filled(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It is empty.');
}

function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value <= max) return value;
    throw new InvalidArgumentError(`Want a whole number from 0 to ${max}.`);
  };
}
