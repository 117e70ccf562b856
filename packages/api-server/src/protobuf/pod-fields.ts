// The protobuf fields of a Pod.
import { container, podSecurity, resources } from './container-fields.ts';
import { type Fields, labelSelector, pointer } from './fields.ts';
import { volume } from './volume-fields.ts';

// The protobuf fields by which pods say where they want to be.

const requirement: Fields = { key: [1, 'string'], operator: [2, 'string'], values: [3, 'strings'] };
const nodeTerm: Fields = { matchExpressions: [1, [requirement]], matchFields: [2, [requirement]] };

const nodeAffinity = pointer({
  requiredDuringSchedulingIgnoredDuringExecution: [
    1,
    pointer({ nodeSelectorTerms: [1, [nodeTerm]] }),
  ],
  preferredDuringSchedulingIgnoredDuringExecution: [
    2,
    [{ weight: [1, 'integer'], preference: [2, nodeTerm] }],
  ],
});

const podTerm: Fields = {
  labelSelector: [1, pointer(labelSelector)],
  namespaces: [2, 'strings'],
  topologyKey: [3, 'string'],
  namespaceSelector: [4, pointer(labelSelector)],
  matchLabelKeys: [5, 'strings'],
  mismatchLabelKeys: [6, 'strings'],
};

/** Towards other pods, or away from them. */
const podAffinity = pointer({
  requiredDuringSchedulingIgnoredDuringExecution: [1, [podTerm]],
  preferredDuringSchedulingIgnoredDuringExecution: [
    2,
    [{ weight: [1, 'integer'], podAffinityTerm: [2, podTerm] }],
  ],
});

/** v1.Affinity. */
const affinity: ReturnType<typeof pointer> = pointer({
  nodeAffinity: [1, nodeAffinity],
  podAffinity: [2, podAffinity],
  podAntiAffinity: [3, podAffinity],
});

/** v1.TopologySpreadConstraint. */
const spreadConstraint: Fields = {
  maxSkew: [1, 'integer'],
  topologyKey: [2, 'string'],
  whenUnsatisfiable: [3, 'string'],
  labelSelector: [4, pointer(labelSelector)],
  minDomains: [5, 'integer*'],
  nodeAffinityPolicy: [6, 'string*'],
  nodeTaintsPolicy: [7, 'string*'],
  matchLabelKeys: [8, 'strings'],
};

const nameOnly: Fields = { name: [1, 'string'] };

const ephemeralContainer: Fields = { '': [1, container], targetContainerName: [2, 'string'] };
const dnsConfig = pointer({
  nameservers: [1, 'strings'],
  searches: [2, 'strings'],
  options: [3, [{ name: [1, 'string'], value: [2, 'string*'] }]],
});
const resourceClaim: Fields = {
  name: [1, 'string'],
  resourceClaimName: [3, 'string*'],
  resourceClaimTemplateName: [4, 'string*'],
};

const toleration: Fields = {
  key: [1, 'string'],
  operator: [2, 'string'],
  value: [3, 'string'],
  effect: [4, 'string'],
  tolerationSeconds: [5, 'integer*'],
};

/** `spec` of a Pod and of every pod template. */
export const podSpec: Fields = {
  volumes: [1, [volume]],
  containers: [2, [container]],
  restartPolicy: [3, 'string'],
  terminationGracePeriodSeconds: [4, 'integer*'],
  activeDeadlineSeconds: [5, 'integer*'],
  dnsPolicy: [6, 'string'],
  nodeSelector: [7, 'stringMap'],
  serviceAccountName: [8, 'string'],
  serviceAccount: [9, 'string'],
  nodeName: [10, 'string'],
  hostNetwork: [11, 'boolean'],
  hostPID: [12, 'boolean'],
  hostIPC: [13, 'boolean'],
  securityContext: [14, podSecurity],
  imagePullSecrets: [15, [nameOnly]],
  hostname: [16, 'string'],
  subdomain: [17, 'string'],
  affinity: [18, affinity],
  schedulerName: [19, 'string'],
  initContainers: [20, [container]],
  automountServiceAccountToken: [21, 'boolean*'],
  tolerations: [22, [toleration]],
  hostAliases: [23, [{ ip: [1, 'string'], hostnames: [2, 'strings'] }]],
  priorityClassName: [24, 'string'],
  priority: [25, 'integer*'],
  dnsConfig: [26, dnsConfig],
  shareProcessNamespace: [27, 'boolean*'],
  readinessGates: [28, [{ conditionType: [1, 'string'] }]],
  runtimeClassName: [29, 'string*'],
  enableServiceLinks: [30, 'boolean*'],
  preemptionPolicy: [31, 'string*'],
  overhead: [32, 'quantityMap'],
  topologySpreadConstraints: [33, [spreadConstraint]],
  ephemeralContainers: [34, [ephemeralContainer]],
  setHostnameAsFQDN: [35, 'boolean*'],
  os: [36, pointer(nameOnly)],
  hostUsers: [37, 'boolean*'],
  schedulingGates: [38, [nameOnly]],
  resourceClaims: [39, [resourceClaim]],
  resources: [40, pointer(resources)],
  hostnameOverride: [41, 'string*'],
};

const condition: Fields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastProbeTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
  observedGeneration: [7, 'integer'],
};

const terminated = pointer({
  exitCode: [1, 'integer!'],
  signal: [2, 'integer'],
  reason: [3, 'string'],
  message: [4, 'string'],
  startedAt: [5, 'time'],
  finishedAt: [6, 'time'],
  containerID: [7, 'string'],
});

const containerState: Fields = {
  waiting: [1, pointer({ reason: [1, 'string'], message: [2, 'string'] })],
  running: [2, pointer({ startedAt: [1, 'time'] })],
  terminated: [3, terminated],
};

const containerStatus: Fields = {
  name: [1, 'string'],
  state: [2, containerState],
  lastState: [3, containerState],
  ready: [4, 'boolean!'],
  restartCount: [5, 'integer!'],
  image: [6, 'string'],
  imageID: [7, 'string'],
  containerID: [8, 'string'],
  started: [9, 'boolean*'],
  allocatedResources: [10, 'quantityMap'],
  resources: [11, pointer(resources)],
};

const extendedResourceClaimStatus: Fields = {
  requestMappings: [
    1,
    [{ containerName: [1, 'string'], resourceName: [2, 'string'], requestName: [3, 'string'] }],
  ],
  resourceClaimName: [2, 'string'],
};

/** `status` of a Pod. */
export const podStatus: Fields = {
  phase: [1, 'string'],
  conditions: [2, [condition]],
  message: [3, 'string'],
  reason: [4, 'string'],
  hostIP: [5, 'string'],
  podIP: [6, 'string'],
  startTime: [7, 'time*'],
  containerStatuses: [8, [containerStatus]],
  qosClass: [9, 'string'],
  initContainerStatuses: [10, [containerStatus]],
  nominatedNodeName: [11, 'string'],
  podIPs: [12, [{ ip: [1, 'string'] }]],
  ephemeralContainerStatuses: [13, [containerStatus]],
  resize: [14, 'string'],
  resourceClaimStatuses: [15, [{ name: [1, 'string'], resourceClaimName: [2, 'string*'] }]],
  hostIPs: [16, [{ ip: [1, 'string'] }]],
  observedGeneration: [17, 'integer'],
  extendedResourceClaimStatus: [18, pointer(extendedResourceClaimStatus)],
};
