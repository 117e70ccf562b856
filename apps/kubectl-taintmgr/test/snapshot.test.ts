import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Cluster, daemonSet, pdb, pod, RealClock } from '@taintmgr/sim-cluster';
import { keep } from '../src/commands/snapshot/redaction.ts';
import { run } from './run.ts';
import { app, inZone } from './scenario.ts';
import { startTestCluster, type TestCluster } from './test-cluster.ts';

// A snapshot holds what decides about evictions, and nothing that is nobody's business.

describe('keep', () => {
  const cases: readonly (readonly [string, Parameters<typeof keep>[0], unknown, unknown])[] = [
    ['all of it', 'all', { a: [1] }, { a: [1] }],
    ['what is named', { a: 'all' }, { a: 1, b: 2 }, { a: 1 }],
    ['of each item', [{ a: 'all' }], [{ a: 1, b: 2 }, { b: 3 }], [{ a: 1 }, {}]],
    ['what a function makes of it', { a: () => 'x' }, { a: 'secret' }, { a: 'x' }],
    ['nothing of what is not there', { a: 'all', b: [{}] }, { b: null }, {}],
    ['nothing of another form', { a: { b: 'all' } }, { a: 'secret' }, {}],
    ['nothing of a list that should be an object', { a: { b: 'all' } }, { a: [{ b: 1 }] }, {}],
  ];
  for (const [name, shape, value, expected] of cases) {
    it(name, () => assert.deepEqual(keep(shape, value), expected));
  }
});

describe('snapshot', () => {
  let cluster: TestCluster;
  before(async () => {
    const secret = {
      image: 'registry.example/secret-image:1',
      command: ['sh', '-c', 'secret-command'],
      args: ['secret-argument'],
      env: [{ name: 'PASSWORD', value: 'secret-value' }],
      volumeMounts: [{ name: 'scratch', mountPath: '/secret-path' }],
    };
    const tolerations = [{ operator: 'Exists' }];
    cluster = await startTestCluster({
      region: 'r',
      zones: ['a'],
      nodesPerZone: 2,
      workloads: [
        app('a', 'web', { replicas: 2, podSpec: { containers: [{ name: 'web', ...secret }] } }),
        daemonSet('a', 'agent', { tolerations }),
        pod('a', 'bare', {
          spec: {
            ...inZone('a').podSpec,
            volumes: [
              { name: 'scratch', emptyDir: { sizeLimit: '1Gi' } },
              { name: 'key', secret: { secretName: 'secret-name' } },
            ],
          },
        }),
      ],
      budgets: [pdb('a', 'web', { minAvailable: 1 })],
    });
    process.env.KUBECONFIG = cluster.kubeconfig;
    await run('drain-by-taint', 'maintenance=kernel:NoExecute', 'a-1', '--dry-run=client');
    const node = cluster.api.get('nodes', '', 'a-1');
    assert.ok(node);
    const taints = [{ key: 'slow', effect: 'NoExecute', timeAdded: '2030-01-02T03:04:05Z' }];
    const metadata = { ...node.metadata, annotations: { 'example.com/note': 'secret-note' } };
    cluster.api.update('nodes', { ...node, metadata, spec: { ...node.spec, taints } });
  });
  after(() => cluster.stop());

  for (const format of ['json', 'yaml']) {
    it(`-o ${format} names no secret`, async () => {
      const { code, out, err } = await run('snapshot', '-o', format);
      assert.equal(code, 0);
      assert.match(err, /^\d+ objects written\n$/);
      assert.doesNotMatch(out, /secret-|PASSWORD|10\.128\.|managedFields|registry/);
      assert.match(out, /emptyDir/);
    });
  }

  it('is a cluster of which the same is explained', async () => {
    const names = ['a-1', 'a-2'];
    const explain = async (): Promise<readonly string[]> => {
      const path =
        'jsonpath={.zone}{.taints}{.pods[*].name}{.pods[*].decision}{.pods[*].owner}{.summary.evict}';
      const texts: string[] = [];
      for (const name of names) texts.push((await run('explain', 'node', name, '-o', path)).out);
      return texts;
    };
    const before = await explain();
    const { out } = await run('snapshot');
    const copy = new Cluster({
      clock: new RealClock(),
      seed: 2,
      snapshot: [JSON.parse(out)],
      apiServer: {
        tokens: new Map([['admin', { name: 'admin', groups: ['system:masters'], rules: [] }]]),
      },
    });
    assert.deepEqual(copy.loadReport.unloaded, []);
    assert.deepEqual(copy.loadReport.createdNamespaces, []);
    const { createCertificate, startHttps, writeKubeconfig } = await import(
      '@taintmgr/sim-cluster'
    );
    const certificate = createCertificate(Date.now());
    const server = await startHttps({ exchange: copy.exchange, certificate });
    const kubeconfig = `${cluster.directory}/copy`;
    writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'admin' });
    process.env.KUBECONFIG = kubeconfig;
    try {
      assert.deepEqual(await explain(), before);
      const dry = ['drain-by-taint', 'slow:NoExecute', 'a-1', '--dry-run=client', '-o', 'name'];
      assert.match((await run(...dry)).err, /needs --ignore-daemonsets|needs --force|/);
    } finally {
      process.env.KUBECONFIG = cluster.kubeconfig;
      await server.close();
    }
  });
});
