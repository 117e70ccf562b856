import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type EmbeddedCluster, type KubernetesVersion, startEmbedded } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { run } from '@taintmgr/kubectl-taintmgr/test/world/run.ts';
import { type ClusterApi, node, pdb, pod } from '@taintmgr/sim-cluster';
import { start, until } from '../drain/programs.ts';

// The controller and the plugin on a server of each minor version of Kubernetes, as far as API and discovery differ:
// missing kinds, watches that cannot begin with a list, and the grace period of kube-controller-manager.

interface Expected {
  readonly version: KubernetesVersion;
  /** The grace period of kube-controller-manager for a silent node. */
  readonly graceSeconds: 40 | 50;
  /** The DeviceTaintRules by default; null: the cluster serves no devices either. */
  readonly rules: 'served' | 'switched off' | null;
}

const versions: readonly Expected[] = [
  { version: '1.30', graceSeconds: 40, rules: null },
  { version: '1.31', graceSeconds: 40, rules: null },
  { version: '1.32', graceSeconds: 50, rules: null },
  { version: '1.33', graceSeconds: 50, rules: null },
  { version: '1.34', graceSeconds: 50, rules: 'switched off' },
  { version: '1.35', graceSeconds: 50, rules: 'switched off' },
  { version: '1.36', graceSeconds: 50, rules: 'switched off' },
  { version: '1.37', graceSeconds: 50, rules: 'served' },
  { version: '1.38', graceSeconds: 50, rules: 'served' },
];

const timing = { startupMs: [50, 100], podStartMs: [50, 150], podStopMs: [50, 150] } as const;
const topology = { region: 'r', zones: ['a'], nodesPerZone: 1, workloads: [], budgets: [] };

async function startVersion(
  t: TestContext,
  kubernetes: KubernetesVersion,
): Promise<EmbeddedCluster> {
  const embedded = await startEmbedded({ kubernetes, topology, timing });
  t.after(() => embedded.stop());
  await until('the cluster to be up', () => embedded.cluster.isIdle());
  process.env.KUBECONFIG = embedded.kubeconfig;
  return embedded;
}

/** One device of the node, as its driver publishes it. */
function publishDevice(api: ClusterApi, nodeName: string): void {
  api.create('resourceslices', {
    metadata: { name: 'n1-gpu' },
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      nodeName,
      devices: [{ name: 'gpu-0' }],
    },
  });
}

for (const { version, graceSeconds, rules } of versions) {
  describe(`Kubernetes ${version}`, () => {
    it('is read by the plugin', async (t) => {
      const { cluster } = await startVersion(t, version);
      const [name = ''] = cluster.api.list('nodes').map(({ metadata }) => metadata.name);
      const explained = await run('explain', 'node', name, '-o', 'json');
      const { health, leaseRenewedAt } = JSON.parse(explained.out);
      const waited = Date.parse(health.unreachableAt) - Date.parse(leaseRenewedAt);
      assert.equal(waited, graceSeconds * 1000);
      const doctor = await run('doctor');
      assert.match(doctor.out, new RegExp(`^OK +api-server +version v${version}\\.0$`, 'm'));
      const drain = await run('drain-by-taint', 'upgrade=1', name, '--dry-run=server');
      assert.equal(drain.code, 0, drain.err);
      if (rules !== null) publishDevice(cluster.api, name);
      const words = ['gpu.example.com/n1/gpu-0', 'health=bad:NoExecute', '--name=gpu-0'];
      const tainted = await run('taint-device', ...words, '--dry-run=client');
      const device = await run('explain', 'device', 'gpu.example.com/n1/gpu-0');
      const refused = 'error: this cluster does not serve DeviceTaintRules: ';
      assert.equal(tainted.err.startsWith(refused), rules !== 'served', tainted.err);
      if (rules === 'served') {
        assert.match(tainted.out, /^devicetaintrule\.resource\.k8s\.io\/gpu-0 /m);
      }
      if (rules === null) assert.match(device.err, /serves no kind of resource\.k8s\.io/);
      else assert.doesNotMatch(device.err, /serves no kind/);
    });

    it('takes the definitions, and its pods leave by budgets', async (t) => {
      const { cluster, kubeconfig } = await startVersion(t, version);
      const { api } = cluster;
      const installed = await run('install', 'crds');
      assert.equal(installed.code, 0, installed.err);
      const kinds = api.list('customresourcedefinitions');
      assert.equal(kinds.length, customResourceDefinitions().length);
      api.create('nodes', node('n1', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } }));
      const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      for (const name of ['held', 'free']) {
        const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0 };
        const made = api.create('pods', pod('default', name, { spec }));
        api.update('pods', { ...made, status: running }, 'status');
      }
      const budget = api.create(
        'poddisruptionbudgets',
        pdb('default', 'held', { minAvailable: 1 }),
      );
      api.update(
        'poddisruptionbudgets',
        { ...budget, status: { disruptionsAllowed: 0 } },
        'status',
      );
      const flags = ['--mode=evict', '--controllers=taint-eviction-controller', '-v=4'];
      const controller = start(t, 'controller', kubeconfig, ...flags, '--secure-port=0');
      await until(
        'the free pod to leave',
        () => !api.get('pods', 'default', 'free'),
        controller.out,
      );
      await controller.saw(/eviction blocked +pod=default\/held/);
      assert.ok(api.get('pods', 'default', 'held'));
      controller.child.kill('SIGTERM');
      assert.equal(await controller.ended, 0, controller.out());
    });
  });
}
