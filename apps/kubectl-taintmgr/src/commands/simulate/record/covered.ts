// Which workloads a disruption budget covers: those whose pods it selects.
import { selects } from '@taintmgr/core';
import type { ClusterApi, KubeObject } from '@taintmgr/sim-cluster';

const templated = ['deployments', 'statefulsets', 'daemonsets', 'replicasets'];

/** As `Deployment shop/web`, in the order of kinds; a ReplicaSet of a Deployment is a part of it. */
export function coveredBy({ metadata, spec }: KubeObject, api: ClusterApi): readonly string[] {
  const { selector } = spec;
  // One without a selector selects nothing.
  if (!selector) return [];
  const { namespace = '' } = metadata;
  return templated
    .flatMap((resource) => api.list(resource, namespace))
    .filter((one) => !one.metadata.ownerReferences?.some(({ controller }) => controller))
    .filter((one) => selects(selector, one.spec.template?.metadata?.labels ?? {}))
    .map(({ kind, metadata: { name } }) => `${kind} ${namespace}/${name}`);
}
