// The limits of prediction runs: policies that say how much may go at once, and nothing else.
import type { Json, KubeObject } from '@taintmgr/sim-cluster';

function limiting(name: string, limits: readonly Json[]): KubeObject {
  return {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'EvictionPolicy',
    metadata: { name },
    spec: { match: { taints: [{ key: 'k*' }] }, limits: [...limits] },
  };
}

/** A rate for all, which the pods of five nodes share. */
export const rates: readonly KubeObject[] = [
  limiting('paced', [{ per: 'Total', podsPerSecond: 0.4, burst: 2 }]),
];

/** So many pods of a node within a time, and a share of all. */
export const windows: readonly KubeObject[] = [
  limiting('few', [{ per: 'Node', pods: 2, window: '20s' }]),
  limiting('share', [{ per: 'Zone', percent: 20, window: '30s' }]),
];
