// The objects of a very large cluster, with marks in the place of what differs between them.
import { hex } from '../pods.ts';

/** Which place holds what. Each is as wide as what comes into it. */
export const marks = {
  version: '9999999999',
  app: '@ap',
  suffix: '@suff',
  namespace: '@m',
  node: '@node',
  uid: '@uid-uid-uid',
  zone: '@z',
} as const;

const past = '2026-01-01T00:00:00Z';
const image = 'registry.example.com/shop/service';

/** What a manager owns of an object, about as long as kubelets and controllers leave it. */
function managed(manager: string, fields: number, subresource?: string): object {
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: past,
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:status': Object.fromEntries(
        Array.from({ length: fields }, (_, at) => [
          `k:{"type":"Condition${at}"}`,
          { '.': {}, 'f:lastTransitionTime': {}, 'f:status': {} },
        ]),
      ),
    },
    ...(subresource && { subresource }),
  };
}

function toleration(name: string, tolerationSeconds: number): object {
  const key = `node.kubernetes.io/${name}`;
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds };
}

/** How a pod is at a time. */
export interface PodState {
  readonly isReady: boolean;
  /** Somebody is about to remove it. */
  readonly isMarked: boolean;
}

/** A pod with marks: about 5 kB of JSON. It stays on a lost node for so many seconds. */
export function markedPod({ isReady, isMarked }: PodState, tolerationSeconds: number): object {
  const name = `service-${marks.app}-7d9c5b8f6b-${marks.suffix}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: `service-${marks.app}-7d9c5b8f6b-`,
      namespace: `team-${marks.namespace}-production`,
      uid: `5c1d4f3e-9a77-4e21-8f00-${marks.uid}`,
      resourceVersion: marks.version,
      generation: 1,
      creationTimestamp: past,
      labels: {
        app: `service-${marks.app}`,
        'pod-template-hash': '7d9c5b8f6b',
        'app.kubernetes.io/name': `service-${marks.app}`,
        'app.kubernetes.io/part-of': 'shop',
        'app.kubernetes.io/managed-by': 'Helm',
        'topology.kubernetes.io/region': 'eu-central-1',
      },
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '9090',
        'checksum/config': hex(7919, 64),
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `service-${marks.app}-7d9c5b8f6b`,
          uid: `00000000-0000-4000-8000-000000000${marks.app}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [managed('kube-controller-manager', 6), managed('kubelet', 8, 'status')],
    },
    spec: podSpec(tolerationSeconds),
    status: podStatus(isReady, isMarked),
  };
}

function podSpec(tolerationSeconds: number): object {
  const token = { name: 'kube-api-access-x7k2p', readOnly: true };
  return {
    volumes: [
      {
        name: token.name,
        projected: {
          sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }],
          defaultMode: 420,
        },
      },
      { name: 'config', configMap: { name: `service-${marks.app}`, defaultMode: 420 } },
    ],
    containers: [`service-${marks.app}`, 'proxy'].map((name) => ({
      name,
      image: `${image}-${name}:1.2.3`,
      ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
      env: ['POD_IP', 'HOST_IP'].map((variable) => ({
        name: variable,
        valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } },
      })),
      resources: { limits: { memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
      volumeMounts: [{ ...token, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
      readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 10 },
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    })),
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    serviceAccount: 'default',
    nodeName: nodeName,
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: ['not-ready', 'unreachable'].map((name) => toleration(name, tolerationSeconds)),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  };
}

function podStatus(isReady: boolean, isMarked: boolean): object {
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'];
  const conditions = [...types, 'PodScheduled'].map((type) => ({
    type,
    status: isReady || !type.endsWith('Ready') ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: past,
  }));
  const mark = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' };
  return {
    phase: 'Running',
    conditions: isMarked ? [...conditions, { ...mark, lastTransitionTime: past }] : conditions,
    hostIP: '10.0.17.1',
    podIP: '10.128.17.25',
    podIPs: [{ ip: '10.128.17.25' }],
    startTime: past,
    containerStatuses: [`service-${marks.app}`, 'proxy'].map((name) => ({
      name,
      state: { running: { startedAt: past } },
      lastState: {},
      ready: isReady,
      restartCount: 0,
      image: `${image}-${name}:1.2.3`,
      imageID: `${image}@sha256:${hex(4711, 64)}`,
      containerID: `containerd://${hex(815, 64)}`,
      started: true,
    })),
    qosClass: 'Burstable',
  };
}

/** The name of a node with a mark. */
const nodeName: string = `ip-10-${marks.node}-17.eu-central-1.compute.internal`;

const nodeConditions = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const;

/** A node with marks, as its kubelet reports it at a time: about 10 kB of JSON. */
export function markedNode(now: string): object {
  const labels = {
    'kubernetes.io/hostname': nodeName,
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': 'm7i.4xlarge',
    'topology.kubernetes.io/region': 'eu-central-1',
    'topology.kubernetes.io/zone': `eu-central-1-${marks.zone}`,
    'topology.ebs.csi.aws.com/zone': `eu-central-1-${marks.zone}`,
    'example.com/nodegroup': 'general',
    'example.com/capacity-type': 'on-demand',
    'example.com/image-id': 'ami-0123456789abcdef0',
  };
  const amounts = {
    cpu: '16',
    memory: '64761004Ki',
    pods: '110',
    'ephemeral-storage': '104845292Ki',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nodeName,
      uid: `1d2c3b4a-1111-4000-8000-${marks.uid}`,
      resourceVersion: marks.version,
      creationTimestamp: past,
      labels,
      annotations: {
        'csi.volume.kubernetes.io/nodeid': '{"ebs.csi.aws.com":"i-0123456789abcdef0"}',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
      managedFields: [
        managed('kubelet', 4),
        managed('kube-controller-manager', 4),
        managed('kubelet', 14, 'status'),
      ],
    },
    spec: {
      podCIDR: '10.128.17.0/24',
      podCIDRs: ['10.128.17.0/24'],
      providerID: `aws:///${hex(1, 17)}`,
    },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: nodeConditions.map(([type, status, reason, message]) => ({
        type,
        status,
        lastHeartbeatTime: now,
        lastTransitionTime: past,
        reason,
        message,
      })),
      addresses: [
        { type: 'InternalIP', address: '10.0.17.1' },
        { type: 'Hostname', address: nodeName },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: hex(17, 32),
        systemUUID: hex(18, 32),
        bootID: hex(19, 32),
        kernelVersion: '6.1.0-27-cloud-amd64',
        osImage: 'Debian GNU/Linux 12 (bookworm)',
        containerRuntimeVersion: 'containerd://1.7.27',
        kubeletVersion: 'v1.36.2',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      images: Array.from({ length: 30 }, (_, at) => ({
        names: [`${image}-${at}@sha256:${hex(at, 64)}`, `${image}-${at}:1.2.3`],
        sizeBytes: 104_857_600 + at,
      })),
    },
  };
}

/** The lease of a node with marks, renewed at a time. */
export function markedLease(now: string): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: nodeName,
      namespace: 'kube-node-lease',
      uid: `2e3d4c5b-2222-4000-8000-${marks.uid}`,
      resourceVersion: marks.version,
      creationTimestamp: past,
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Node',
          name: nodeName,
          uid: `1d2c3b4a-1111-4000-8000-${marks.uid}`,
        },
      ],
    },
    spec: { holderIdentity: nodeName, leaseDurationSeconds: 40, renewTime: now },
  };
}
