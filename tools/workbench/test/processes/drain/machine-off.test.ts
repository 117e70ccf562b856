// A machine that is off: its pods go when somebody says so, with the controller and the real kubectl.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { execute, withoutKubectl } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import { statefulSet, type Topology } from '@taintmgr/sim-cluster';
import { servesNobody, start, startCluster, until } from './programs.ts';

const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 3,
  workloads: [statefulSet('shop', 'db', { replicas: 1 })],
  budgets: [],
};

const key = 'node.kubernetes.io/out-of-service';
const rule = {
  apiVersion: 'taintmgr.dev/v1alpha1',
  kind: 'NodeTaintRule',
  metadata: { name: 'machine-off' },
  spec: {
    condition: { type: 'example.com/MachineOff' },
    onlyUnreachable: true,
    taint: { key, value: 'nodeshutdown', effect: 'NoExecute' },
  },
};

async function kubectl(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await execute('kubectl', args);
  assert.equal(code, 0, err);
  return out;
}

/** Says that a machine is off, as of an instant. */
async function sayOff(name: string, at: Date): Promise<void> {
  const condition = {
    ...{ type: 'example.com/MachineOff', status: 'True', reason: 'SeenOff', message: 'no power' },
    lastTransitionTime: at.toISOString().replace(/\.\d+/, ''),
  };
  const patch = JSON.stringify({ status: { conditions: [condition] } });
  await kubectl('patch', 'node', name, '--subresource=status', '--type=strategic', '-p', patch);
}

describe('a machine that is off', () => {
  it('is out of service when somebody has said so since it was lost, until it is back', {
    skip: withoutKubectl,
  }, async (t) => {
    const { cluster, kubeconfig } = await startCluster(t, topology);
    process.env.KUBECONFIG = kubeconfig;
    const { api } = cluster;
    api.create('nodetaintrules.taintmgr.dev', rule);
    const controllers = '--controllers=node-lifecycle-controller,taint-eviction-controller';
    const monitor = ['--node-monitor-period=200ms', '--node-monitor-grace-period=6s'];
    const flags = ['--mode=delete', controllers, ...monitor, servesNobody];
    const controller = start(t, 'controller', kubeconfig, ...flags);
    await controller.saw(/became the leader/);
    const pod = (): { readonly node: string; readonly uid: string } => {
      const db = api.get('pods', 'shop', 'db-0');
      return { node: db?.spec.nodeName ?? '', uid: db?.metadata.uid ?? '' };
    };
    const { node: name, uid } = pod();
    const node = () => api.get('nodes', '', name) ?? assert.fail();
    const hasTaint = (): boolean =>
      (node().spec.taints ?? []).some((taint: { readonly key: string }) => taint.key === key);
    const ready = (): string => {
      const conditions: readonly { type: string; status: string }[] = node().status.conditions;
      return conditions.find(({ type }) => type === 'Ready')?.status ?? '';
    };
    await sayOff(name, new Date(Date.now() - 60_000));
    cluster.node(name).stop();
    await kubectl('delete', 'pod', '-n', 'shop', 'db-0', '--wait=false');
    await until('the node to be unreachable', () => ready() === 'Unknown', controller.out);
    await until('its taint', () => /unreachable/.test(JSON.stringify(node().spec.taints)));
    assert.deepEqual([hasTaint(), pod().uid], [false, uid]);
    await sayOff(name, new Date());
    await until('the taint out-of-service', hasTaint, controller.out);
    await until('the pod to be elsewhere', () => ![name, ''].includes(pod().node), controller.out);
    cluster.node(name).resume();
    await until('the node to be back', () => ready() === 'True', controller.out);
    await until('the taint to be gone', () => !hasTaint(), controller.out);
  });
});
