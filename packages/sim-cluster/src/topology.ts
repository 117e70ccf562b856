import { daemonSet, deployment, job, namespace, pdb, statefulSet, toleration } from './builders.ts';
import type { NodeDescription } from './kubelet/node-status.ts';
import type { KubeObject } from './objects/kube-object.ts';
import type { TimedToleration } from './objects/tolerations.ts';

/** A cluster as one would describe it: where its nodes are and what runs on them. */
export interface Topology {
  /** The region of all nodes. */
  readonly region: string;
  /** Nodes are named ZONE-1 to ZONE-(nodesPerZone). */
  readonly zones: readonly string[];
  /** The number of nodes in each zone. */
  readonly nodesPerZone: number;
  /** The description that all its nodes share. */
  readonly nodes?: Omit<NodeDescription, 'name' | 'region' | 'zone'>;
  /** Deployments, StatefulSets, DaemonSets, Jobs and pods. */
  readonly workloads: readonly KubeObject[];
  /** PodDisruptionBudgets. */
  readonly budgets: readonly KubeObject[];
}

/** The machines of a topology, zone by zone. */
export function topologyNodes(topology: Topology): readonly NodeDescription[] {
  const { region, zones, nodesPerZone, nodes } = topology;
  const numbers = Array.from({ length: nodesPerZone }, (_, index) => index + 1);
  return zones.flatMap((zone) =>
    numbers.map((number) => ({ ...nodes, name: `${zone}-${number}`, region, zone })),
  );
}

/** The objects of a topology in the order in which they can be created: namespaces first. */
export function topologyObjects(
  topology: Pick<Topology, 'workloads' | 'budgets'>,
): readonly KubeObject[] {
  const objects = [...topology.budgets, ...topology.workloads];
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace ?? 'default'));
  return [...[...namespaces].sort().map(namespace), ...objects];
}

/** The default tolerations of unhealthy nodes, but for a time of one's own. */
function whenNodeIsUnhealthy(seconds: number): readonly TimedToleration[] {
  return [
    toleration('node.kubernetes.io/not-ready:NoExecute', seconds),
    toleration('node.kubernetes.io/unreachable:NoExecute', seconds),
  ];
}

/**
 * The demo cluster: three zones of three nodes. There is one workload for each way of answering a
 * NoExecute taint: `web` (default tolerations, a budget), `api` (leaves unhealthy nodes after a
 * minute), `db` (stays half a minute, fixed names), `report` (a job), `metrics` (tolerates every
 * NoExecute taint for ever) and `node-agent` (tolerates everything, on every node).
 */
export const threeZones: Topology = {
  region: 'region-1',
  zones: ['zone-a', 'zone-b', 'zone-c'],
  nodesPerZone: 3,
  workloads: [
    deployment('shop', 'web', { replicas: 6 }),
    deployment('shop', 'api', { replicas: 4, tolerations: whenNodeIsUnhealthy(60) }),
    statefulSet('shop', 'db', { replicas: 3, tolerations: whenNodeIsUnhealthy(30) }),
    job('shop', 'report', 120),
    deployment('infra', 'metrics', {
      replicas: 2,
      tolerations: [{ operator: 'Exists', effect: 'NoExecute' }],
    }),
    daemonSet('infra', 'node-agent', { tolerations: [{ operator: 'Exists' }] }),
  ],
  budgets: [pdb('shop', 'web', { maxUnavailable: 1 }), pdb('shop', 'db', { minAvailable: 2 })],
};

/**
 * The topology with a system pod on every node. Kubernetes' own tests wait a minute before each test
 * for three such pods on every node without taints; here one pod has all three names.
 */
export function withSystemPods(topology: Topology): Topology {
  const name = 'kube-proxy-fluentd-elasticsearch-node-problem-detector';
  const system = daemonSet('kube-system', name, { tolerations: [{ operator: 'Exists' }] });
  return { ...topology, workloads: [system, ...topology.workloads] };
}
