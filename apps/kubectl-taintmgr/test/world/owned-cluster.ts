import {
  daemonSet,
  deployment,
  type Json,
  type KubeObject,
  namespace,
  node,
  pdb,
  pod,
  statefulSet,
  toleration,
} from '@taintmgr/sim-cluster';
import { ago } from './shop-cluster.ts';
import type { TestCluster } from './test-cluster.ts';

// A cluster in which nothing acts, for those who own workloads: every kind of them on three nodes, the first of which
// is tainted, and budgets that let some pods go, that never do, and that overlap.

type Api = TestCluster['api'];

const day = 86_400;
const since = ago(2 * day + 3 * 3600 + 30 * 60 + 20);

/** Fills the cluster. */
export function fillOwned({ api }: TestCluster): void {
  for (const name of ['shop', 'infra', 'taintmgr-system'])
    api.create('namespaces', namespace(name));
  api.create('leases', {
    metadata: { name: 'taintmgr-controller', namespace: 'taintmgr-system' },
    spec: { holderIdentity: 'taintmgr-controller-0_1', leaseDurationSeconds: 15 },
  });
  const kernel = { key: 'maintenance', value: 'kernel', effect: 'NoExecute', timeAdded: since };
  addNode(api, 'n1', 'gpu', [kernel]);
  addNode(api, 'n2', 'gpu', []);
  addNode(api, 'n3', 'cpu', []);
  addWorkloads(api);
  addBudget(api, 'web', { minAvailable: 3 }, [1, 4, 3, 4], 'web');
  addBudget(api, 'strict', { minAvailable: '100%' }, [0, 2, 2, 2], 'strict');
  addBudget(api, 'twice-a', { maxUnavailable: 1 }, [1, 1, 0, 1], 'twice');
  addBudget(api, 'twice-b', { maxUnavailable: 1 }, [1, 1, 0, 1], 'twice');
  api.compact();
}

function addNode(api: Api, name: string, pool: string, taints: Json[]): void {
  const lastTransitionTime = ago(5 * day + 12 * 3600 + 30 * 60);
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime };
  const labels = { 'topology.kubernetes.io/zone': 'a', pool };
  const made = node(name, { labels, spec: { taints }, status: { conditions: [ready] } });
  const stored = api.create('nodes', made);
  api.update('nodes', { ...stored, metadata: { ...stored.metadata, managedFields: [{}] } });
}

function addWorkloads(api: Api): void {
  const week = [toleration('maintenance:NoExecute', 7 * day)];
  const always = [{ operator: 'Exists' }];
  const web = api.create('deployments', deployment('shop', 'web', { replicas: 4 }));
  const set = replicaSet(api, 'web-7d', web);
  for (const [name, on] of [
    ['web-7d-a', 'n1'],
    ['web-7d-b', 'n1'],
    ['web-7d-c', 'n2'],
  ] as const)
    addPod(api, name, on, set, 'web');
  addPod(api, 'web-7d-d', 'n1', set, 'web', { tolerations: always });
  // Its selector finds pods that are not its own.
  addPod(api, 'web-debug', 'n1', null, 'web');
  const db = api.create('statefulsets', statefulSet('shop', 'db', { replicas: 2 }));
  addPod(api, 'db-0', 'n1', db, 'db', { tolerations: week });
  addPod(api, 'db-1', 'n2', db, 'db', { tolerations: week });
  const agent = api.create('daemonsets', daemonSet('shop', 'agent'));
  for (const on of ['n1', 'n2', 'n3']) addPod(api, `agent-${on}`, on, agent, 'agent');
  const strict = api.create('deployments', deployment('shop', 'strict', { replicas: 2 }));
  const strictSet = replicaSet(api, 'strict-5c', strict);
  addPod(api, 'strict-5c-a', 'n1', strictSet, 'strict');
  addPod(api, 'strict-5c-b', 'n3', strictSet, 'strict');
  addPod(api, 'twice-a', 'n1', replicaSet(api, 'twice', null), 'twice');
  const job = api.create('jobs', {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'batch', namespace: 'shop' },
    spec: {
      backoffLimit: 0,
      manualSelector: true,
      selector: { matchLabels: { app: 'batch' } },
      template: {
        metadata: { labels: { app: 'batch' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'c' }] },
      },
    },
  });
  addPod(api, 'batch-a', 'n1', job, 'batch');
  addPod(api, 'batch-b', 'n1', job, 'batch', { phase: 'Succeeded' });
  const empty = deployment('shop', 'idle', { replicas: 0 });
  api.create('deployments', empty);
}

function replicaSet(api: Api, name: string, owner: KubeObject | null): KubeObject {
  const app = name.replace(/-.*$/, '');
  const made = deployment('shop', app, { replicas: 1 });
  return api.create('replicasets', {
    ...made,
    kind: 'ReplicaSet',
    metadata: { ...made.metadata, name, ...(owner && ownedBy(owner)) },
    spec: { replicas: 1, selector: made.spec.selector, template: made.spec.template },
  });
}

function ownedBy({ apiVersion, kind, metadata: { name, uid } }: KubeObject): object {
  return { ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] };
}

interface PodOptions {
  readonly tolerations?: readonly Partial<ReturnType<typeof toleration>>[];
  readonly phase?: string;
}

function addPod(
  api: Api,
  name: string,
  nodeName: string,
  owner: KubeObject | null,
  app: string,
  { phase = 'Running', tolerations = [] }: PodOptions = {},
): void {
  const made = pod('shop', name, {
    labels: { app },
    spec: { nodeName, tolerations: [...tolerations] },
  });
  const stored = api.create('pods', {
    ...made,
    metadata: { ...made.metadata, ...(owner && ownedBy(owner)) },
  });
  // A created pod is new; a loaded pod is as old as it says.
  api.delete('pods', 'shop', name, { gracePeriodSeconds: 0 });
  const lastTransitionTime = ago(5 * day + 12 * 3600);
  const conditions = ['PodScheduled', 'Ready'].map((type) => {
    return { type, status: 'True', lastTransitionTime };
  });
  const metadata = { ...stored.metadata, creationTimestamp: lastTransitionTime };
  api.load([{ ...stored, metadata, status: { ...stored.status, phase, conditions } }]);
}

function addBudget(
  api: Api,
  name: string,
  limit: Parameters<typeof pdb>[2],
  [disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods]: readonly number[],
  app: string,
): void {
  const made = api.create(
    'poddisruptionbudgets',
    pdb('shop', name, limit, { matchLabels: { app } }),
  );
  const observedGeneration = made.metadata.generation;
  const counts = { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods };
  api.update(
    'poddisruptionbudgets',
    { ...made, status: { ...counts, observedGeneration } },
    'status',
  );
}
