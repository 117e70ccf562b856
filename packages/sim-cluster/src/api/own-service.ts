// How an API server makes itself known in its own cluster.
import { apiServerClusterIp } from '../defaults/service.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { ClusterApi } from '../store/cluster-api.ts';

/** Where the API server listens. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

const place = { name: 'kubernetes', namespace: 'default' } as const;
const port = { name: 'https', protocol: 'TCP' } as const;

/** The Service, Endpoints and EndpointSlice by which pods find the API server. */
function ownObjects(endpoint: Endpoint): Readonly<Record<string, KubeObject>> {
  return {
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
}

/** Writes them; those of a snapshot, which tell of another server, give way. */
export function publishService(api: ClusterApi, endpoint: Endpoint): void {
  for (const [resource, object] of Object.entries(ownObjects(endpoint))) {
    if (api.get(resource, place.namespace, place.name)) {
      api.delete(resource, place.namespace, place.name);
    }
    api.create(resource, object);
  }
}
