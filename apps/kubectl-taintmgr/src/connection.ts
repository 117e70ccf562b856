import { Command, Option } from '@commander-js/extra-typings';
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

/** A subcommand that takes kubectl's connection flags. */
export function clusterCommand(name: string): Command {
  const command = new Command(name).helpOption('-h, --help', 'print this help and exit');
  for (const { flags, description, option } of connectionFlags) {
    const flag = new Option(flags, description).helpGroup('Connection (as kubectl):');
    command.addOption(option === 'asGroup' ? flag.argParser(collect) : flag);
  }
  return command;
}

/** Finds the cluster that the flags name. Throws KubeconfigError. */
export async function connect(flags: Readonly<Record<string, unknown>>): Promise<Connection> {
  const cluster = await loadKubeconfig(connectionOptions(flags));
  const transport = new HttpTransport(cluster.access, `kubectl-taintmgr/${version}`);
  const { access, requestTimeout } = cluster;
  const client = new ApiClient({ transport, server: access.server, requestTimeout });
  return { cluster, transport, client };
}

function collect(value: string, before: unknown): readonly string[] {
  return Array.isArray(before) ? [...before, value] : [value];
}
