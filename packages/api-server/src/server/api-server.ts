import {
  apiServerClusterIp,
  type ClusterApi,
  formatTime,
  type KubeObject,
  PlainServer,
  type PlainServerOptions,
  type Resource,
  type Server,
} from '@taintmgr/sim-cluster/server';
import type { PolicyAdmission } from '../admission/policy-admission.ts';
import type { Access } from '../auth/access.ts';
import { definitionResource } from '../kinds/definitions.ts';
import { admissionResources } from '../kinds/policies.ts';
import { latestRelease } from '../kinds/releases.ts';
import { Desk, type DeskOptions } from './desk.ts';

// The objects by which an API server makes itself known in its own cluster.

/** The address of the API server, and its CA for clients. */
interface Endpoint {
  /** The IP address at which clients reach the server. */
  readonly address: string;
  /** The port at that address. */
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

/**
 * The API server's settings that controllers read: the client CA, and the start of legacy token
 * tracking.
 */
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
function publishOwnObjects(api: ClusterApi, endpoint: Endpoint): void {
  for (const [resource, object] of [
    ...ownService(endpoint),
    ...ownConfig(endpoint, api.clock.now()),
  ]) {
    const { namespace = '', name } = object.metadata;
    if (api.get(resource, namespace, name)) api.delete(resource, namespace, name);
    api.create(resource, object);
  }
}

/**
 * The options of `ApiServer`: those of the simulated API server, and those of a server for real
 * clients.
 */
export interface ApiServerOptions extends Omit<PlainServerOptions, 'front'>, DeskOptions {}

const kinds: readonly Resource[] = [definitionResource, ...admissionResources];

/** A Kubernetes API server over values, without a socket, for real clients. */
export class ApiServer extends PlainServer {
  /** The rights of users, the refusals, and the rights that no user has used. */
  readonly access: Access;
  /** The admission policies in the store, which judge changes before they are stored. */
  readonly policies: PolicyAdmission;

  constructor(options: ApiServerOptions) {
    const desks: Desk[] = [];
    const open = (server: Server): Desk => {
      const desk = new Desk(server, options);
      desks.push(desk);
      return desk;
    };
    const { serves } = options.release ?? latestRelease;
    super({ ...options, front: { kinds, open, ...(serves && { serves }) } });
    const [desk] = desks;
    if (!desk) throw new Error('the server has not opened its front');
    this.access = desk.access;
    this.policies = desk.policies;
  }

  /** Tells the cluster where and how this server can be reached: the Service default/kubernetes. */
  publish(endpoint: Endpoint): void {
    publishOwnObjects(this.as('kube-apiserver'), endpoint);
  }
}
