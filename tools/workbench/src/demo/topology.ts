import {
  daemonSet,
  deployment,
  pdb,
  statefulSet,
  type Topology,
  toleration,
} from '@taintmgr/sim-cluster';

const unreachable = 'node.kubernetes.io/unreachable:NoExecute';

/** The cluster of `npm run demo -- --keep`: three zones of three nodes with one workload for each kind of toleration. */
export const topology: Topology = {
  region: 'region-1',
  zones: ['zone-a', 'zone-b', 'zone-c'],
  nodesPerZone: 3,
  workloads: [
    // Tolerates no taint but, as every pod, those of lost nodes for 300 s. Has a budget.
    deployment('shop', 'web', { replicas: 6 }),
    // Leaves lost nodes after 3 s.
    deployment('shop', 'api', { replicas: 3, tolerations: [toleration(unreachable, 3)] }),
    // Needs 5 s to finish what it is doing when maintenance begins.
    statefulSet('shop', 'db', {
      replicas: 3,
      tolerations: [toleration('maintenance:NoExecute', 5)],
      podSpec: { terminationGracePeriodSeconds: 2 },
    }),
    // Does not mind maintenance.
    deployment('shop', 'cache', {
      replicas: 3,
      tolerations: [toleration('maintenance:NoExecute')],
    }),
    // Belongs to its node whatever happens.
    daemonSet('infra', 'node-agent', { tolerations: [{ operator: 'Exists' }] }),
  ],
  budgets: [pdb('shop', 'web', { maxUnavailable: 1 })],
};
