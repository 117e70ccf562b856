// The embedded cluster alone: npm run -s cluster -- --port 0 --token T --kubeconfig FILE
import { parseArgs } from 'node:util';
import { type EmbeddedOptions, startEmbedded } from './embedded.ts';
import { threeZones } from './topology.ts';

const usage = `Serves the API of an embedded Kubernetes cluster over HTTPS on the loopback interface.

Usage: npm run -s cluster -- [flags]

  --port NUMBER       port to listen on; 0, the default, lets the system choose
  --token TOKEN       bearer token of the administrator; a random one by default
  --kubeconfig FILE   where to write the kubeconfig; a temporary file by default
  --topology NAME     empty, the default: an API server on which nothing else acts;
                      three-zones: nine nodes with kubelets, workloads, scheduler and controllers
  --seed NUMBER       seed of everything random in the cluster; default 1
  -h, --help          print this help and exit
`;

/** What works in the cluster beside the API server. */
const topologies: Readonly<Record<string, Pick<EmbeddedOptions, 'topology' | 'without'>>> = {
  empty: {
    without: ['nodeLifecycleStandIn', 'workloads', 'scheduler', 'disruption', 'garbageCollection'],
  },
  'three-zones': { topology: threeZones },
};

const flags = {
  port: { type: 'string' },
  token: { type: 'string' },
  kubeconfig: { type: 'string' },
  topology: { type: 'string' },
  seed: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

class UsageError extends Error {}

try {
  await main();
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  if (error instanceof UsageError) process.stderr.write('See npm run -s cluster -- --help\n');
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const options = readFlags(process.argv.slice(2));
  if (!options) {
    process.stdout.write(usage);
    return;
  }
  const embedded = await startEmbedded(options);
  process.stdout.write(`ready: ${embedded.url}\nexport KUBECONFIG=${embedded.kubeconfig}\n`);
  // Its clock does not keep the process alive; the listening socket does.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void embedded.stop().then(() => process.exit(0)));
  }
}

/** Null where help is asked for. */
function readFlags(argv: readonly string[]): EmbeddedOptions | null {
  const { help, port, token, kubeconfig, topology = 'empty', seed } = parse(argv);
  if (help) return null;
  const parts = topologies[topology];
  if (!parts) refuse('topology', topology, Object.keys(topologies).join(' or '));
  if (token === '') refuse('token', token, 'a token that is not empty');
  if (kubeconfig === '') refuse('kubeconfig', kubeconfig, 'the path of a file');
  return {
    ...parts,
    ...(port !== undefined && { port: wholeNumber('port', port, 65_535) }),
    ...(seed !== undefined && { seed: wholeNumber('seed', seed, 2 ** 31) }),
    ...(token !== undefined && { token }),
    ...(kubeconfig !== undefined && { kubeconfig }),
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: flags }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function wholeNumber(flag: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) refuse(flag, text, `a whole number from 0 to ${max}`);
  return value;
}

function refuse(flag: string, value: string, allowed: string): never {
  throw new UsageError(`--${flag}: got "${value}", want ${allowed}`);
}
