import { type Instant, parseTime } from '@taintmgr/core';
import { type ApiClient, ApiError } from '@taintmgr/k8s-adapter';

const leasePath =
  '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';

interface Lease {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly renewTime?: string;
    readonly leaseDurationSeconds?: number;
  };
}

/**
 * kube-controller-manager deletes the pods of a NoExecute taint at once and asks no disruption
 * budget: where it runs, a drain that respects budgets is not to be had this way. What to say about
 * that and what to do; null where its lease is not held.
 */
export async function overlapFault(client: ApiClient, now: Instant): Promise<string | null> {
  const lease = await readLease(client);
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 15 } = lease?.spec ?? {};
  const renewed = parseTime(renewTime);
  if (holderIdentity === '' || renewed === null) return null;
  if (now - renewed > 2 * leaseDurationSeconds * 1000) return null;
  return (
    'kube-controller-manager runs here and would delete the pods of a NoExecute taint at once, ' +
    'without asking disruption budgets; start it with ' +
    '--controllers=*,-taint-eviction-controller, or accept it with --allow-overlap'
  );
}

/** No lease, or no right to see it, is no sign of kube-controller-manager. */
async function readLease(client: ApiClient): Promise<Lease | null> {
  try {
    return (await client.get(leasePath)) as Lease;
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.failure.status ?? 0)) return null;
    throw error;
  }
}
