// The EvictionRequests of the cluster, and who answers them: nothing is asked for where it has none.
import type { EvictionRequest } from '@taintmgr/core/drain';
import { evictionRequestsFrom, lifecyclePath } from '@taintmgr/k8s-adapter/drain';
import type { ClusterReader } from './reader.ts';

/** All of them; none where there is no such kind, or no right to see them. */
export async function readEvictionRequests(
  reader: ClusterReader,
): Promise<readonly EvictionRequest[]> {
  if (!(await reader.serves(lifecyclePath))) return [];
  const read = (kind: string): Promise<readonly unknown[] | null> =>
    reader.ifAllowed(async () => (await reader.objectsIfServed(`${lifecyclePath}/${kind}`)) ?? []);
  const requests = (await read('evictionrequests')) ?? [];
  if (requests.length === 0) return [];
  return evictionRequestsFrom(requests, (await read('evictions')) ?? []);
}
