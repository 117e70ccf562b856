// The answers about workloads, and about several nodes and pods at a time: whole texts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Rule } from '@taintmgr/sim-cluster';
import { fillOwned } from '../../world/owned-cluster.ts';
import { run } from '../../world/run.ts';
import { keepRenewing } from '../../world/shop-cluster.ts';
import {
  comeAs,
  showManager,
  startTestCluster,
  type TestCluster,
} from '../../world/test-cluster.ts';
import { playTranscript } from '../../world/transcript.ts';

const folder = new URL('../../testdata/commands/explain/workload/', import.meta.url);

/** As the ClusterRole view has it, in one namespace. */
const view: Rule = {
  verbs: ['get', 'list'],
  apiGroups: ['', 'apps', 'batch', 'policy'],
  resources: [
    ...['pods', 'deployments', 'statefulsets', 'daemonsets', 'replicasets', 'jobs'],
    'poddisruptionbudgets',
  ],
  namespace: 'shop',
};
const seesNodes: Rule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes'] };
const seesLeases: Rule = {
  verbs: ['get', 'list'],
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
};

let cluster: TestCluster;
let endRenewing = (): void => {};
before(async () => {
  cluster = await startTestCluster(null, {
    view: [view],
    asker: [
      view,
      seesNodes,
      seesLeases,
      { ...seesNodes, resources: ['pods'], namespace: 'kube-system' },
    ],
  });
  fillOwned(cluster);
  endRenewing = keepRenewing(cluster);
});
after(() => {
  endRenewing();
  return cluster.stop();
});

const play = (name: string, user: string): Promise<void> => {
  comeAs(cluster, user);
  return playTranscript(new URL(name, folder), (line) => {
    const words = line.replace('kubectl taintmgr ', '').split(' ');
    return run(...words.map((word) => word.replace("''", '')));
  });
};

describe('explain of workloads', () => {
  it('tells an administrator', () => play('workload.txt', 'admin'));

  it('tells of several nodes and pods at once', () => play('several.txt', 'admin'));

  it('completes kinds and names', () => play('completion.txt', 'admin'));

  it('tells who has no rights to nodes that it is unknown, and for want of which right', () =>
    play('view.txt', 'view'));

  it('tells who may read nodes and leases besides the same of his pods as an administrator', async () => {
    for (const subject of ['deploy web', 'sts db', 'ds agent', 'job batch', 'pdb strict']) {
      const words = ['explain', ...subject.split(' '), '-n', 'shop', '-o', 'json'];
      comeAs(cluster, 'admin');
      const one = await run(...words);
      comeAs(cluster, 'asker');
      const other = await run(...words);
      assert.deepEqual(steady(other.out), steady(one.out), subject);
    }
  });

  it('tells what budgets are worth where kube-controller-manager evicts', async () => {
    const { api } = cluster;
    api.delete('leases', 'taintmgr-system', 'taintmgr-controller');
    showManager(api, ['--controllers=*']);
    await play('kube-controller-manager.txt', 'admin');
  });

  it('asks for each node once, however many pods it has', async () => {
    comeAs(cluster, 'admin');
    const from = cluster.answers.length;
    await run('explain', 'deploy', 'web', '-n', 'shop');
    const nodes = cluster.answers.slice(from).filter((one) => /\/nodes\/n\d /.test(one));
    assert.deepEqual(nodes.sort(), ['GET /api/v1/nodes/n1 200', 'GET /api/v1/nodes/n2 200']);
  });
});

/** Without what time makes of it. */
function steady(document: string): unknown {
  return JSON.parse(
    JSON.stringify(JSON.parse(document), (key, value: unknown) =>
      /Seconds$|At$|^deadline$/.test(key) ? undefined : value,
    ),
  );
}
