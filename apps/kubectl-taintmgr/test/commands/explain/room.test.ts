import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Json, node, pod } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import {
  comeAs,
  leaveTaints,
  startTestCluster,
  type TestCluster,
} from '../../world/test-cluster.ts';

// The replacements of pods that an assumed taint evicts, and the room on the nodes that are left.

const whatIf = ['--with-taint=bad=x:NoExecute'];
const cpu = (amount: string) => ({ cpu: amount, memory: '1Gi', pods: '10' });

describe('explain node --with-taint', () => {
  let cluster: TestCluster;
  before(async () => {
    const rights = [
      { verbs: ['get'], apiGroups: [''], resources: ['nodes'] },
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
    ];
    cluster = await startTestCluster(null, { stranger: rights });
    const { api } = cluster;
    for (const name of ['shop', 'taintmgr-system'])
      api.create('namespaces', { metadata: { name } });
    leaveTaints(api);
    const add = (name: string, amount: string, taints: Json[] = []): void => {
      const made = api.create('nodes', node(name, {}));
      const status = { ...made.status, allocatable: cpu(amount) };
      const there = api.update('nodes', { ...made, status }, 'status');
      api.update('nodes', { ...there, spec: { taints } });
    };
    for (const name of ['n1', 'n2', 'n3']) add(name, '1');
    add('n4', '8', [{ key: 'gpu', effect: 'NoSchedule' }]);
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  after(() => cluster.stop());

  function add(
    name: string,
    nodeName: string,
    requests: string,
    kind: string | null = 'ReplicaSet',
    more: object = {},
  ): void {
    const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu: requests } } }];
    const made = pod('shop', name, { spec: { nodeName, containers, ...more } });
    const owner = { apiVersion: 'apps/v1', name: 'web', uid: 'u', controller: true };
    const ownerReferences = kind === null ? [] : [{ ...owner, kind }];
    cluster.api.create('pods', { ...made, metadata: { ...made.metadata, ownerReferences } });
  }

  const told = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { err } = await run('explain', 'node', 'n1', ...args);
    return err.split('\n').filter((line) => /replacement|volumes/.test(line));
  };

  it('says nothing where nobody is replaced, and asks nothing more where nothing is assumed', async () => {
    add('bare', 'n1', '100m', null);
    add('agent', 'n1', '100m', 'DaemonSet');
    assert.deepEqual(await told(...whatIf), []);
    const before = cluster.answers.length;
    await run('explain', 'node', 'n1');
    const asked = cluster.answers.slice(before);
    assert.deepEqual(
      asked.filter((line) => line === 'GET /api/v1/pods 200'),
      [],
    );
  });

  it('says that each fits', async () => {
    add('web-1', 'n1', '600m');
    assert.deepEqual(await told(...whatIf), [
      'Note: the replacement finds room by the filters of kube-scheduler 1.36, as the other nodes are now',
    ]);
  });

  it('lets each replacement take its room, and says why others have none', async () => {
    for (const name of ['web-2', 'web-3']) add(name, 'n1', '600m');
    add('web-0', 'n1', '600m', 'StatefulSet', {
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-0' } }],
    });
    assert.deepEqual(await told(...whatIf), [
      'Warning: 2 of 4 replacements find no room (shop/web-2, shop/web-3): 0/4 nodes are available: 2 Insufficient cpu, 2 node(s) had untolerated taint(s).',
      'Note: volumes of shop/web-0 were not looked at: the replacements may need a certain node',
    ]);
    const { out } = await run('explain', 'node', 'n1', ...whatIf, '-o', 'json');
    const { replacements } = JSON.parse(out);
    assert.deepEqual([replacements.pods, replacements.withoutRoom], [4, 2]);
  });

  it('does not know it where not everything may be read', async () => {
    comeAs(cluster, 'stranger');
    const { code, err } = await run('explain', 'pod', 'web-1', '-n', 'shop', ...whatIf);
    assert.equal(code, 0, err);
    assert.match(
      err,
      /^Note: whether the replacements find room is unknown: no permission to list nodes$/m,
    );
  });
});
