// The shapes of Service and of its endpoints.
import { condition, objectReference, topLevel } from './metadata.ts';
import { always, atomic, list, listBy, map, type Struct, struct } from './types.ts';

const servicePort = struct('ServicePort', {
  name: 'string',
  protocol: 'string',
  appProtocol: 'string*',
  port: 'int32!',
  targetPort: 'intOrString',
  nodePort: 'int32',
});

/** v1 Service. */
export const service: Struct = topLevel('Service', {
  spec: always(
    struct('ServiceSpec', {
      ports: listBy('port', servicePort, ['port', 'protocol']),
      selector: atomic(map('string')),
      clusterIP: 'string',
      clusterIPs: list('string'),
      type: 'string',
      externalIPs: list('string'),
      sessionAffinity: 'string',
      loadBalancerIP: 'string',
      loadBalancerSourceRanges: list('string'),
      externalName: 'string',
      externalTrafficPolicy: 'string',
      healthCheckNodePort: 'int32',
      publishNotReadyAddresses: 'bool',
      sessionAffinityConfig: 'any',
      ipFamilies: list('string'),
      ipFamilyPolicy: 'string*',
      allocateLoadBalancerNodePorts: 'bool*',
      loadBalancerClass: 'string*',
      internalTrafficPolicy: 'string*',
      trafficDistribution: 'string*',
    }),
  ),
  status: always(
    struct('ServiceStatus', {
      loadBalancer: always(struct('LoadBalancerStatus', { ingress: list('any') })),
      conditions: listBy('type', condition),
    }),
  ),
});

const endpointAddress = struct('EndpointAddress', {
  ip: 'string!',
  hostname: 'string',
  nodeName: 'string*',
  targetRef: objectReference,
});

/** v1 Endpoints. */
export const endpoints: Struct = topLevel('Endpoints', {
  subsets: list(
    struct('EndpointSubset', {
      addresses: list(endpointAddress),
      notReadyAddresses: list(endpointAddress),
      ports: list(
        struct('EndpointPort', {
          name: 'string',
          port: 'int32!',
          protocol: 'string',
          appProtocol: 'string*',
        }),
      ),
    }),
  ),
});

const endpoint = struct('Endpoint', {
  addresses: always(list('string')),
  conditions: always(
    struct('EndpointConditions', { ready: 'bool*', serving: 'bool*', terminating: 'bool*' }),
  ),
  hostname: 'string*',
  targetRef: objectReference,
  deprecatedTopology: map('string'),
  nodeName: 'string*',
  zone: 'string*',
  hints: 'any',
});

/** discovery.k8s.io/v1 EndpointSlice. */
export const endpointSlice: Struct = topLevel('EndpointSlice', {
  addressType: 'string!',
  endpoints: always(list(endpoint)),
  ports: always(
    list(
      struct('EndpointPort', {
        name: 'string*',
        protocol: 'string*',
        port: 'int32*',
        appProtocol: 'string*',
      }),
    ),
  ),
});
