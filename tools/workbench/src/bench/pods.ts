import type { Pod, Toleration } from '@taintmgr/core';

// Pods as a cluster has them: names of realistic length, a handful of different tolerations, each
// pod with objects of its own, as a decoder would make them.

export const perNode = 30;

/** Pod number `index` of a large cluster, freshly made. */
export function makePod(index: number): Pod {
  const app = index % 500;
  return {
    namespace: `team-${app % 40}-production`,
    name: `service-${app}-7d9c5b8f6b-${suffix(index)}`,
    uid: `${hex(index, 8)}-5c1d-4f3e-9a77-${hex(index * 7919, 12)}`,
    nodeName: nodeOf(index),
    tolerations: tolerationsOf(app),
    boundAt: 1_700_000_000_000 + index,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 1,
    mirror: false,
    owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `service-${app}-7d9c5b8f6b` },
    hasEmptyDir: false,
    gracePeriodSeconds: 30,
    optedOut: false,
  };
}

/** The names of the nodes of so many pods. */
export function nodeNames(pods: number): readonly string[] {
  const names = new Set<string>();
  for (let index = 0; index < pods; index += perNode) names.add(makePod(index).nodeName);
  return [...names];
}

/** The name of the node of pod number `index`. */
export function nodeOf(index: number): string {
  const node = Math.floor(index / perNode);
  return `ip-10-${node >> 8}-${node & 255}-17.eu-central-1.compute.internal`;
}

function tolerationsOf(app: number): readonly Toleration[] {
  const lost = ['not-ready', 'unreachable'].map((name) =>
    exists(`node.kubernetes.io/${name}`, app % 10 === 0 ? 60 : 300),
  );
  return app % 7 === 0 ? [...lost, exists('maintenance', app % 3 === 0 ? null : 120)] : lost;
}

function exists(key: string, tolerationSeconds: number | null): Toleration {
  return { key, operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds };
}

function suffix(index: number): string {
  return index.toString(36).padStart(5, 'x').slice(-5);
}

/** A number of so many hexadecimal digits. */
export function hex(value: number, length: number): string {
  return value.toString(16).padStart(length, '0').slice(-length);
}
