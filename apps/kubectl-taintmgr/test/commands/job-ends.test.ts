import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { job } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { startTestCluster, type TestCluster, until } from '../world/test-cluster.ts';

describe('a drain that ends a Job', () => {
  let cluster: TestCluster;
  before(async () => {
    const once = job('shop', 'once', 3600, { spec: { backoffLimit: 0 } });
    const many = job('shop', 'many', 3600);
    const topology = { region: 'r', zones: ['a'], nodesPerZone: 1 };
    cluster = await startTestCluster({ ...topology, workloads: [once, many], budgets: [] });
    process.env.KUBECONFIG = cluster.kubeconfig;
    await until(
      'pods on nodes',
      () =>
        cluster.api.list('pods').length === 2 &&
        cluster.api.list('pods').every(({ spec }) => spec.nodeName),
    );
  });
  after(() => cluster.stop());

  const line =
    'Job shop/once fails: backoffLimit 0 and no podFailurePolicy ignores DisruptionTarget';

  it('is foretold by its plan', async () => {
    const { err } = await run('drain-by-taint', 'm=k:NoExecute', 'a-1', '--dry-run=client');
    assert.equal(err.match(/Job .*/g)?.join(), line);
  });

  it('is foretold by explain pod', async () => {
    const names = cluster.api.list('pods').map(({ metadata }) => metadata.name);
    const told = await Promise.all(
      names.map((name) => run('explain', 'pod', name, '-n', 'shop', '--with-taint=m=k:NoExecute')),
    );
    const lines = told.flatMap(({ out }) => out.match(/^Then: +(.*)/m)?.slice(1) ?? []);
    assert.deepEqual(lines, [line]);
  });
});
