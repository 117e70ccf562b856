import { type Json, node, pdb, pod, toleration } from '@taintmgr/sim-cluster';
import { ago, fillShop } from './shop-cluster.ts';
import type { TestCluster } from './test-cluster.ts';

// The shop's cluster in trouble, for the screens that people see then: names as long as names may be, a node with
// many pods, a budget that never lets any go, a pause, a drain at work, and a leader that tells of itself.

type Api = TestCluster['api'];

export const longNamespace = 'payments-production-europe-west-with-a-very-long-namespace-name';
export const longNode = 'gke-production-europe-west4-c-n2-standard-16-pool-7f3e9a1b-x9k2';
export const longPod = 'payments-gateway-frontend-5c9d8f7b6c-a8x2k';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const taint = {
  key: 'maintenance.example.com/kernel-upgrade',
  value: 'six-point-twelve',
  effect: 'NoExecute',
};
const crowd = 500;

/** Fills the cluster; its API knows our kinds. */
export function fillTroubled(cluster: TestCluster): void {
  fillShop(cluster);
  const { api } = cluster;
  for (const name of [longNamespace, 'batch']) api.create('namespaces', { metadata: { name } });
  addNode(api, longNode, [{ ...taint, timeAdded: ago(2 * day + 5 * hour + 30 * minute) }]);
  addNode(api, 'big-1', [{ ...taint, timeAdded: ago(day + 7 * hour + 30 * minute) }]);
  const tolerating = { tolerations: [toleration(`${taint.key}:NoExecute`, 7 * day)] };
  addPods(api, longNamespace, 'payments-gateway-frontend-5c9d8f7b6c', longNode, [
    ['a8x2k', {}],
    ['b9m3q', {}],
    ['c4f7z', tolerating],
  ]);
  const workers = Array.from({ length: crowd }, (_, index) => {
    const always = { tolerations: [{ operator: 'Exists' }] };
    return [
      `${index}`.padStart(3, '0'),
      index % 100 === 0 ? {} : index % 5 < 3 ? tolerating : always,
    ];
  });
  addPods(api, 'batch', 'worker', 'big-1', workers as [string, object][]);
  addBudget(api);
  api.load([pause(), nodeDrain(), taintManager()]);
  api.compact();
}

function addNode(api: Api, name: string, taints: Json[]): void {
  const lastTransitionTime = ago(5 * day + 12 * hour + 30 * minute);
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime };
  const labels = {
    'topology.kubernetes.io/region': 'europe-west4',
    'topology.kubernetes.io/zone': 'europe-west4-c',
  };
  const made = node(name, { labels, spec: { taints }, status: { conditions: [ready] } });
  const stored = api.create('nodes', made);
  api.update('nodes', { ...stored, metadata: { ...stored.metadata, managedFields: [{}] } });
}

function addPods(
  api: Api,
  namespace: string,
  owner: string,
  nodeName: string,
  pods: readonly (readonly [suffix: string, spec: object])[],
): void {
  const since = ago(5 * day + 12 * hour);
  const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, controller: true };
  const ownerReferences = [{ ...controller, uid: '00000000-0000-0000-0000-000000000007' }];
  const conditions = ['PodScheduled', 'Ready'].map((type) => {
    return { type, status: 'True', lastTransitionTime: since };
  });
  api.load(
    pods.map(([suffix, spec]) => {
      const name = `${owner}-${suffix}`;
      const made = pod(namespace, name, { labels: { app: owner }, spec: { nodeName, ...spec } });
      return {
        ...made,
        metadata: {
          ...made.metadata,
          ownerReferences,
          uid: `uid-${name}`,
          creationTimestamp: since,
        },
        status: { phase: 'Running', startTime: since, conditions },
      };
    }),
  );
}

function addBudget(api: Api): void {
  const matchLabels = { app: 'payments-gateway-frontend-5c9d8f7b6c' };
  const name = 'payments-gateway-frontend-budget';
  const made = api.create(
    'poddisruptionbudgets',
    pdb(longNamespace, name, { minAvailable: 3 }, { matchLabels }),
  );
  const counts = { disruptionsAllowed: 0, currentHealthy: 3, desiredHealthy: 3, expectedPods: 3 };
  const observedGeneration = made.metadata.generation;
  const status = { ...counts, observedGeneration };
  api.update('poddisruptionbudgets', { ...made, status }, 'status');
}

const apiVersion = 'taintmgr.dev/v1alpha1';

function metadataOf(name: string): { name: string; uid: string; creationTimestamp: string } {
  return { name, uid: `uid-${name}`, creationTimestamp: ago(day + hour + 10 * minute) };
}

function pause() {
  const reason = 'Release 5.2 is being rolled out: ask #ops before you resume';
  const spec = { scope: { namespaces: ['shop'] }, reason };
  return { apiVersion, kind: 'EvictionPause', metadata: metadataOf('release-freeze'), spec };
}

function nodeDrain() {
  return {
    ...{ apiVersion, kind: 'NodeDrain', metadata: metadataOf('replace-the-kernel-of-blue-nodes') },
    spec: { nodes: ['big-1', longNode], taint: { key: taint.key } },
    status: {
      ...{ phase: 'Running', nodes: 2, nodesDrained: 0, podsGone: 7, podsLeft: 403 },
      podsStaying: 1,
      blockers: ['PDB payments-gateway-frontend-budget holds back 2 pods'],
    },
  };
}

function taintManager() {
  const lastTransitionTime = ago(hour);
  const leading = { type: 'Leading', status: 'True', reason: 'Leads', message: '' };
  return {
    ...{ apiVersion, kind: 'TaintManager', metadata: metadataOf('taintmgr') },
    status: {
      ...{ leader: 'taintmgr-controller-7d9f8c6b5-x2v9k_8c1d', version: '0.1.0' },
      // The clock of the leader is ahead, so that it is heard of however long the test takes.
      renewTime: ago(-hour),
      startedAt: ago(14 * hour),
      settings: { mode: 'evict', 'delete-after': 'never', takeover: 'false' },
      conditions: [{ ...leading, lastTransitionTime }],
    },
  };
}
