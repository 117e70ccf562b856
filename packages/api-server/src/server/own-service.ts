// How an API server makes itself known in its own cluster.

import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster/server';
import { apiServerClusterIp, formatTime } from '@taintmgr/sim-cluster/server';

/** Where the API server listens, and how clients know it. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
  /** The authority's certificate, PEM. */
  readonly ca: string;
}

const place = { name: 'kubernetes', namespace: 'default' } as const;
const system = 'kube-system';
const port = { name: 'https', protocol: 'TCP' } as const;

type Own = readonly [resource: string, object: KubeObject];

/** The Service, Endpoints and EndpointSlice by which pods find the API server. */
function ownService(endpoint: Endpoint): readonly Own[] {
  const objects: Readonly<Record<string, KubeObject>> = {
    services: {
      metadata: { ...place, labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: {
        ports: [{ ...port, port: 443, targetPort: endpoint.port }],
        clusterIP: apiServerClusterIp,
        type: 'ClusterIP',
        sessionAffinity: 'None',
      },
    },
    endpoints: {
      metadata: { ...place, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [
        { addresses: [{ ip: endpoint.address }], ports: [{ ...port, port: endpoint.port }] },
      ],
    },
    endpointslices: {
      metadata: { ...place, labels: { 'kubernetes.io/service-name': place.name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [endpoint.address], conditions: { ready: true } }],
      ports: [{ ...port, port: endpoint.port }],
    },
  };
  return Object.entries(objects);
}

/** What controllers read of the API server: who is let in, and since when old tokens are tracked. */
function ownConfig({ ca }: Endpoint, now: number): readonly Own[] {
  const map = (name: string, data: KubeObject['data']): Own => [
    'configmaps',
    { metadata: { name, namespace: system }, data },
  ];
  const [since] = formatTime(now).split('T');
  return [
    map('extension-apiserver-authentication', { 'client-ca-file': ca }),
    map('kube-apiserver-legacy-service-account-token-tracking', { since }),
  ];
}

/** Writes them; those of a snapshot, which tell of another server, give way. */
export function publishOwnObjects(api: ClusterApi, endpoint: Endpoint): void {
  for (const [resource, object] of [
    ...ownService(endpoint),
    ...ownConfig(endpoint, api.clock.now()),
  ]) {
    const { namespace = '', name } = object.metadata;
    if (api.get(resource, namespace, name)) api.delete(resource, namespace, name);
    api.create(resource, object);
  }
}
