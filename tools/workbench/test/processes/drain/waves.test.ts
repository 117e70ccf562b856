// The order of a NodeDrain and what it leaves workloads, with the controller and the real kubectl.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { execute, withoutKubectl } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import { deployment, job, type KubeObject, pdb, type Topology } from '@taintmgr/sim-cluster';
import { startCluster, startController, until, type WatchedCluster } from './programs.ts';

const topology: Topology = {
  region: 'r',
  zones: ['a', 'b', 'c'],
  nodesPerZone: 2,
  workloads: [deployment('shop', 'web', { replicas: 6 })],
  budgets: [],
};

const zone = 'topology.kubernetes.io/zone';

const manifest = `
apiVersion: taintmgr.dev/v1alpha1
kind: NodeDrain
metadata:
  name: kernel
spec:
  nodeSelector:
    matchExpressions:
      - {key: ${zone}, operator: In, values: [a, b]}
  taint: {key: maintenance, value: kernel}
  waves:
    - name: canary
      nodeSelector: {matchLabels: {${zone}: b}}
      nodesAtOnce: 1
  limits:
    nodesAtOnce: 100%
    maxUnavailable: 1
  pods:
    singleReplicas: RolloutRestart
    waitCompleted: {timeout: 10m}
`;

/** Which nodes got the taint, in their order; and when fewer pods were ready than had to be. */
class Observer {
  readonly events: string[] = [];
  readonly faults: string[] = [];
  readonly #cluster: WatchedCluster['cluster'];
  readonly #least: Readonly<Record<string, number>>;

  constructor(
    t: TestContext,
    { cluster }: WatchedCluster,
    least: Readonly<Record<string, number>>,
  ) {
    this.#cluster = cluster;
    this.#least = least;
    t.after(cluster.api.subscribe(() => this.#look()));
  }

  #note(event: string): void {
    if (!this.events.includes(event)) this.events.push(event);
  }

  #look(): void {
    const { api } = this.#cluster;
    for (const { metadata, spec } of api.list('nodes')) {
      const isTainted = spec.taints?.some(
        ({ key }: { readonly key: string }) => key === 'maintenance',
      );
      if (isTainted) this.#note(`tainted ${metadata.name}`);
    }
    const pods = api.list('pods');
    for (const [app, least] of Object.entries(this.#least)) {
      const ready = pods.filter((pod) => pod.metadata.labels?.app === app && isReady(pod)).length;
      if (ready < least) this.faults.push(`${ready} pods of ${app} were ready`);
    }
  }
}

function isReady({ metadata, status }: KubeObject): boolean {
  const conditions: readonly { readonly type: string; readonly status: string }[] =
    status?.conditions ?? [];
  const says = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
  return says && metadata.deletionTimestamp === undefined;
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await execute('kubectl', args);
  assert.equal(code, 0, err);
  return out;
}

/** Workloads that are on nodes which are drained, and can go to others. */
async function place({ cluster }: WatchedCluster): Promise<void> {
  const { api } = cluster;
  await kubectl('cordon', 'c-1', 'c-2');
  api.create('deployments', deployment('shop', 'single', { replicas: 1 }));
  api.create('poddisruptionbudgets', pdb('shop', 'single', { minAvailable: 1 }));
  const inA = { nodeSelector: { [zone]: 'a' } };
  // So long that it still runs when its node's turn has come, on a slow machine too.
  api.create('jobs', job('shop', 'report', 25, { podSpec: { ...inA, restartPolicy: 'Never' } }));
  const runs = (app: string): boolean =>
    api.list('pods').some((pod) => pod.metadata.labels?.app === app && isReady(pod));
  await until('the workloads to run', () => runs('single') && runs('report'));
  await kubectl('uncordon', 'c-1', 'c-2');
}

describe('a NodeDrain with waves', () => {
  it('goes wave by wave, keeps what workloads need, and lets a Job finish', {
    skip: withoutKubectl,
  }, async (t) => {
    const watched = await startCluster(t, topology);
    process.env.KUBECONFIG = watched.kubeconfig;
    const directory = mkdtempSync(join(tmpdir(), 'taintmgr-waves-test-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const file = join(directory, 'drain.yaml');
    writeFileSync(file, manifest);
    const controller = await startController(t, watched);
    await place(watched);
    const observer = new Observer(t, watched, { single: 1, web: 5 });
    assert.equal(await kubectl('apply', '-f', file), 'nodedrain.taintmgr.dev/kernel created\n');
    await until('the second wave', () => observer.events.includes('tainted a-1'), controller.out);
    await until('the Job to be waited for', () => {
      const drain = watched.cluster.api.get('nodedrains.taintmgr.dev', '', 'kernel');
      const pods: readonly { readonly message?: string }[] = drain?.status?.pods ?? [];
      return pods.some(({ message = '' }) => message.startsWith('it may finish by'));
    });
    const wide = await kubectl('get', 'nodedrain', 'kernel', '-o', 'wide', '--no-headers');
    assert.match(wide, /^kernel +\w+ +4 +[23] +\d+ +0 +maintenance +the others +/);
    const wait = ['wait', '--for=condition=Drained', 'nodedrain/kernel', '--timeout=150s'];
    assert.equal(await kubectl(...wait), 'nodedrain.taintmgr.dev/kernel condition met\n');
    const tainted = observer.events.filter((event) => event.startsWith('tainted'));
    assert.deepEqual(tainted.slice(0, 2), ['tainted b-1', 'tainted b-2']);
    assert.deepEqual(tainted.slice(2).sort(), ['tainted a-1', 'tainted a-2']);
    assert.deepEqual(observer.faults, []);
    // Its controller counts a pod that has ended a second later.
    await kubectl('wait', '-n', 'shop', '--for=condition=complete', 'job/report', '--timeout=30s');
    const jobs = 'jsonpath={.status.succeeded} {.status.failed}';
    assert.match(await kubectl('get', 'job', '-n', 'shop', 'report', '-o', jobs), /^1 0?$/);
    const restarted =
      'jsonpath={.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}';
    const at = await kubectl('get', 'deployment', '-n', 'shop', 'single', '-o', restarted);
    assert.match(at, /^20\d\d-/);
    const evicted = [...watched.removals.values()].flat();
    assert.ok(evicted.length > 0, controller.out());
    const [single] = watched.cluster.api
      .list('pods')
      .filter(({ metadata }) => metadata.labels?.app === 'single');
    assert.match(single?.spec.nodeName, /^c-/);
    assert.equal(
      await kubectl('delete', 'nodedrain', 'kernel', '--timeout=150s'),
      'nodedrain.taintmgr.dev "kernel" deleted\n',
    );
    for (const { spec } of watched.cluster.api.list('nodes')) {
      assert.deepEqual([spec.unschedulable ?? false, spec.taints ?? []], [false, []]);
    }
  });
});
