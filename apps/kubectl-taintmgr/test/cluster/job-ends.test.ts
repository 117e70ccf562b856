import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { jobEnd } from '@taintmgr/k8s-adapter/survey';
import { job } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { startTestCluster, type TestCluster, until } from '../world/test-cluster.ts';

const on = (action: string, status?: string): object => ({
  podFailurePolicy: {
    rules: [
      { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
      { action, onPodConditions: [{ type: 'DisruptionTarget', ...(status && { status }) }] },
    ],
  },
});
const ignoresNone = 'no podFailurePolicy ignores DisruptionTarget';

const jobs: readonly (readonly [
  spec: object,
  failed: number,
  evicted: number,
  end: string | null,
])[] = [
  [{ backoffLimit: 0 }, 0, 1, `backoffLimit 0 and ${ignoresNone}`],
  [{ backoffLimit: 0, ...on('Ignore') }, 0, 1, null],
  [{ backoffLimit: 0, ...on('Ignore', 'True') }, 0, 1, null],
  [{ backoffLimit: 0, ...on('Ignore', 'False') }, 0, 1, `backoffLimit 0 and ${ignoresNone}`],
  [
    { backoffLimit: 0, ...on('Count') },
    0,
    1,
    'backoffLimit 0 and its podFailurePolicy counts DisruptionTarget',
  ],
  [on('FailJob'), 0, 1, 'its podFailurePolicy has FailJob for DisruptionTarget'],
  [
    { backoffLimitPerIndex: 3, ...on('FailIndex') },
    0,
    1,
    'its podFailurePolicy has FailIndex for DisruptionTarget',
  ],
  [{ backoffLimitPerIndex: 0 }, 0, 1, `backoffLimitPerIndex 0 and ${ignoresNone}`],
  [{ backoffLimitPerIndex: 1 }, 0, 1, null],
  [{}, 0, 6, null],
  [{}, 5, 1, null],
  [{}, 6, 1, `backoffLimit 6, 6 failed before and ${ignoresNone}`],
  [{}, 5, 2, `backoffLimit 6, 5 failed before, 2 pods evicted and ${ignoresNone}`],
];

describe('a Job whose pods are evicted', () => {
  for (const [spec, failed, evicted, end] of jobs) {
    it(`${JSON.stringify(spec)}, ${failed} failed, ${evicted} evicted: ${end ?? 'goes on'}`, () => {
      assert.equal(jobEnd({ spec, status: { failed } }, evicted), end);
    });
  }
});

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

  const line = `Job shop/once fails: backoffLimit 0 and ${ignoresNone}`;

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
