// The defaults of Services and of their endpoints.
import { hash } from '../kernel/hash.ts';
import type { KubeObject } from '../objects/kube-object.ts';

interface Port {
  readonly protocol?: string;
  readonly port?: number;
  readonly targetPort?: number | string;
  readonly nodePort?: number;
}

const nodePortMin = 30_000;
const nodePortCount = 2768;
/** Addresses of services are those of 10.96.0.0/12 but for the first few. */
const addressCount = 0x10_0000;
const reservedAddresses = 256;

/** The first address of the range: that of the API server itself. */
export const apiServerClusterIp = '10.96.0.1';

/** A new or changed Service: with an address, and defaults for missing fields. */
export function admitService(
  service: KubeObject,
  _subresource = '',
  previous: KubeObject | null = null,
): KubeObject {
  const { spec } = service;
  const type: string = spec.type || 'ClusterIP';
  const common = { ...spec, type, sessionAffinity: spec.sessionAffinity || 'None' };
  if (type === 'ExternalName') return { ...service, spec: common };
  const exposed = type === 'NodePort' || type === 'LoadBalancer';
  const ports: readonly Port[] = spec.ports ?? [];
  const policy = spec.externalTrafficPolicy ?? 'Cluster';
  const allocates = spec.allocateLoadBalancerNodePorts ?? true;
  return {
    ...service,
    spec: {
      ...common,
      ...(ports.length > 0
        ? { ports: ports.map((port) => defaultPort(port, exposed ? service.metadata.uid : null)) }
        : {}),
      ...addresses(service, previous),
      internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
      ...(exposed ? { externalTrafficPolicy: policy } : {}),
      ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: allocates } : {}),
    },
  };
}

/** A new Service has no other status. */
export function admitNewService(service: KubeObject): KubeObject {
  return { ...admitService(service), status: {} };
}

function defaultPort(given: Port, uid: string | undefined | null): Port {
  const { protocol = 'TCP', port = 0, nodePort } = given;
  const targetPort = given.targetPort || port;
  const ported = { ...given, protocol, targetPort };
  if (uid === null || nodePort) return ported;
  return {
    ...ported,
    nodePort: nodePortMin + (hash(`${uid}/${protocol}/${port}`) % nodePortCount),
  };
}

/**
 * Two members say the same, one of them as a list. A client that sets neither keeps the present
 * addresses.
 */
function addresses({ metadata, spec }: KubeObject, previous: KubeObject | null): object {
  const [listed, ...others]: readonly string[] = spec.clusterIPs ?? [];
  const kept: string | undefined = previous?.spec.clusterIP;
  const clusterIP: string = spec.clusterIP || listed || kept || clusterIp(metadata.uid ?? '');
  const families = clusterIP.includes(':') ? ['IPv6'] : ['IPv4'];
  return {
    clusterIP,
    clusterIPs: [clusterIP, ...others],
    ipFamilies: spec.ipFamilies ?? families,
    ipFamilyPolicy: spec.ipFamilyPolicy ?? 'SingleStack',
  };
}

/** The same for the same uid, so that a change that leaves it out does not change it. */
function clusterIp(uid: string): string {
  const number = reservedAddresses + (hash(uid) % (addressCount - reservedAddresses - 1));
  return `10.${96 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
}

/** A new or changed EndpointSlice: each port has a protocol and a name, which may be empty. */
export function admitEndpointSlice(slice: KubeObject): KubeObject {
  const ports: readonly object[] = slice.ports ?? [];
  return { ...slice, ports: ports.map((port) => ({ name: '', protocol: 'TCP', ...port })) };
}
