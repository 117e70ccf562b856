import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
// @boundaries-ignore the runtimes are the same for every package
import { runtimes } from '../../../../packages/k8s-adapter/test/world/runtimes.ts';
import { execute } from '../world/plugin.ts';
import { type Result, run, steady } from '../world/run.ts';
import { app, Scenario } from '../world/scenario.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';

// The plugin as a process from source, on the other runtimes: it reads a cluster over HTTPS, and
// changes it.

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const others = runtimes.filter(({ name }) => name !== 'Node');
const zoneOf = (runtime: string): string => runtime.toLowerCase();

describe('kubectl taintmgr on other runtimes', { skip: others.length === 0 }, () => {
  let cluster: TestCluster;
  before(async () => {
    const zones = others.map(({ name }) => zoneOf(name));
    const workloads = zones.map((zone) => app(zone, 'web', { replicas: 4 }));
    cluster = await startTestCluster({
      region: 'r',
      zones,
      nodesPerZone: 2,
      workloads,
      budgets: [],
    });
  });
  after(() => cluster.stop());

  for (const { name, binary, run: runArgs } of others) {
    const plugin = (...args: readonly string[]): Promise<Result> =>
      execute(binary, [...runArgs, program, ...args, '--kubeconfig', cluster.kubeconfig]);

    it(`${name}: explains a node as on Node`, async () => {
      const args = ['explain', 'node', `${zoneOf(name)}-1`, '--output=json'];
      const [there, here] = await Promise.all([
        plugin(...args),
        run(...args, '--kubeconfig', cluster.kubeconfig),
      ]);
      assert.deepEqual([there.code, there.err], [0, '']);
      const pods = ({ out }: Result): unknown => JSON.parse(out).pods;
      assert.deepEqual(pods(there), pods(here));
    });

    it(`${name}: drains a node`, async () => {
      const zone = zoneOf(name);
      const scenario = new Scenario(cluster, zone);
      const { code, out, err } = steady(await plugin('drain-by-taint', 'maintenance', `${zone}-1`));
      assert.equal(code, 0, err);
      assert.match(out, /^pod\/web-\S+ evicted/m);
      assert.match(out, new RegExp(`^node/${zone}-1 drained`, 'm'));
      const left = scenario.pods('web').filter(({ spec }) => spec.nodeName === `${zone}-1`);
      assert.deepEqual(left, []);
    });
  }
});
