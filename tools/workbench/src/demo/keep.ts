// `npm run demo -- --keep`: a cluster and the controller that stay, for one's own kubectl.
import { startEmbedded } from '@taintmgr/api-server';
import { checkChoices } from '@taintmgr/controller/src/flags/checks.ts';
import { resolveChoices } from '@taintmgr/controller/src/flags/resolve.ts';
import { createLogger } from '@taintmgr/controller/src/log/logger.ts';
import { runProcess } from '@taintmgr/controller/src/process/run-process.ts';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import {
  daemonSet,
  deployment,
  pdb,
  statefulSet,
  type Topology,
  toleration,
} from '@taintmgr/sim-cluster';

/** Nobody wants to wait for minutes: what takes its time in a cluster takes seconds here. */
const timing = {
  heartbeatMs: 1000,
  startupMs: [200, 800],
  podStartMs: [300, 1000],
  podStopMs: [200, 800],
} as const;

/** kube-controller-manager watches over nodes, at the same pace, and leaves evictions to taintmgr. */
const duties = {
  taintEviction: false,
  nodes: { nodeMonitorPeriodMs: 500, nodeMonitorGracePeriodMs: 3000, nodeEvictionRate: 1 },
} as const;

/** It asks disruption budgets, leaves unhealthy nodes to kube-controller-manager, and opens ports that are free. */
const flags = [
  '--mode=evict',
  '--controllers=taint-eviction-controller,node-drain-controller',
  '--kube-controller-manager-runs=node-lifecycle-controller',
  '--secure-port=0',
];

/**
 * Runs until `signal`: the controller as it is shipped, over HTTPS. It leads and says so, or every command
 * would answer that nobody evicts here. Of its log only what goes wrong is said.
 */
export async function keep(
  seed: number,
  signal: AbortSignal,
  say: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<void> {
  const definitions = customResourceDefinitions();
  const without = ['conditionTaints'] as const;
  const embedded = await startEmbedded({ topology, seed, definitions, timing, without });
  const { kubeconfig } = embedded;
  const { access } = await loadKubeconfig({ kubeconfig });
  const manager = new UpstreamManager(access, duties);
  manager.start();
  try {
    say(`
A cluster and the controller run until Ctrl-C. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl get nodes,pods,pdb -A -o wide
  kubectl taint nodes zone-c-1 maintenance=kernel:NoSchedule maintenance=kernel:NoExecute
  npm run -s kubectl-taintmgr -- explain node zone-c-1

`);
    const choices = resolveChoices(['--kubeconfig', kubeconfig, ...flags], {});
    const cluster = await loadKubeconfig(choices.connection);
    const write = (line: string): void => {
      if (!/^\S+ INFO /.test(line)) say(line);
    };
    const log = createLogger({ format: 'text', verbose: false, write });
    await runProcess({ choices, checked: checkChoices(choices), cluster, signal, log });
  } finally {
    await manager.stop();
    await embedded.stop();
  }
}

const unreachable = 'node.kubernetes.io/unreachable:NoExecute';

/** The cluster of `npm run demo -- --keep`: three zones of three nodes with one workload for each kind of toleration. */
const topology: Topology = {
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
