// Where a webhook is: at its URL, or behind a Service.
import type { KubeObject, Store } from '@taintmgr/sim-cluster/server';
import type { ClientConfig, ServiceReference } from '../../policy/webhook-address.ts';
import type { WebhookCall } from './call.ts';

export type WebhookAddress = Pick<WebhookCall, 'url' | 'host' | 'port' | 'serverName'>;

/** As a client words what it cannot resolve. */
export interface Unresolved {
  readonly url: string;
  readonly why: string;
}

const httpsPort = 443;

interface Port {
  readonly name?: string;
  readonly port: number;
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
}

/** Finds it; the URL tells the webhook how long it has. */
export function addressOf(
  { url, service }: ClientConfig,
  timeoutMs: number,
  store: Store,
): WebhookAddress | Unresolved {
  const query = `?timeout=${timeoutMs / 1000}s`;
  if (service) return behindService(service, query, store);
  const { hostname, port, pathname, host } = new URL(url ?? '');
  const plain = hostname.replace(/^\[|\]$/g, '');
  return {
    url: `https://${host}${withoutSlash(pathname)}${query}`,
    host: plain,
    port: Number(port || httpsPort),
    serverName: plain,
  };
}

function withoutSlash(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/**
 * The first ready endpoint of a Service, as kube-proxy would choose one; where it has none, its cluster
 * address, at which nobody answers.
 */
function behindService(
  { namespace, name, path = '', port }: ServiceReference,
  query: string,
  store: Store,
): WebhookAddress | Unresolved {
  const serverName = `${name}.${namespace}.svc`;
  const url = `https://${serverName}:${port}${withoutSlash(path) || '/'}${query}`;
  const service = store.get('services', namespace, name);
  if (!service) return { url, why: `service "${name}" not found` };
  const ports: readonly Port[] = service.spec.ports ?? [];
  const found = ports.find((one) => one.port === port);
  if (!found) return { url, why: `no service port ${port} found for service "${name}"` };
  const endpoint = endpointOf(service, found, store);
  const own = { host: service.spec.clusterIP ?? '', port };
  return { url, serverName, ...(endpoint ?? own) };
}

function endpointOf(
  { metadata: { namespace = '', name } }: KubeObject,
  { name: portName = '' }: Port,
  store: Store,
): { readonly host: string; readonly port: number } | null {
  for (const slice of store.collection('endpointslices').list(namespace)) {
    if (slice.metadata.labels?.['kubernetes.io/service-name'] !== name) continue;
    const ports: readonly Port[] = slice.ports ?? [];
    const port = ports.find((one) => (one.name ?? '') === portName)?.port;
    const endpoints: readonly Endpoint[] = slice.endpoints ?? [];
    const host = endpoints.find(({ conditions }) => conditions?.ready !== false)?.addresses[0];
    if (host !== undefined && port !== undefined) return { host, port };
  }
  return null;
}
