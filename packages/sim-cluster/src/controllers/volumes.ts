// The volumes of pods: by which claims a pod has them, and what nodes and attachments call them.
import { hash } from '../kernel/hash.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { ClusterApi } from '../store/cluster-api.ts';

interface PodVolume {
  readonly persistentVolumeClaim?: { readonly claimName?: string };
}

const none: readonly never[] = [];

/** The names of the claims that a pod has. */
export function claimsOf({ spec }: KubeObject): readonly string[] {
  const volumes: readonly PodVolume[] | undefined = spec?.volumes;
  if (volumes === undefined) return none;
  return volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

/** The volumes of a pod that have to be attached to its node, as far as its claims are bound. */
export function volumesOf(api: ClusterApi, pod: KubeObject): readonly KubeObject[] {
  const { namespace = '' } = pod.metadata;
  return claimsOf(pod).flatMap((name) => {
    const claim = api.get('persistentvolumeclaims', namespace, name);
    const volume = api.get('persistentvolumes', '', claim?.spec?.volumeName ?? '');
    return volume?.spec?.csi ? volume : [];
  });
}

/** The name of a volume in status.volumesInUse and status.volumesAttached of a node. */
export function volumeOnNode({ spec }: KubeObject): string {
  return `kubernetes.io/csi/${spec?.csi?.driver}^${spec?.csi?.volumeHandle}`;
}

/** The name of an attachment: of a volume and a node there is one. */
export function attachmentName(volume: KubeObject, nodeName: string): string {
  const { driver, volumeHandle } = volume.spec?.csi ?? {};
  const digits = ['a', 'b', 'c', 'd'].map((part) =>
    hash(`${part}${volumeHandle}${driver}${nodeName}`).toString(16).padStart(8, '0'),
  );
  return `csi-${digits.join('')}`;
}

/** The names that a node's status has for its attached volumes. */
export function attachedTo(node: KubeObject | null): readonly string[] {
  const attached: readonly { readonly name: string }[] = node?.status?.volumesAttached ?? [];
  return attached.map(({ name }) => name);
}
