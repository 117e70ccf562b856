import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { controllersAnnotation, type ElectionOptions, type LeaseName } from '@taintmgr/k8s-adapter';
import type { Choices } from '../flags/resolve.ts';
import type { Settings } from '../flags/settings.ts';

/**
 * How this replica stands for election, by kube-controller-manager's flags. The lease says which controllers
 * its holder runs: another installation with other work does not stand by for it.
 */
export function electionOptions(
  { settings, ownPod }: Pick<Choices, 'settings' | 'ownPod'>,
  controllers: readonly string[],
): Omit<ElectionOptions, 'random'> {
  const { resourceName: name, resourceNamespace: namespace } = settings;
  const { leaseDuration: lease, renewDeadline, retryPeriod: retry } = settings;
  return {
    lease: { name, namespace },
    identity: `${ownPod?.name ?? hostname()}_${randomUUID()}`,
    timing: { lease, renewDeadline, retry },
    annotations: { [controllersAnnotation]: controllers.join(',') },
  };
}

/** The lease in which limit counts are stored, beside the lease of the election. */
export function limitsLease({ resourceName, resourceNamespace }: Settings): LeaseName {
  return { namespace: resourceNamespace, name: `${resourceName}-limits` };
}
