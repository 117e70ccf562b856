// Places for replacements, by the filters of the simulated cluster's scheduler.
import type { Replacement, RoomQuestion } from '@taintmgr/k8s-adapter/explain';
import { type KubeObject, Placement } from '@taintmgr/sim-cluster';

/**
 * Finds places for the replacements of pods that leave: all of them are gone first, and each replacement
 * takes its room. Only nodes and pods are stored: volumes and devices are ignored, and no pod preempts
 * another.
 */
export async function findRoom({
  nodes,
  pods,
  leaving,
}: RoomQuestion): Promise<readonly Replacement[]> {
  const objects = { get: () => null, list: () => [] };
  const placement = new Placement({ objects, seed: 1, ignoresClaims: true });
  for (const node of nodes) placement.setNode(node as KubeObject);
  const byUid = new Map<string, KubeObject>();
  for (const pod of pods as readonly KubeObject[]) {
    byUid.set(pod.metadata.uid ?? '', pod);
    if (!leaving.includes(pod.metadata.uid ?? '')) placement.setPod(keyOf(pod), pod);
  }
  return leaving.flatMap((uid): readonly Replacement[] => {
    const pod = byUid.get(uid);
    return pod ? [placeOf(placement, uid, pod)] : [];
  });
}

function placeOf(placement: Placement, uid: string, pod: KubeObject): Replacement {
  const { nodeName: _, ...spec } = pod.spec;
  const { deletionTimestamp: __, ...metadata } = pod.metadata;
  const next = { ...pod, metadata, spec, status: {} };
  const ignores = ignoredOf(pod);
  // Without the claims the places of the devices are unknown.
  if (spec.resourceClaims) return { uid, node: null, why: null, ignores: 'devices' };
  const node = placement.best(next)?.name ?? null;
  if (node === null) return { uid, node, why: placement.refusal(next), ignores };
  placement.setPod(keyOf(pod), { ...next, spec: { ...spec, nodeName: node } });
  return { uid, node, why: null, ignores };
}

function ignoredOf({ spec }: KubeObject): Replacement['ignores'] {
  const volumes: readonly { persistentVolumeClaim?: object }[] = spec.volumes ?? [];
  return volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim) ? 'volumes' : null;
}

function keyOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`;
}
