import { labelSelector, objectMeta, objectReference, topLevel } from './metadata.ts';
import { always, atomic, list, listBy, map, type Struct, set, struct } from './types.ts';

const quantities = map('quantity');

const resources = struct('ResourceRequirements', {
  limits: quantities,
  requests: quantities,
  claims: listBy('name', 'any'),
});

const containerPort = struct('ContainerPort', {
  name: 'string',
  hostPort: 'int32',
  containerPort: 'int32!',
  protocol: 'string',
  hostIP: 'string',
});

const keyOf = (name: string): Struct =>
  atomic(struct(name, { name: 'string', key: 'string!', optional: 'bool*' }));

const envVar = struct('EnvVar', {
  name: 'string!',
  value: 'string',
  valueFrom: struct('EnvVarSource', {
    fieldRef: atomic(struct('ObjectFieldSelector', { apiVersion: 'string', fieldPath: 'string!' })),
    resourceFieldRef: atomic(
      struct('ResourceFieldSelector', {
        containerName: 'string',
        resource: 'string!',
        divisor: 'quantity',
      }),
    ),
    configMapKeyRef: keyOf('ConfigMapKeySelector'),
    secretKeyRef: keyOf('SecretKeySelector'),
    fileKeyRef: atomic(
      struct('FileKeySelector', {
        volumeName: 'string!',
        path: 'string!',
        key: 'string!',
        optional: 'bool*',
      }),
    ),
  }),
});

const containerFields = {
  name: 'string!',
  image: 'string',
  command: list('string'),
  args: list('string'),
  workingDir: 'string',
  ports: listBy('containerPort', containerPort, ['containerPort', 'protocol']),
  envFrom: list('any'),
  env: listBy('name', envVar),
  resources: always(resources),
  resizePolicy: list('any'),
  restartPolicy: 'string*',
  restartPolicyRules: list('any'),
  volumeMounts: listBy('mountPath', 'any'),
  volumeDevices: listBy('devicePath', 'any'),
  livenessProbe: 'any',
  readinessProbe: 'any',
  startupProbe: 'any',
  lifecycle: 'any',
  terminationMessagePath: 'string',
  terminationMessagePolicy: 'string',
  imagePullPolicy: 'string',
  securityContext: 'any',
  stdin: 'bool',
  stdinOnce: 'bool',
  tty: 'bool',
} as const;

const container = struct('Container', containerFields);
const ephemeralContainer = struct('EphemeralContainer', {
  ...containerFields,
  targetContainerName: 'string',
});

const toleration = struct('Toleration', {
  key: 'string',
  operator: 'string',
  value: 'string',
  effect: 'string',
  tolerationSeconds: 'int64*',
});

const affinity = struct('Affinity', {
  nodeAffinity: struct('NodeAffinity', {
    requiredDuringSchedulingIgnoredDuringExecution: atomic(
      struct('NodeSelector', { nodeSelectorTerms: always(list('any')) }),
    ),
    preferredDuringSchedulingIgnoredDuringExecution: list('any'),
  }),
  podAffinity: 'any',
  podAntiAffinity: 'any',
});

const topologySpreadConstraint = struct('TopologySpreadConstraint', {
  maxSkew: 'int32!',
  topologyKey: 'string!',
  whenUnsatisfiable: 'string!',
  labelSelector,
  minDomains: 'int32*',
  nodeAffinityPolicy: 'string*',
  nodeTaintsPolicy: 'string*',
  matchLabelKeys: list('string'),
});

/** `spec` of a Pod and of every pod template. */
const podSpec: Struct = struct('PodSpec', {
  volumes: listBy('name', 'any'),
  initContainers: listBy('name', container),
  containers: always(listBy('name', container)),
  ephemeralContainers: listBy('name', ephemeralContainer),
  restartPolicy: 'string',
  terminationGracePeriodSeconds: 'int64*',
  activeDeadlineSeconds: 'int64*',
  dnsPolicy: 'string',
  nodeSelector: atomic(map('string')),
  serviceAccountName: 'string',
  serviceAccount: 'string',
  automountServiceAccountToken: 'bool*',
  nodeName: 'string',
  hostNetwork: 'bool',
  hostPID: 'bool',
  hostIPC: 'bool',
  shareProcessNamespace: 'bool*',
  securityContext: 'any',
  imagePullSecrets: listBy('name', atomic(struct('LocalObjectReference', { name: 'string' }))),
  hostname: 'string',
  subdomain: 'string',
  affinity,
  schedulerName: 'string',
  tolerations: list(toleration),
  hostAliases: listBy('ip', 'any'),
  priorityClassName: 'string',
  priority: 'int32*',
  dnsConfig: 'any',
  readinessGates: list('any'),
  runtimeClassName: 'string*',
  enableServiceLinks: 'bool*',
  preemptionPolicy: 'string*',
  overhead: quantities,
  topologySpreadConstraints: listBy('topologyKey', topologySpreadConstraint, [
    'topologyKey',
    'whenUnsatisfiable',
  ]),
  setHostnameAsFQDN: 'bool*',
  os: 'any',
  hostUsers: 'bool*',
  schedulingGates: listBy('name', 'any'),
  resourceClaims: listBy('name', 'any'),
  resources: 'any',
  hostnameOverride: 'string*',
  workloadRef: 'any',
  schedulingGroup: 'any',
});

const podCondition = struct('PodCondition', {
  type: 'string!',
  observedGeneration: 'int64',
  status: 'string!',
  lastProbeTime: 'time!',
  lastTransitionTime: 'time!',
  reason: 'string',
  message: 'string',
});

const podStatus = struct('PodStatus', {
  observedGeneration: 'int64',
  phase: 'string',
  conditions: listBy('type', podCondition),
  message: 'string',
  reason: 'string',
  nominatedNodeName: 'string',
  hostIP: 'string',
  hostIPs: listBy('ip', 'any'),
  podIP: 'string',
  podIPs: listBy('ip', 'any'),
  startTime: 'time',
  initContainerStatuses: list('any'),
  containerStatuses: list('any'),
  qosClass: 'string',
  ephemeralContainerStatuses: list('any'),
  resize: 'string',
  resourceClaimStatuses: listBy('name', 'any'),
  extendedResourceClaimStatus: 'any',
  allocatedResources: quantities,
  resources: 'any',
  nodeAllocatableResourceClaimStatuses: list('any'),
});

/** The shape of v1 Pod. */
export const pod: Struct = topLevel('Pod', { spec: always(podSpec), status: always(podStatus) });

/** `template` of a workload. */
export const podTemplate: Struct = struct('PodTemplateSpec', {
  metadata: objectMeta,
  spec: always(podSpec),
});

/** The Binding that assigns a pod to a node. */
export const binding: Struct = topLevel('Binding', {
  target: always(objectReference),
});

/** v1 DeleteOptions, a body by itself and a part of an Eviction. */
export const deleteOptions: Struct = struct('DeleteOptions', {
  kind: 'string',
  apiVersion: 'string',
  gracePeriodSeconds: 'int64*',
  preconditions: struct('Preconditions', { uid: 'string*', resourceVersion: 'string*' }),
  orphanDependents: 'bool*',
  propagationPolicy: 'string*',
  dryRun: set('string'),
  ignoreStoreReadErrorWithClusterBreakingPotential: 'bool*',
});

/** policy/v1 Eviction. */
export const eviction: Struct = topLevel('Eviction', { deleteOptions });
