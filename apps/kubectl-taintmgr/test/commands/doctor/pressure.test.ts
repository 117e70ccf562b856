// What `doctor` says of conditions and taints that node-pressure-controller has left.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { node } from '@taintmgr/sim-cluster';
import { withoutKubectl } from '../../world/plugin.ts';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

const managers = 'taintmanagers.taintmgr.dev';

describe('doctor where node pressure was switched off', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions();
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    for (const name of ['n1', 'n2', 'n3']) addNode(name);
    const apiVersion = 'taintmgr.dev/v1alpha1';
    api.create(managers, { apiVersion, kind: 'TaintManager', metadata: { name: 'taintmgr' } });
  });
  after(() => cluster.stop());

  /** All but n3 are as under pressure. */
  function addNode(name: string): void {
    const isPressed = name !== 'n3';
    const taints = [{ key: 'taintmgr.dev/memory-pressure', effect: 'NoSchedule' }];
    const created = cluster.api.create('nodes', node(name, { spec: isPressed ? { taints } : {} }));
    const own = { type: 'taintmgr.dev/MemoryPressure', status: isPressed ? 'True' : 'False' };
    const conditions = [...(created.status?.conditions ?? []), own];
    const status = { ...created.status, conditions };
    cluster.api.update('nodes', { ...created, status }, 'status');
  }

  function publish(controllers: readonly string[]): void {
    const found = cluster.api.get(managers, '', 'taintmgr') ?? assert.fail();
    const status = { renewTime: new Date().toISOString(), leader: 'cp-1', controllers };
    cluster.api.update(managers, { ...found, status }, 'status');
  }

  async function findings(): Promise<readonly { message: string; fix: string }[]> {
    const { findings: all } = JSON.parse((await run('doctor', '-o', 'json')).out);
    return all.filter(({ check }: { readonly check: string }) => check === 'pressure');
  }

  it('says nothing while it runs', async () => {
    publish(['taint-eviction-controller', 'node-pressure-controller']);
    assert.deepEqual(await findings(), []);
  });

  it('names what is left, on which nodes', async () => {
    publish(['taint-eviction-controller']);
    const who = 'node-pressure-controller does not run, as far as TaintManagers show';
    assert.deepEqual(
      (await findings()).map(({ message }) => message),
      [
        `the condition taintmgr.dev/MemoryPressure=True stays on n1, n2: ${who}`,
        `the taint taintmgr.dev/memory-pressure stays on n1, n2: ${who}`,
      ],
    );
  });

  it('knows the commands that take it back', { skip: withoutKubectl }, async () => {
    for (const { fix } of await findings()) await promisify(execFile)('sh', ['-c', fix]);
    assert.deepEqual(await findings(), []);
    const { status } = cluster.api.get('nodes', '', 'n1') ?? assert.fail();
    assert.ok(status?.conditions?.some(({ type }: { readonly type: string }) => type === 'Ready'));
  });
});
