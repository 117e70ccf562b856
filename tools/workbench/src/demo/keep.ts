// `npm run demo -- --keep`: a cluster and the controller that stay, for one's own kubectl.
import { startEmbedded } from '@taintmgr/api-server';
import { checkChoices } from '@taintmgr/controller/src/flags/checks.ts';
import { resolveChoices } from '@taintmgr/controller/src/flags/resolve.ts';
import { createLogger } from '@taintmgr/controller/src/log/logger.ts';
import { runProcess } from '@taintmgr/controller/src/process/run-process.ts';
import { loadKubeconfig, UpstreamManager } from '@taintmgr/k8s-adapter';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import {
  bringToRest,
  type ClusterApi,
  daemonSet,
  defaultTiming,
  deployment,
  pdb,
  type RestingCluster,
  statefulSet,
  toleration,
  topologyObjects,
} from '@taintmgr/sim-cluster';

/** Minutes of a real cluster are seconds here. */
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

/**
 * The controller asks disruption budgets, leaves unhealthy nodes to kube-controller-manager, and
 * opens free ports.
 */
const flags = [
  '--mode=evict',
  '--controllers=taint-eviction-controller,node-drain-controller',
  '--kube-controller-manager-runs=node-lifecycle-controller',
  '--secure-port=0',
];

/** The node whose pods have minutes left, and why. */
const failing = { node: 'zone-a-1', key: 'disk', value: 'failing' } as const;
const failingTaint = `${failing.key}=${failing.value}:NoExecute`;

/**
 * Runs the shipped controller over HTTPS until `signal`. It leads and publishes its status, which
 * every command reads. Only warnings and errors of its log are printed.
 */
export async function keep(
  seed: number,
  signal: AbortSignal,
  say: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<void> {
  const definitions = customResourceDefinitions();
  const without = ['conditionTaints'] as const;
  const resting = atRest(seed);
  const embedded = await startEmbedded({ resting, seed, definitions, timing, without });
  const { kubeconfig } = embedded;
  const { access } = await loadKubeconfig({ kubeconfig });
  const manager = new UpstreamManager(access, duties);
  manager.start();
  try {
    taintNode(embedded.cluster.api);
    say(`
A simulated cluster and the controller run until Ctrl-C. The disk of ${failing.node} fails:
its pods leave in 10 and 20 minutes. In another terminal, in this folder:

  export KUBECONFIG=${kubeconfig} PATH="$PWD/node_modules/.bin:$PATH"

  kubectl taintmgr explain node ${failing.node} -w
  kubectl taintmgr explain node zone-b-1 --with-taint maintenance=kernel
  kubectl taintmgr web

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

/** A cluster that has been running for days: the same pods on the same nodes each time. */
function atRest(seed: number): RestingCluster {
  const startsAt = Date.now() - ageMs;
  const { nodes, objects } = described;
  const coming = bringToRest({
    startsAt,
    seed,
    timing: { ...defaultTiming, ...timing },
    nodes,
    objects,
  });
  for (let step = coming.next(); ; step = coming.next()) if (step.done) return step.value;
}

const ageMs = 3 * 86_400_000;

function taintNode(api: ClusterApi): void {
  const node = api.get('nodes', '', failing.node);
  if (!node) throw new Error(`the cluster has no node ${failing.node}`);
  const { key, value } = failing;
  const timeAdded = `${new Date().toISOString().slice(0, 19)}Z`;
  // Replacements must not come back.
  const taints = ['NoSchedule', 'NoExecute'].map((effect) => ({ key, value, effect, timeAdded }));
  api.as('disk-checker').update('nodes', { ...node, spec: { ...(node.spec as object), taints } });
}

const unreachable = 'node.kubernetes.io/unreachable:NoExecute';

/** Three zones of two nodes with one workload for each kind of toleration. */
const described = {
  nodes: ['zone-a', 'zone-b', 'zone-c'].flatMap((zone) =>
    [1, 2].map((number) => ({ name: `${zone}-${number}`, region: 'region-1', zone })),
  ),
  objects: topologyObjects({
    workloads: [
      // Tolerates no taint but, as every pod, those of lost nodes for 300 s. Has a budget.
      deployment('shop', 'web', { replicas: 6 }),
      // Leaves lost nodes after 3 s.
      deployment('shop', 'api', {
        replicas: 6,
        tolerations: [toleration(unreachable, 3), toleration(failingTaint, 600)],
      }),
      // Needs 5 s to finish its work when maintenance begins.
      statefulSet('shop', 'db', {
        replicas: 6,
        tolerations: [toleration('maintenance:NoExecute', 5), toleration(failingTaint, 1200)],
        podSpec: { terminationGracePeriodSeconds: 2 },
      }),
      // Does not mind maintenance.
      deployment('shop', 'cache', {
        replicas: 3,
        tolerations: [toleration('maintenance:NoExecute')],
      }),
      // Belongs to its node whatever happens.
      daemonSet('infra', 'agent', { tolerations: [{ operator: 'Exists' }] }),
    ],
    budgets: [pdb('shop', 'web', { maxUnavailable: 1 })],
  }),
};
