import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ElectionOptions, LeaseName } from '@taintmgr/k8s-adapter';
import type { Settings } from '../flags/settings.ts';

/** How this replica stands for election, by kube-controller-manager's flags. */
export function electionOptions(settings: Settings): Omit<ElectionOptions, 'random'> {
  const { resourceName: name, resourceNamespace: namespace } = settings;
  const { leaseDuration: lease, renewDeadline, retryPeriod: retry } = settings;
  return {
    lease: { name, namespace },
    identity: `${hostname()}_${randomUUID()}`,
    timing: { lease, renewDeadline, retry },
  };
}

/** The lease in which limit counts are stored, beside the lease of the election. */
export function limitsLease({ resourceName, resourceNamespace }: Settings): LeaseName {
  return { namespace: resourceNamespace, name: `${resourceName}-limits` };
}
