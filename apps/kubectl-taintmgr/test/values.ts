import { type Node, type Pod, parseTaint, type Taint } from '@taintmgr/core';

/** A round instant: what a test prints is easy to compute. */
export const now: number = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A taint put on `secondsAgo`, or nobody knows when. */
export function taint(text: string, secondsAgo: number | null = null): Taint {
  return { ...parseTaint(text), timeAdded: secondsAgo === null ? null : now - secondsAgo * 1000 };
}

export function node(name: string, ...taints: readonly Taint[]): Node {
  return { name, uid: `uid-${name}`, taints };
}

/** A running pod of a ReplicaSet in namespace shop on n1, with no toleration. */
export function pod(name: string, fields: Partial<Pod> = {}): Pod {
  return {
    namespace: 'shop',
    name,
    uid: `uid-${name}`,
    nodeName: 'n1',
    tolerations: [],
    boundAt: null,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 1,
    mirror: false,
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs' },
    hasEmptyDir: false,
    ...fields,
  };
}

/** Tolerates every taint of a key, for ever or for a number of seconds. */
export function tolerates(
  key: string,
  tolerationSeconds: number | null = null,
): Pick<Pod, 'tolerations'> {
  return {
    tolerations: [{ key, operator: 'Exists', value: '', effect: '', tolerationSeconds }],
  };
}

/** The controller of a DaemonSet's pods. */
export const ofDaemonSet: Pick<Pod, 'owner'> = {
  owner: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
};
