import {
  daemonSet,
  deployment,
  pdb,
  statefulSet,
  type Topology,
  toleration,
} from '@taintmgr/sim-cluster';

/** The keys of the taints that come and go. */
export const taintKeys = ['maintenance', 'spot'] as const;

const anyTime = { operator: 'Exists', effect: 'NoExecute' } as const;

/** A small cluster with a workload of each kind; more pods come and go by the script. */
export const topology: Topology = {
  region: 'r',
  zones: ['a', 'b'],
  nodesPerZone: 2,
  workloads: [
    deployment('shop', 'web', {
      replicas: 4,
      tolerations: [toleration('maintenance:NoExecute', 20)],
    }),
    statefulSet('shop', 'db', {
      replicas: 2,
      podSpec: { terminationGracePeriodSeconds: 1 },
      tolerations: [toleration('spot:NoExecute', 5), toleration('maintenance:NoExecute', 60)],
    }),
    statefulSet('shop', 'rock', {
      replicas: 2,
      tolerations: [toleration('spot:NoExecute', 1000), anyTime],
    }),
    daemonSet('infra', 'agent', { tolerations: [{ ...anyTime, tolerationSeconds: 30 }] }),
  ],
  budgets: [pdb('shop', 'web', { maxUnavailable: 1 }), pdb('shop', 'db', { minAvailable: 1 })],
};
