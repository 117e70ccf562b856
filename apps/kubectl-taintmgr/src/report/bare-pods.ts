// Pods without a controller: once evicted they are gone for good.
import type { Pod } from '@taintmgr/core';

type Bare = Pick<Pod, 'owner' | 'mirror' | 'phase'>;

/** Whether nobody recreates the pod; the kubelet sees to static pods, and a finished pod is done. */
export function isBare({ owner, mirror, phase }: Bare): boolean {
  return owner === null && !mirror && phase !== 'Succeeded' && phase !== 'Failed';
}
