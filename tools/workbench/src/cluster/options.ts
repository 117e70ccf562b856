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
  readonly systemPods: boolean;
  readonly denyEviction: readonly EvictionDenial[];
  readonly takeover?: boolean | undefined;
  readonly runController?: boolean | undefined;
}

/** An admission webhook that refuses to evict the pods of one name. */
interface EvictionDenial {
  readonly pod: string;
  readonly code: number;
  readonly webhook: string;
  readonly message: string;
}

const topologies = ['empty', 'three-zones', 'snapshot'] as const;

const summary =
  'Serves the API of an embedded Kubernetes cluster over HTTPS on the loopback interface.';

const details = `
Topologies:
  empty        an API server on which nothing else acts
  three-zones  nine nodes with kubelets, workloads, scheduler and controllers, which stand
               aside while a kube-controller-manager works on them
  snapshot     the nodes, pods and workloads of --snapshot, at work

Examples:
  npm run -s cluster -- --port 0 --token T --kubeconfig FILE
  kubectl get nodes,pods,pdb,leases,deploy,rs,sts,ds -A -o json > FILE
  npm run -s cluster -- --snapshot FILE                      # as it was when it was taken
  npm run -s cluster -- --snapshot FILE --topology snapshot  # and goes on from there
  npm run -s cluster -- --takeover                           # docs/takeover.md
  npm run -s cluster -- --takeover --run-controller          # docs/install.md
  npm run -s cluster -- --topology three-zones \\
    --deny-eviction 'db-0=429:evictions.example.com:it is being moved'`;

/**
 * Reads the command line (without program and script name). Prints the error or the help, and
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
    .option(
      '--system-pods',
      "run the pods in kube-system for which Kubernetes' own tests wait a minute each",
      false,
    )
    .option(
      '--deny-eviction <pod=code:webhook:message>',
      'refuse to evict a pod as an admission webhook does; repeatable',
      addDenial,
      noDenials,
    )
    .option(
      '--takeover',
      'three-zones as a managed cluster: beside them a kube-controller-manager that evicts',
    )
    .option(
      '--run-controller',
      'run the taintmgr-controller that is deployed into the cluster, as a process with its log here',
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
  if (flags.systemPods && flags.topology !== 'three-zones') {
    program.error('error: --system-pods needs --topology three-zones');
  }
  return flags;
}

function filled(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It is empty.');
}

const noDenials: readonly EvictionDenial[] = [];

function addDenial(text: string, before: readonly EvictionDenial[]): readonly EvictionDenial[] {
  return [...before, evictionDenial(text)];
}

function evictionDenial(text: string): EvictionDenial {
  const [, pod = '', code, webhook = '', message = ''] =
    /^([^=]+)=([45]\d\d):([^:"]+):(.*)$/s.exec(text) ?? [];
  if (code !== undefined) return { pod, code: Number(code), webhook, message };
  throw new InvalidArgumentError('Want POD=CODE:WEBHOOK:MESSAGE with a code from 400 to 599.');
}

function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value <= max) return value;
    throw new InvalidArgumentError(`Want a whole number from 0 to ${max}.`);
  };
}
