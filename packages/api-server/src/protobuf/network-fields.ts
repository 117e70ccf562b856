// The protobuf fields of Services, and of where their endpoints are.
import { type Fields, objectMeta, objectReference, pointer } from './fields.ts';

const metadata: Fields[string] = [1, objectMeta];

const servicePort: Fields = {
  name: [1, 'string'],
  protocol: [2, 'string'],
  port: [3, 'integer'],
  targetPort: [4, 'intOrString'],
  nodePort: [5, 'integer'],
  appProtocol: [6, 'string*'],
};

const serviceSpec: Fields = {
  ports: [1, [servicePort]],
  selector: [2, 'stringMap'],
  clusterIP: [3, 'string'],
  type: [4, 'string'],
  sessionAffinity: [7, 'string'],
  externalIPs: [5, 'strings'],
  loadBalancerIP: [8, 'string'],
  loadBalancerSourceRanges: [9, 'strings'],
  externalName: [10, 'string'],
  externalTrafficPolicy: [11, 'string'],
  healthCheckNodePort: [12, 'integer'],
  publishNotReadyAddresses: [13, 'boolean'],
  sessionAffinityConfig: [
    14,
    pointer({ clientIP: [1, pointer({ timeoutSeconds: [1, 'integer*'] })] }),
  ],
  ipFamilyPolicy: [17, 'string*'],
  clusterIPs: [18, 'strings'],
  ipFamilies: [19, 'strings'],
  allocateLoadBalancerNodePorts: [20, 'boolean*'],
  loadBalancerClass: [21, 'string*'],
  internalTrafficPolicy: [22, 'string*'],
  trafficDistribution: [23, 'string*'],
};

const ingressPort: Fields = {
  port: [1, 'integer'],
  protocol: [2, 'string'],
  error: [3, 'string*'],
};

const condition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  observedGeneration: [3, 'integer'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const serviceStatus: Fields = {
  conditions: [2, [condition]],
  loadBalancer: [
    1,
    {
      ingress: [
        1,
        [
          {
            ip: [1, 'string'],
            hostname: [2, 'string'],
            ipMode: [3, 'string*'],
            ports: [4, [ingressPort]],
          },
        ],
      ],
    },
  ],
};

const address: Fields = {
  ip: [1, 'string'],
  targetRef: [2, pointer(objectReference)],
  hostname: [3, 'string'],
  nodeName: [4, 'string*'],
};

const subset: Fields = {
  addresses: [1, [address]],
  notReadyAddresses: [2, [address]],
  ports: [
    3,
    [
      {
        name: [1, 'string'],
        port: [2, 'integer'],
        protocol: [3, 'string'],
        appProtocol: [4, 'string*'],
      },
    ],
  ],
};

const hint: Fields = { name: [1, 'string'] };

const endpoint: Fields = {
  addresses: [1, 'strings'],
  conditions: [
    2,
    { ready: [1, 'boolean*'], serving: [2, 'boolean*'], terminating: [3, 'boolean*'] },
  ],
  hostname: [3, 'string*'],
  targetRef: [4, pointer(objectReference)],
  deprecatedTopology: [5, 'stringMap'],
  nodeName: [6, 'string*'],
  zone: [7, 'string*'],
  hints: [8, pointer({ forZones: [1, [hint]], forNodes: [2, [hint]] })],
};

const endpointPort: Fields = {
  name: [1, 'string*'],
  protocol: [2, 'string*'],
  port: [3, 'integer*'],
  appProtocol: [4, 'string*'],
};

/** Services, Endpoints and EndpointSlices. */
export const networkKinds: Readonly<Record<string, Fields>> = {
  Endpoints: { metadata, subsets: [2, [subset]] },
  EndpointSlice: {
    metadata,
    endpoints: [2, [endpoint]],
    ports: [3, [endpointPort]],
    addressType: [4, 'string'],
  },
  Service: { metadata, spec: [2, serviceSpec], status: [3, serviceStatus] },
};
