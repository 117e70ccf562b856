// A cluster in which the controller has the rights that deploy/ gives and no others, with something to do.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type EmbeddedCluster, serviceAccountUser, startEmbedded } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import {
  type KubeObject,
  namespace,
  node,
  pod,
  toleration,
  type User,
} from '@taintmgr/sim-cluster';
import { when } from './single-replica.ts';

/** Whom the controller logs in as. */
export const account = serviceAccountUser('taintmgr-system', 'taintmgr-controller');
const prometheus: User = { name: 'prometheus', groups: ['monitoring'], rules: [] };
const none = { region: 'r', zones: [], nodesPerZone: 0, workloads: [], budgets: [] };
const past = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '');
const access: Readonly<Record<string, string>> = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};

/** A cluster without programs of its own, in which the controller is who it is in a pod. */
export async function startCluster(t: TestContext): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({
    topology: none,
    definitions: customResourceDefinitions(),
    without: ['conditionTaints', 'workloads', 'scheduler', 'disruption'],
    timing: { heartbeatMs: 300, startupMs: [10, 20], podStartMs: [10, 20], podStopMs: [10, 20] },
    users: new Map([
      ['of-controller', account],
      ['of-prometheus', prometheus],
    ]),
  });
  t.after(() => embedded.stop());
  for (const name of ['shop', 'taintmgr-system']) {
    embedded.cluster.api.create('namespaces', namespace(name));
  }
  return embedded;
}

/** Only what gives or takes rights is applied, and somebody may read metrics. */
export function grant({ cluster }: EmbeddedCluster, objects: readonly KubeObject[]): void {
  for (const object of objects) {
    const resource = access[object.kind ?? ''];
    if (resource !== undefined) cluster.api.create(resource, object);
  }
  cluster.api.create('clusterrolebindings', {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'metrics' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'taintmgr-metrics-reader',
    },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'monitoring' }],
  });
}

const overdueLabels = { app: 'overdue' };

/** Nodes, and a pod on each: one that is long due, one that will be, one whose node will be lost. */
export async function populate({ cluster }: EmbeddedCluster): Promise<void> {
  const { api } = cluster;
  const defaulted = api.create('pods', pod('shop', 'overdue', { spec: { nodeName: 'a-1' } }));
  api.delete('pods', 'shop', 'overdue', { gracePeriodSeconds: 0 });
  api.load([boundLongAgo(defaulted)]);
  const nodes = ['a-2', 'a-3'];
  for (const name of nodes) cluster.addNode({ name, region: 'r', zone: 'a' });
  const isReady = (name: string): boolean => {
    const conditions: readonly { type: string; status: string }[] =
      api.get('nodes', '', name)?.status?.conditions ?? [];
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  };
  await when(cluster, () => nodes.every(isReady));
  const place = (name: string, nodeName: string, spec: object): void => {
    api.create('pods', pod('shop', name, { spec: { nodeName, ...spec } }));
  };
  api.create('nodes', node('a-1'));
  const spared = [toleration('bad:NoExecute'), toleration('short:NoExecute', 600)];
  place('spared', 'a-1', { tolerations: spared });
  place('tolerant', 'a-2', { tolerations: [toleration('slow:NoExecute', 1)] });
  place('second', 'a-2', { tolerations: [toleration('slow:NoExecute')] });
  // While it waits, since when the taint counts has to be written down.
  const patient = [toleration('slow:NoExecute', 600), toleration('again:NoExecute')];
  place('patient', 'a-2', { tolerations: patient });
  place('lost', 'a-3', {});
  const isRunning = (name: string): boolean =>
    api.get('pods', 'shop', name)?.status?.phase === 'Running';
  await when(cluster, () => ['tolerant', 'second', 'lost'].every(isRunning));
}

/** What is taken over where that is asked for. */
export function optIn({ cluster: { api } }: EmbeddedCluster): void {
  const shop = api.get('namespaces', '', 'shop');
  assert.ok(shop);
  const labels = { ...shop.metadata.labels, 'taintmgr.dev/takeover': 'enabled' };
  api.update('namespaces', { ...shop, metadata: { ...shop.metadata, labels } });
}

/** Somebody has deleted the policies of takeover. */
export function takeAway(
  { cluster: { api } }: EmbeddedCluster,
  objects: readonly KubeObject[],
): void {
  for (const { kind = '', metadata } of objects) {
    const isOne = ['taintmgr-takeover', 'taintmgr-readiness'].includes(metadata.name);
    if (isOne && kind.startsWith('Validating')) api.delete(access[kind] ?? kind, '', metadata.name);
  }
}

/** A budget that refuses the pod that is overdue. */
export function protectOverdue({ cluster: { api } }: EmbeddedCluster): void {
  api.create('poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'overdue' },
    spec: { minAvailable: 1, selector: { matchLabels: overdueLabels } },
  });
}

/** A budget that refuses every pod: nobody counts it here. */
export function protectAll({ api }: EmbeddedCluster['cluster']): void {
  api.create('poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'all' },
    spec: { minAvailable: 100, selector: {} },
  });
}

function boundLongAgo(one: KubeObject): KubeObject {
  const conditions = [{ type: 'PodScheduled', status: 'True', lastTransitionTime: past }];
  const metadata = { ...one.metadata, creationTimestamp: past, labels: overdueLabels };
  return { ...one, metadata, status: { ...one.status, phase: 'Running', conditions } };
}

/** The first taint says since when it counts, the second does not; its node has to be empty by now. */
export function taintNodes({ cluster: { api } }: EmbeddedCluster): void {
  const change = (name: string, taint: object): void => {
    const one = api.get('nodes', '', name);
    assert.ok(one);
    const taints = [...(one.spec.taints ?? []), { ...taint, effect: 'NoExecute' }];
    api.update('nodes', { ...one, spec: { ...one.spec, taints } });
  };
  change('a-1', { key: 'bad', timeAdded: past });
  change('a-2', { key: 'slow' });
}

/** What concerns nothing here, so that only its status is written. */
export const policies: readonly (readonly [kind: string, spec: object])[] = [
  ['EvictionPolicy', { action: 'Keep', match: { namespaces: ['nowhere'] } }],
  ['NodeTaintRule', { condition: { type: 'Odd' }, taint: { key: 'odd', effect: 'NoSchedule' } }],
  ['EvictionPause', { scope: { namespaces: ['nowhere'] } }],
];

/** One of each kind. */
export function createPolicies({ cluster: { api } }: EmbeddedCluster): void {
  for (const [kind, spec] of policies) {
    const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind, metadata: { name: 'one' }, spec };
    api.create(resourceOf(kind), object);
  }
}

/** A policy for one of the taints, for an action that is not that of the mode. */
export function createAction({ cluster: { api } }: EmbeddedCluster, action: string): void {
  const spec = { match: { taints: [{ key: 'slow' }] }, action };
  const kind = 'EvictionPolicy';
  const object = { apiVersion: 'taintmgr.dev/v1alpha1', kind, metadata: { name: 'slow' }, spec };
  api.create(resourceOf(kind), object);
}

/** `nodedrains.taintmgr.dev` of a NodeDrain. */
export function resourceOf(kind: string): string {
  return `${kind.toLowerCase()}s.taintmgr.dev`.replace('ys.', 'ies.');
}
