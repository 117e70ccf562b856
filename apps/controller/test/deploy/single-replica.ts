// Workloads in a cluster that has no controllers for them.
import assert from 'node:assert/strict';
import type { EmbeddedCluster } from '@taintmgr/api-server';
import {
  deployment,
  type KubeObject,
  type OwnerReference,
  pod,
  statefulSet,
} from '@taintmgr/sim-cluster';

/** Resolves when it holds, at once or after some change in the cluster at the latest. */
export function when({ api }: EmbeddedCluster['cluster'], holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    if (holds()) return resolve();
    const stop = api.subscribe(() => {
      if (!holds()) return;
      stop();
      resolve();
    });
  });
}

/** A Deployment whose one pod runs on the node that is drained; nobody here rolls it out. */
export async function runSingle(cluster: EmbeddedCluster['cluster']): Promise<void> {
  const { api } = cluster;
  const made = deployment('shop', 'single', { replicas: 1 });
  api.create('deployments', made);
  const stored = api.get('deployments', 'shop', 'single') ?? assert.fail();
  const { generation: observedGeneration } = stored.metadata;
  api.update('deployments', { ...stored, status: { observedGeneration } }, 'status');
  const ofDeployment = owned('Deployment', stored);
  const metadata = { namespace: 'shop', name: 'single-1', ownerReferences: [ofDeployment] };
  api.create('replicasets', {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata,
    spec: { ...made.spec },
  });
  const set = api.get('replicasets', 'shop', 'single-1') ?? assert.fail();
  const one = pod('shop', 'single-1-a', { spec: { nodeName: 'a-3' } });
  const ownerReferences = [owned('ReplicaSet', set)];
  api.create('pods', { ...one, metadata: { ...one.metadata, ownerReferences } });
  await when(cluster, () => isReady(cluster, 'single-1-a'));
}

/** A StatefulSet whose two pods run on the node that is drained, and the volumes of their claims. */
export async function runSet(cluster: EmbeddedCluster['cluster']): Promise<void> {
  const { api } = cluster;
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: {} }];
  api.create('statefulsets', statefulSet('shop', 'db', { spec: { volumeClaimTemplates } }));
  const set = api.get('statefulsets', 'shop', 'db') ?? assert.fail();
  const ownerReferences = [owned('StatefulSet', set)];
  const names = ['db-0', 'db-1'];
  for (const name of names) {
    api.create('persistentvolumeclaims', {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'shop', name: `data-${name}` },
      spec: {},
    });
    const one = pod('shop', name, { spec: { nodeName: 'a-3' } });
    api.create('pods', { ...one, metadata: { ...one.metadata, ownerReferences } });
  }
  const isBound = (name: string): boolean =>
    api.get('persistentvolumeclaims', 'shop', `data-${name}`)?.spec?.volumeName !== undefined;
  await when(cluster, () => names.every((name) => isReady(cluster, name) && isBound(name)));
}

/** A pod of the namespace shop. */
export function isReady({ api }: EmbeddedCluster['cluster'], name: string): boolean {
  const conditions: readonly { type: string; status: string }[] =
    api.get('pods', 'shop', name)?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function owned(kind: string, { metadata: { name, uid = '' } }: KubeObject): OwnerReference {
  return { apiVersion: 'apps/v1', kind, name, uid, controller: true };
}
