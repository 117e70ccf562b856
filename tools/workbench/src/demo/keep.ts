// `npm run demo -- --keep`: a cluster and the controller that stay, for one's own kubectl.
import { runController } from '@taintmgr/controller/src/process/run-controller.ts';
import { loadKubeconfig } from '@taintmgr/k8s-adapter';
import { startEmbedded } from '@taintmgr/sim-cluster';
import { topology } from './topology.ts';

/** Nobody wants to wait for minutes: what takes its time in a cluster takes seconds here. */
const pace = {
  nodeMonitorGraceMs: 3000,
  timing: {
    heartbeatMs: 1000,
    startupMs: [200, 800],
    podStartMs: [300, 1000],
    podStopMs: [200, 800],
  },
} as const;

/** Runs until `signal`: the real controller, over HTTPS, asking disruption budgets. */
export async function keep(seed: number, signal: AbortSignal): Promise<void> {
  const embedded = await startEmbedded({ topology, seed, ...pace });
  try {
    const { kubeconfig } = embedded;
    process.stdout.write(`
A cluster and the controller run until Ctrl-C. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl get nodes,pods,pdb -A -o wide
  kubectl taint nodes zone-c-1 maintenance=kernel:NoSchedule maintenance=kernel:NoExecute
  npm run -s kubectl-taintmgr -- explain node zone-c-1

`);
    const cluster = await loadKubeconfig({ kubeconfig });
    await runController({ cluster, engine: { mode: 'evict' }, signal, onNotice: () => {} });
  } finally {
    await embedded.stop();
  }
}
