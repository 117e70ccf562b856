// The command line of the simulated cluster as a program.
import { parseArgs } from 'node:util';
import { topologies } from '../embedded.ts';

export interface ProgramFlags {
  readonly port?: number;
  readonly token?: string;
  /** The path of the kubeconfig; left out: a temporary file that is removed at the end. */
  readonly kubeconfig?: string;
  readonly topology: keyof typeof topologies;
  readonly seed?: number;
  /**
   * The command to run with the cluster, which stops when the command ends; empty: the cluster runs
   * until a signal.
   */
  readonly command: readonly string[];
}

export const help: string = `A Kubernetes API server with nodes, kubelets and controllers in one process, for tests.

Usage:
  api-server [flags] [-- COMMAND ARG...]

With a COMMAND it runs that with KUBECONFIG set, and ends with it, with its exit code. Without one it prints where
it is, and ends at Ctrl-C, at SIGTERM, or when its standard input is a pipe that closes.

Flags:
  --port NUMBER        port to listen on, on the loopback interface; 0, the default, lets the system choose
  --kubeconfig FILE    where to write the kubeconfig; a temporary file by default
  --topology NAME      ${Object.keys(topologies).join(' or ')}; default empty
                         empty        an API server on which nothing else acts
                         three-zones  nine nodes with kubelets, workloads, scheduler and controllers
  --token TOKEN        bearer token of the administrator; a random one by default
  --seed NUMBER        seed of everything random in the cluster; default 1
  -h, --help           print this help and exit
  --version            print the version and exit

Examples:
  api-server -- kubectl get nodes
  api-server --topology three-zones -- pytest tests/
`;

/** Throws an error with the flag, the value and the allowed values. */
export function parseProgramFlags(argv: readonly string[]): ProgramFlags | 'help' | 'version' {
  const end = argv.indexOf('--');
  const { values } = parseArgs({
    args: argv.slice(0, end < 0 ? undefined : end),
    options: {
      port: { type: 'string' },
      kubeconfig: { type: 'string' },
      topology: { type: 'string', default: 'empty' },
      token: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
    },
  });
  if (values.help) return 'help';
  if (values.version) return 'version';
  const command = end < 0 ? [] : argv.slice(end + 1);
  if (end >= 0 && command.length === 0) throw new Error('--: want a command after it');
  return {
    topology: topologyOf(values.topology),
    command,
    ...numberOf('--port', values.port, 65_535, (port) => ({ port })),
    ...numberOf('--seed', values.seed, 2 ** 31, (seed) => ({ seed })),
    ...textOf('--kubeconfig', values.kubeconfig, (kubeconfig) => ({ kubeconfig })),
    ...textOf('--token', values.token, (token) => ({ token })),
  };
}

function topologyOf(name: string): keyof typeof topologies {
  if (name === 'empty' || name === 'three-zones') return name;
  throw new Error(`--topology: got "${name}", want ${Object.keys(topologies).join(' or ')}`);
}

function numberOf<T>(
  flag: string,
  text: string | undefined,
  max: number,
  field: (value: number) => T,
): T | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return field(value);
  throw new Error(`${flag}: got "${text}", want a whole number from 0 to ${max}`);
}

function textOf<T>(
  flag: string,
  text: string | undefined,
  field: (value: string) => T,
): T | undefined {
  if (text === '') throw new Error(`${flag}: it is empty`);
  return text === undefined ? undefined : field(text);
}
