import { deployment, type Json, node, pdb, pod, toleration } from '@taintmgr/sim-cluster';
import type { TestCluster } from './test-cluster.ts';

// A cluster in which nothing acts and everything has been so for days, so that a transcript says the
// same whenever it is played. Times are such that no two runs fall on two sides of a unit.

const second = 1;
const minute = 60;
const hour = 3600;
const day = 86_400;

/** So many seconds ago, as the API writes times. */
export function ago(seconds: number): string {
  return `${new Date(Date.now() - seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** Fills the cluster: two zones, five nodes, the pods of a shop, and budgets of every kind. */
export function fillShop({ api }: TestCluster): void {
  for (const name of ['shop', 'infra', leaseNamespace, controllerNamespace]) {
    if (!api.get('namespaces', '', name)) api.create('namespaces', { metadata: { name } });
  }
  api.create('leases', {
    metadata: { name: 'taintmgr-controller', namespace: controllerNamespace },
    spec: { holderIdentity: 'taintmgr-controller-0_1', leaseDurationSeconds: 15 },
  });
  fillNodes(api);
  fillPods(api);
  fillBudgets(api);
  // It has been so for days: how it came about the API server has forgotten.
  api.compact();
}

/** The kubelets that are alive report, and our controller: so it was, 10 s ago, whenever this is called. */
export function renewLeases({ api }: TestCluster): void {
  for (const lease of api.list('leases')) {
    if (lease.metadata.name === unreachableNode) continue;
    api.update('leases', { ...lease, spec: { ...lease.spec, renewTime: renewedAt(ago(10)) } });
  }
}

/** The same again and again, as a busy machine takes long to ask; call what is returned to end it. */
export function keepRenewing(cluster: TestCluster): () => void {
  renewLeases(cluster);
  const timer = setInterval(() => renewLeases(cluster), 1000);
  return () => clearInterval(timer);
}

type Api = TestCluster['api'];

const leaseNamespace = 'kube-node-lease';
const controllerNamespace = 'taintmgr-system';
const unreachableNode = 'node-a2';

const maintenance = { key: 'maintenance', value: 'kernel', effect: 'NoExecute' };
const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const dedicated = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };

function fillNodes(api: Api): void {
  const kernelSince = ago(2 * day + 3 * hour + 30 * minute + 20 * second);
  const unreachableSince = ago(day + 2 * hour + 30 * minute + 20 * second);
  addNode(api, 'node-a1', 'zone-a', { taints: [{ ...maintenance, timeAdded: kernelSince }] });
  addNode(api, unreachableNode, 'zone-a', {
    taints: [{ ...unreachable, timeAdded: unreachableSince }],
    ready: { status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: unreachableSince },
    renewed: ago(day + 2 * hour + 31 * minute + 20 * second),
  });
  addNode(api, 'node-a3', 'zone-a', { taints: [dedicated] });
  addNode(api, 'node-b1', 'zone-b', { taints: [{ key: 'bad-disk', effect: 'NoExecute' }] });
  addNode(api, 'node-b2', 'zone-b', { unschedulable: true });
}

interface NodeOptions {
  readonly taints?: Json[];
  readonly unschedulable?: boolean;
  readonly ready?: object;
  readonly renewed?: string;
}

function addNode(api: Api, name: string, zone: string, options: NodeOptions): void {
  const { taints = [], unschedulable, ready, renewed = ago(10) } = options;
  const labels = {
    'topology.kubernetes.io/region': 'r1',
    'topology.kubernetes.io/zone': zone,
    pool: zone === 'zone-a' ? 'blue' : 'green',
  };
  const transition = ago(5 * day + 12 * hour + 30 * minute);
  const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', ...ready };
  // A kubelet writes its status every five minutes when nothing changes.
  const lastHeartbeatTime = ago(4 * minute + 20 * second);
  const conditions = [{ lastHeartbeatTime, lastTransitionTime: transition, ...condition }];
  const spec = { taints, ...(unschedulable && { unschedulable }) };
  const made = api.create('nodes', node(name, { labels, spec, status: { conditions } }));
  // When its taints were written is not known: a transcript cannot say how long ago that was.
  api.update('nodes', { ...made, metadata: { ...made.metadata, managedFields: [{}] } });
  const lease = { holderIdentity: name, leaseDurationSeconds: 40 };
  const first = api.create('leases', {
    metadata: { name, namespace: leaseNamespace },
    spec: { ...lease, renewTime: renewedAt(renewed) },
  });
  // Nobody shall take the moment at which this world was made for a heartbeat.
  api.update('leases', { ...first, metadata: { ...first.metadata, managedFields: [{}] } });
}

/** Leases have microseconds. */
function renewedAt(time: string): string {
  return time.replace('Z', '.000000Z');
}

type Toleration = Partial<ReturnType<typeof toleration>>;

interface PodOptions {
  readonly owner?: readonly [kind: string, name: string];
  readonly tolerations?: readonly Toleration[];
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly isReady?: boolean;
}

function addPod(
  api: Api,
  namespace: string,
  name: string,
  nodeName: string,
  options: PodOptions = {},
): void {
  const app = name.replace(/-(?:\d+|[a-z0-9]{5})$/, '');
  const { owner, annotations = {}, finalizers = [], isReady = true } = options;
  const spec = { nodeName, tolerations: [...(options.tolerations ?? [])], ...options.spec };
  const object = pod(namespace, name, { labels: { app }, spec });
  const ownerReferences = owner
    ? [
        {
          apiVersion: owner[0] === 'Node' ? 'v1' : 'apps/v1',
          kind: owner[0],
          name: owner[1],
          uid: `00000000-0000-0000-0000-${String(owner[1].length).padStart(12, '0')}`,
          controller: true,
        },
      ]
    : [];
  const startTime = ago(5 * day + 11 * hour + 30 * minute);
  const conditions = [
    { type: 'PodScheduled', status: 'True', lastTransitionTime: startTime },
    { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: startTime },
  ];
  const complete = api.create('pods', {
    ...object,
    metadata: { ...object.metadata, annotations, ownerReferences },
  });
  // What is created is new; what is loaded is as old as it says.
  api.delete('pods', namespace, name, { gracePeriodSeconds: 0 });
  const metadata = { ...complete.metadata, finalizers, creationTimestamp: startTime };
  const status = { ...complete.status, phase: 'Running', startTime, conditions };
  api.load([{ ...complete, metadata, status }]);
}

function toleratesUnreachable(seconds: number): readonly Toleration[] {
  return ['unreachable', 'not-ready'].map((state) =>
    toleration(`node.kubernetes.io/${state}:NoExecute`, seconds),
  );
}

function fillPods(api: Api): void {
  const web = api.create('deployments', deployment('shop', 'web', { replicas: 3 }));
  const { selector, template } = web.spec;
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', controller: true };
  const ownerReferences = [{ ...owner, uid: web.metadata.uid ?? '' }];
  api.create('replicasets', {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' }, ownerReferences },
    spec: { replicas: 3, selector, template },
  });
  const week = toleration('maintenance:NoExecute', 7 * day);
  const all = [{ operator: 'Exists' }];
  addPod(api, 'shop', 'web-1', 'node-a1', { owner: ['ReplicaSet', 'web'] });
  addPod(api, 'shop', 'api-1', 'node-a1', { owner: ['ReplicaSet', 'api'] });
  addPod(api, 'shop', 'db-0', 'node-a1', {
    owner: ['StatefulSet', 'db'],
    tolerations: [week],
  });
  addPod(api, 'shop', 'cart-1', 'node-a1', { owner: ['ReplicaSet', 'cart'] });
  api.delete('pods', 'shop', 'cart-1', {
    gracePeriodSeconds: day + 2 * hour + 30 * minute,
  });
  addPod(api, 'infra', 'agent-a1xyz', 'node-a1', {
    owner: ['DaemonSet', 'agent'],
    tolerations: all,
  });
  addPod(api, 'infra', 'etcd-1', 'node-a1', {
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    owner: ['Node', 'node-a1'],
  });
  addPod(api, 'shop', 'web-2', 'node-a2', {
    owner: ['ReplicaSet', 'web'],
    tolerations: toleratesUnreachable(7 * day),
    isReady: false,
  });
  addPod(api, 'shop', 'files-1', 'node-a2', {
    owner: ['ReplicaSet', 'files'],
    finalizers: ['example.com/backup'],
  });
  addPod(api, 'shop', 'web-3', 'node-b1', { owner: ['ReplicaSet', 'web'] });
  addPod(api, 'shop', 'bare', 'node-b2', {
    spec: { volumes: [{ name: 'scratch', emptyDir: {} }] },
  });
}

function fillBudgets(api: Api): void {
  addBudget(api, 'web', { minAvailable: 3 }, { allowed: 0, healthy: 2, desired: 3, expected: 3 });
  addBudget(api, 'api', { maxUnavailable: 1 }, { allowed: 0, healthy: 1, desired: 1, expected: 2 });
  addBudget(api, 'db', { maxUnavailable: 1 }, { allowed: 1, healthy: 1, desired: 0, expected: 1 });
}

interface Counts {
  readonly allowed: number;
  readonly healthy: number;
  readonly desired: number;
  readonly expected: number;
}

function addBudget(
  api: Api,
  name: string,
  limit: Parameters<typeof pdb>[2],
  { allowed, healthy, desired, expected }: Counts,
): void {
  const budget = api.create('poddisruptionbudgets', pdb('shop', name, limit));
  const status = {
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    observedGeneration: budget.metadata.generation,
  };
  api.update('poddisruptionbudgets', { ...budget, status }, 'status');
}
