// The lease by which a kubelet says that it is alive.
import type { KubeObject } from '../objects/kube-object.ts';

export const leaseNamespace = 'kube-node-lease';
const leaseDurationSeconds = 40;

/** The lease of a node; `renewTime` is in the format of the field. */
export function leaseOf({ metadata }: KubeObject, renewTime: string): KubeObject {
  const { name, uid = '' } = metadata;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: leaseNamespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime },
  };
}
