import tls from 'node:tls';
import {
  type Access,
  ApiClient,
  type Authorization,
  type ClusterConfig,
  connectionOptions,
  extraHeader,
  HttpTransport,
  loadKubeconfig,
  withheldText,
} from '@taintmgr/k8s-adapter/client';
import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import type { ExtraConnectionFlags } from './common-flags.ts';
import { warn } from './output.ts';
import type { Invocation } from './registry.ts';
import { version } from './version.ts';

/** A way to one cluster, for as long as a command runs. */
export interface Connection {
  readonly cluster: ClusterConfig;
  readonly transport: HttpTransport;
  readonly client: ApiClient;
}

/** Does some work on the cluster that the flags name, and closes the connection after it. */
export async function withConnection<T>(
  {
    flags,
    interrupt,
    output,
  }: Pick<Invocation<object>, 'flags' | 'interrupt'> & Partial<Pick<Invocation<object>, 'output'>>,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(flags, interrupt);
  const { access, withheld } = connection.cluster;
  const isLost = flags.username !== undefined && new URL(access.server).protocol !== 'https:';
  const why = withheld ?? (isLost ? withheldText(access.server) : null);
  if (output && why !== null) warn(output, why);
  try {
    return await work(connection);
  } finally {
    connection.transport.close();
  }
}

/**
 * Finds the cluster that the flags name. Throws KubeconfigError and UsageError. Once `interrupt` is
 * aborted, the client's requests throw its reason.
 */
async function connect(
  flags: Readonly<Record<string, unknown>> & ExtraConnectionFlags,
  interrupt: AbortSignal,
): Promise<Connection> {
  const cluster = await loadKubeconfig(connectionOptions(flags));
  // Node would read the 150 that it comes with, which takes longer than the whole connection.
  if (cluster.needsNoAuthorities) tls.setDefaultCACertificates?.([]);
  const headers = extraHeaders(flags);
  const { requestTimeout } = cluster;
  const access = headers ? withHeaders(cluster.access, headers) : cluster.access;
  const transport = new HttpTransport(access, `kubectl-taintmgr/${version}`);
  const { server } = access;
  const client = new ApiClient({ transport, server, requestTimeout, signal: interrupt });
  return { cluster, transport, client };
}

type Headers = Authorization['headers'];

/** Null where no flag asks for extra headers. */
function extraHeaders(flags: ExtraConnectionFlags): Headers | null {
  const { username, password = '', token, as, asUserExtra = [] } = flags;
  if (username !== undefined && token !== undefined) {
    throw new UsageError('--username and --token exclude each other; give one of them');
  }
  if (asUserExtra.length > 0 && !as) {
    throw new UsageError('--as-user-extra needs a user to impersonate: add --as');
  }
  const headers: Headers = {};
  if (username !== undefined) {
    const login = Buffer.from(`${username}:${password}`).toString('base64');
    headers.authorization = `Basic ${login}`;
  }
  for (const [key, values] of extrasOf(asUserExtra)) {
    Object.assign(headers, extraHeader(key, values));
  }
  return Object.keys(headers).length === 0 ? null : headers;
}

function extrasOf(texts: readonly string[]): ReadonlyMap<string, string[]> {
  const extras = new Map<string, string[]>();
  for (const text of texts) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (key === undefined || value === undefined) {
      throw new UsageError(`--as-user-extra: got ${JSON.stringify(text)}, want key=value`);
    }
    extras.set(key, [...(extras.get(key) ?? []), value]);
  }
  return extras;
}

/** A way in that sends some headers more. */
function withHeaders(access: Access, headers: Headers): Access {
  return {
    server: access.server,
    authorize: async () => {
      const authorization = await access.authorize();
      return { ...authorization, headers: { ...authorization.headers, ...headers } };
    },
    rejected: () => access.rejected(),
    close: () => access.close?.(),
  };
}
