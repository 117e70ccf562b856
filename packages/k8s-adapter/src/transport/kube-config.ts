// The KubeConfig of @kubernetes/client-node as a way into an API server, by its shape: the package
// need not be installed.
import type { OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { Access, Authorization } from './access.ts';
import { KubeconfigError } from './errors.ts';

/**
 * The members of a KubeConfig of @kubernetes/client-node that are used: its current context says
 * where the cluster is, and how to log in.
 */
export interface KubeConfigLike {
  /** The cluster of the current context; null: there is none. */
  /** The cluster of the current context; null: none is chosen. */
  getCurrentCluster(): {
    readonly server: string;
    readonly skipTLSVerify?: boolean;
    readonly proxyUrl?: string;
  } | null;
  /** Adds the credentials and TLS settings of the current context to the options of a request. */
  /** Logs in: adds headers and TLS material. */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/**
 * Returns the access itself, or that of the current context of a KubeConfig. Throws KubeconfigError
 * for a KubeConfig without a cluster.
 */
export function accessOf(way: Access | KubeConfigLike): Access {
  if (!('applyToHTTPSOptions' in way)) return way;
  const { server } = clusterOf(way);
  // Credentials are kept by the KubeConfig, which cannot be told that one was refused.
  return { server, authorize: () => authorizationOf(way), rejected: () => {} };
}

function clusterOf(
  config: KubeConfigLike,
): NonNullable<ReturnType<KubeConfigLike['getCurrentCluster']>> {
  const cluster = config.getCurrentCluster();
  if (cluster) return cluster;
  throw new KubeconfigError(
    'the KubeConfig has no current cluster; call loadFromDefault() or setCurrentContext(NAME) first',
  );
}

/** Logs in as the KubeConfig does. Rejects when that fails. */
export async function authorizationOf(config: KubeConfigLike): Promise<Authorization> {
  const { skipTLSVerify, proxyUrl = '' } = clusterOf(config);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, agent } = options;
  // Never undefined: NODE_TLS_REJECT_UNAUTHORIZED=0 would then decide.
  const tls = { ca, cert, key, servername, rejectUnauthorized: skipTLSVerify !== true };
  const headers = loginHeaders(options);
  if (proxyUrl === '') return { headers, tls, proxy: null, agent: null };
  // client-node knows SOCKS; through other proxies we go ourselves.
  if (!/^socks/i.test(proxyUrl)) return { headers, tls, proxy: new URL(proxyUrl), agent: null };
  return { headers, tls, proxy: null, agent: typeof agent === 'object' ? agent : null };
}

/** client-node always gives a record, its type allows lists too. */
function loginHeaders({ headers = {}, auth }: RequestOptions): OutgoingHttpHeaders {
  return {
    ...('length' in headers ? {} : headers),
    ...(auth && { authorization: `Basic ${Buffer.from(auth).toString('base64')}` }),
  };
}

/** Names the package where an import of it has failed because it is not installed. */
export function explainedImport(error: unknown, needing: string): unknown {
  if (!/['"]@kubernetes\/client-node['"]/.test(String(error))) return error;
  const remedy = 'which is not installed: npm install @kubernetes/client-node';
  return new Error(`${needing} needs @kubernetes/client-node, ${remedy}`);
}
