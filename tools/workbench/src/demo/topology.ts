import {
  daemonSet,
  deployment,
  pdb,
  statefulSet,
  type Topology,
  toleration,
} from '@taintmgr/sim-cluster';

/**
 * The taints that the demo puts on nodes. NoExecute makes pods leave, each workload in its own way;
 * NoSchedule keeps those from coming back that tolerate the other for a while.
 */
export const maintenance = [
  { key: 'maintenance', value: 'kernel', effect: 'NoSchedule' },
  { key: 'maintenance', value: 'kernel', effect: 'NoExecute' },
] as const;

const unreachable = 'node.kubernetes.io/unreachable:NoExecute';

/** The demo's cluster: three zones of three nodes with one workload for each kind of toleration. */
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
