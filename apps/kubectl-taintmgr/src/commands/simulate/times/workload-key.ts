// What a pod is of, by itself: what owns it, or for a ReplicaSet's pod the Deployment that owns that.
import type { KubeObject } from '@taintmgr/sim-cluster';

/** `shop/web`; the pod's own name where nothing owns it. */
export function workloadKeyOf({ metadata }: KubeObject): string {
  const { namespace = '', name, labels = {} } = metadata;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  const hash = labels['pod-template-hash'];
  const isOfDeployment = owner?.kind === 'ReplicaSet' && hash !== undefined;
  const own = owner?.name ?? name;
  const stem = isOfDeployment && own.endsWith(`-${hash}`) ? own.slice(0, -hash.length - 1) : own;
  return `${namespace}/${stem}`;
}
