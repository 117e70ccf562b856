import type { ApiServer } from '@taintmgr/api-server';
import { pod } from '@taintmgr/sim-cluster';

/** Lets the flags of a kube-controller-manager prove that it leaves taints to others. */
export function leaveTaints(api: Pick<ApiServer, 'create'>): void {
  showManager(api, ['--controllers=*,-taint-eviction-controller,-node-lifecycle-controller']);
}

/** The pod of a kube-controller-manager with these flags; on a node it is the mirror of a static one. */
export function showManager(
  api: Pick<ApiServer, 'create'>,
  flags: readonly string[],
  onNode: string | null = null,
): void {
  const name = 'kube-controller-manager';
  const image = `registry.k8s.io/${name}:v1.36.2`;
  const containers = [{ name, image, command: [name, ...flags] }];
  const made = pod('kube-system', onNode === null ? name : `${name}-${onNode}`, {
    spec: { containers, ...(onNode === null ? {} : { nodeName: onNode }) },
  });
  api.create('pods', { ...made, metadata: { ...made.metadata, labels: { component: name } } });
}
