// A live cluster as the beginning of a simulation.
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';
import { collections, listCollection } from '../../../cluster/collections.ts';
import { snapshotSource } from './snapshot.ts';
import type { ClusterSource } from './source.ts';

/** Reads a live cluster. What we may not see is missing. Throws ApiError and ConnectionError. */
export async function liveSource(client: ApiClient, context: string): Promise<ClusterSource> {
  const values: object[] = [];
  const refused: string[] = [];
  for (const collection of collections) {
    const { apiVersion, kind } = collection;
    try {
      const items = await listCollection(client, collection);
      values.push({ apiVersion, kind: `${kind}List`, items });
    } catch (error) {
      if (!(error instanceof ApiError) || error.failure.status !== 403) throw error;
      // Namespaces are made for what is in them, and missing only where a policy asks for their labels.
      if (kind !== 'Namespace') refused.push(`${kind}: ${error.failure.message}`);
    }
  }
  const source = snapshotSource({ name: context, values, places: null });
  return { ...source, missing: [...refused, ...source.missing] };
}
