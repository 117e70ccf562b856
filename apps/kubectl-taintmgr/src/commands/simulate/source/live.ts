// A live cluster as the beginning of a simulation.
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { snapshotSource } from './snapshot.ts';
import type { Source } from './source.ts';

/** What is read of a live cluster, and what the kind of its objects is. */
const collections = [
  ['/api/v1/nodes', 'v1', 'Node'],
  ['/api/v1/pods', 'v1', 'Pod'],
  ['/apis/policy/v1/poddisruptionbudgets', 'policy/v1', 'PodDisruptionBudget'],
  ['/apis/apps/v1/deployments', 'apps/v1', 'Deployment'],
  ['/apis/apps/v1/replicasets', 'apps/v1', 'ReplicaSet'],
  ['/apis/apps/v1/statefulsets', 'apps/v1', 'StatefulSet'],
  ['/apis/apps/v1/daemonsets', 'apps/v1', 'DaemonSet'],
  ['/apis/batch/v1/jobs', 'batch/v1', 'Job'],
  [
    '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    'coordination.k8s.io/v1',
    'Lease',
  ],
] as const;

/** Reads a live cluster. What we may not see is missing. Throws ApiError and ConnectionError. */
export async function liveSource(client: ApiClient, context: string): Promise<Source> {
  const values: object[] = [];
  const refused: string[] = [];
  for (const [path, apiVersion, kind] of collections) {
    try {
      values.push({ apiVersion, kind: `${kind}List`, items: await client.list(path) });
    } catch (error) {
      if (!(error instanceof ApiError) || error.failure.status !== 403) throw error;
      refused.push(`${kind}: ${error.failure.message}`);
    }
  }
  const source = snapshotSource({ name: context, values, places: null });
  return { ...source, missing: [...refused, ...source.missing] };
}
