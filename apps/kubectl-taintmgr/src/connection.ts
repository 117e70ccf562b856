import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import {
  ApiClient,
  type ClusterConfig,
  connectionFlags,
  connectionOptions,
  HttpTransport,
  loadKubeconfig,
} from '@taintmgr/k8s-adapter';
import { version } from './version.ts';

/** A way to one cluster, for as long as a command runs. */
export interface Connection {
  readonly cluster: ClusterConfig;
  readonly transport: HttpTransport;
  readonly client: ApiClient;
}

/** Adds kubectl's connection flags; on the program, they count before and after its commands. */
export function addConnectionFlags(command: CommandUnknownOpts): void {
  for (const { flags, description, option } of connectionFlags) {
    const flag = new Option(flags, description).helpGroup('Connection (as kubectl):');
    command.addOption(option === 'asGroup' ? flag.argParser(collect) : flag);
  }
}

/**
 * Finds the cluster that the flags name. Throws KubeconfigError. Once `interrupt` is aborted, the
 * client's requests throw its reason.
 */
export async function connect(
  flags: Readonly<Record<string, unknown>>,
  interrupt: AbortSignal,
): Promise<Connection> {
  const cluster = await loadKubeconfig(connectionOptions(flags));
  const transport = new HttpTransport(cluster.access, `kubectl-taintmgr/${version}`);
  const { access, requestTimeout } = cluster;
  const signal = interrupt;
  const client = new ApiClient({ transport, server: access.server, requestTimeout, signal });
  return { cluster, transport, client };
}

function collect(value: string, before: unknown): readonly string[] {
  return Array.isArray(before) ? [...before, value] : [value];
}
