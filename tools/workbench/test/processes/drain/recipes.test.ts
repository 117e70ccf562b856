// docs/drains: the recipes of NodeDrains, applied by the real kubectl beside a controller.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  execute,
  installPlugin,
  withoutKubectl,
} from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import { durations, playTranscript } from '@taintmgr/kubectl-taintmgr/test/world/transcript.ts';
import { deployment, job, namespace, pdb, type Topology } from '@taintmgr/sim-cluster';
import { PostgresOperator, VirtualMachine } from './operators.ts';
import { servesNobody, start, startCluster, until, type WatchedCluster } from './programs.ts';

const page = new URL('../../../../../docs/drains/README.md', import.meta.url);

const on = (name: string) => ({ podSpec: { nodeSelector: { 'kubernetes.io/hostname': name } } });
const topology: Topology = {
  region: 'r',
  zones: ['a', 'b'],
  nodesPerZone: 4,
  workloads: [deployment('shop', 'web', { replicas: 6 }), job('work', 'report', 25, on('a-4'))],
  budgets: [pdb('shop', 'web', { maxUnavailable: 1 })],
};
const pools: Readonly<Record<string, string>> = {
  ...{ 'a-1': 'blue', 'b-1': 'blue', 'a-2': 'spot', 'b-2': 'spot' },
  ...{ 'a-3': 'databases', 'a-4': 'batch' },
};

async function open(t: TestContext): Promise<WatchedCluster> {
  const watched = await startCluster(t, topology);
  const { kubeconfig, cluster } = watched;
  for (const node of cluster.api.list('nodes')) {
    const { metadata } = node;
    const pool = pools[metadata.name] ?? 'other';
    const labels = { ...metadata.labels, pool };
    cluster.api.update('nodes', { ...node, metadata: { ...metadata, labels } });
  }
  const directory = mkdtempSync(join(tmpdir(), 'taintmgr-recipes-'));
  t.after(() => rmSync(directory, { recursive: true }));
  process.env.PATH = installPlugin(directory);
  process.env.KUBECONFIG = kubeconfig;
  const flags = ['--mode=evict-then-delete', '--controllers=node-drain-controller', servesNobody];
  const controller = start(t, 'controller', kubeconfig, ...flags);
  const isLed = (): boolean =>
    cluster.api.list('taintmanagers.taintmgr.dev').some(({ status }) => status?.renewTime);
  await until('the controller to lead', isLed, controller.out);
  return watched;
}

describe('docs/drains', { skip: withoutKubectl }, () => {
  it('README.md', async (t) => {
    const watched = await open(t);
    watched.cluster.api.create('namespaces', namespace('data'));
    const database = new PostgresOperator(watched, ['a-3', 'b-3']);
    const machine = new VirtualMachine(watched, 'a-3');
    const migrated = machine.migrate();
    const cwd = new URL('.', page).pathname;
    const steady = (text: string): string => text.replace(durations, '1s');
    await playTranscript(page, (line) => execute('sh', ['-c', `cd '${cwd}' && ${line}`]), steady);
    await migrated;
    assert.deepEqual(database.done, ['switched over', 'made another replica']);
    assert.deepEqual(machine.done, ['asked', 'migrated']);
    for (const name of Object.keys(pools)) {
      const isUndone = pools[name] === 'blue';
      assert.ok(isUndone || watched.isDrained(name, 'report'), name);
    }
    // The Job was let finish: nobody asked its pod to go.
    const [report] = watched.cluster.api
      .list('pods')
      .filter(({ metadata }) => metadata.namespace === 'work');
    assert.equal(report?.status?.phase, 'Succeeded');
  });
});
