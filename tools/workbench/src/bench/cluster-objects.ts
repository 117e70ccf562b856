// Pods and nodes as a cluster has them, with everything that kubelet and controllers write into them.
import type { Pod, Toleration } from '@taintmgr/core';

const time = '2026-01-01T00:00:00Z';
const lost = ['not-ready', 'unreachable'].map((name) => ({
  key: `node.kubernetes.io/${name}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** Pod number `index`, about 3 kB of JSON, as `kubectl get -o json` prints it. */
export function podObject(index: number): object {
  const app = `service-${index % 500}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadataOf(index, app),
    spec: specOf(index, app),
    status: statusOf(index, app),
  };
}

/** Returns so many pods. */
export function podObjects(count: number): object[] {
  return Array.from({ length: count }, (_, index) => podObject(index));
}

/** The path of pod number `index`. */
export function podPath(index: number): string {
  return `/api/v1/namespaces/${namespaceOf(index)}/pods/${nameOf(index)}`;
}

function namespaceOf(index: number): string {
  return `team-${index % 40}-production`;
}

function nameOf(index: number): string {
  return `service-${index % 500}-7d9c5b8f6b-${index.toString(36).padStart(5, 'x')}`;
}

function metadataOf(index: number, app: string): object {
  const uid = `${hex(index, 8)}-5c1d-4f3e-9a77-${hex(index * 7919, 12)}`;
  return {
    name: nameOf(index),
    generateName: `${app}-7d9c5b8f6b-`,
    namespace: namespaceOf(index),
    uid,
    creationTimestamp: time,
    generation: 1,
    labels: { app, 'pod-template-hash': '7d9c5b8f6b', 'app.kubernetes.io/part-of': 'shop' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: `${app}-7d9c5b8f6b`,
        uid: `${hex(index % 500, 8)}-0000-4000-8000-000000000000`,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
}

function specOf(index: number, app: string): object {
  return {
    volumes: [
      {
        name: `kube-api-access-${hex(index, 5)}`,
        projected: {
          sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }],
        },
      },
    ],
    containers: [
      {
        name: app,
        image: `registry.example.com/shop/${app}:1.2.3`,
        ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
        env: [
          {
            name: 'POD_IP',
            valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } },
          },
        ],
        resources: { limits: { memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
        volumeMounts: [
          {
            name: `kube-api-access-${hex(index, 5)}`,
            readOnly: true,
            mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
          },
        ],
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    serviceAccount: 'default',
    nodeName: nodeOf(index),
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: lost.map((toleration) => ({ ...toleration })),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  };
}

function statusOf(index: number, app: string): object {
  const node = Math.floor(index / perNode);
  const conditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'];
  return {
    observedGeneration: 1,
    phase: 'Running',
    conditions: [...conditions, 'PodScheduled'].map((type) => ({
      type,
      observedGeneration: 1,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: time,
    })),
    hostIP: `10.0.${node & 255}.1`,
    hostIPs: [{ ip: `10.0.${node & 255}.1` }],
    podIP: `10.128.${node & 255}.${index % 253}`,
    podIPs: [{ ip: `10.128.${node & 255}.${index % 253}` }],
    startTime: time,
    containerStatuses: [
      {
        name: app,
        state: { running: { startedAt: time } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image: `registry.example.com/shop/${app}:1.2.3`,
        imageID: `registry.example.com/shop/${app}@sha256:${hex(index % 500, 64)}`,
        containerID: `containerd://${hex(index, 64)}`,
        started: true,
      },
    ],
    qosClass: 'Burstable',
  };
}

/** The nodes of that many pods. */
export function nodeObjects(pods: number): readonly object[] {
  return nodeNames(pods).map((name, index) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `${hex(index, 8)}-1111-4000-8000-000000000000`,
      creationTimestamp: time,
      labels: {
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': `zone-${index % 3}`,
      },
    },
    spec: {},
    status: {
      conditions: [
        { type: 'Ready', status: 'True', lastHeartbeatTime: time, lastTransitionTime: time },
      ],
      addresses: [{ type: 'InternalIP', address: `10.0.${index & 255}.1` }],
      allocatable: { cpu: '16', memory: '64Gi', pods: '110' },
    },
  }));
}

/** A taint that pods have to leave for, added now. */
export function noExecute(key: string): object {
  return { key, effect: 'NoExecute', timeAdded: `${new Date().toISOString().slice(0, 19)}Z` };
}

// The same pods in the core's form, each with separate objects, as a decoder would make them.

const perNode = 30;

/** Pod number `index` of a large cluster, freshly made. */
export function makePod(index: number): Pod {
  const app = index % 500;
  return {
    namespace: `team-${app % 40}-production`,
    name: `service-${app}-7d9c5b8f6b-${suffix(index)}`,
    uid: `${hex(index, 8)}-5c1d-4f3e-9a77-${hex(index * 7919, 12)}`,
    nodeName: nodeOf(index),
    tolerations: tolerationsOf(app),
    boundAt: 1_700_000_000_000 + index,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 1,
    mirror: false,
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `service-${app}-7d9c5b8f6b` },
    hasEmptyDir: false,
    gracePeriodSeconds: 30,
    optedOut: false,
  };
}

/** The names of the nodes of so many pods. */
export function nodeNames(pods: number): readonly string[] {
  const names = new Set<string>();
  for (let index = 0; index < pods; index += perNode) names.add(makePod(index).nodeName);
  return [...names];
}

/** The name of the node of pod number `index`. */
function nodeOf(index: number): string {
  const node = Math.floor(index / perNode);
  return `ip-10-${node >> 8}-${node & 255}-17.eu-central-1.compute.internal`;
}

function tolerationsOf(app: number): readonly Toleration[] {
  const lost = ['not-ready', 'unreachable'].map((name) =>
    exists(`node.kubernetes.io/${name}`, app % 10 === 0 ? 60 : 300),
  );
  return app % 7 === 0 ? [...lost, exists('maintenance', app % 3 === 0 ? null : 120)] : lost;
}

function exists(key: string, tolerationSeconds: number | null): Toleration {
  return { key, operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds };
}

function suffix(index: number): string {
  return index.toString(36).padStart(5, 'x').slice(-5);
}

/** A number of so many hexadecimal digits. */
export function hex(value: number, length: number): string {
  return value.toString(16).padStart(length, '0').slice(-length);
}
