import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { run } from '../world/run.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';

// Limits of the controller that have tripped: seen in status, opened by a request that only those
// may make who may patch the lease.

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster(null, { nobody: [] });
  process.env.KUBECONFIG = cluster.kubeconfig;
});
after(() => cluster.stop());

const name = 'taintmgr-controller-limits';
const count = { evicted: 20, unavailable: 0, most: 20, of: 100, windowMs: 600_000 };
const tripped = { since: '2026-01-01T00:00:00Z', limit: 'percent', count };
const record = { 'zone=eu/a@600s': { evicted: [], of: 100, tripped } };

it('resumes what has tripped, and nothing else', async () => {
  const nothing = await run('resume');
  assert.deepEqual([nothing.code, nothing.out], [0, 'No limit has tripped.\n']);
  const named = await run('resume', 'zone=eu/a');
  assert.deepEqual([named.code, named.out], [1, '']);
  assert.equal(named.err, "error: limit 'zone=eu/a' has not tripped; nor has any other\n");
  cluster.api.create('leases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: 'kube-system',
      annotations: { 'taintmgr.dev/limits': JSON.stringify(record) },
    },
    spec: {},
  });
  const status = await run('status');
  assert.match(status.out, /TRIPPED LIMIT +SINCE +EVICTED +OF\nzone=eu\/a .* 20 +100\n/);
  const wrong = await run('resume', 'zone=eu/b');
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /limit 'zone=eu\/b' has not tripped; those that have: 'zone=eu\/a'/);
  const refused = await run('resume', '--token', 'nobody');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /this needs the rights get and patch/);
  const resumed = await run('resume');
  assert.equal(
    resumed.out,
    'limit zone=eu/a will be resumed: the controller looks for requests every 5 s\n',
  );
  const lease = cluster.api.get('leases', 'kube-system', name);
  const request = JSON.parse(lease?.metadata.annotations?.['taintmgr.dev/resume-limits'] ?? 'null');
  assert.deepEqual(request.limits, ['zone=eu/a']);
});

it('asks by the name that the controller knows, of nodes without a zone too', async () => {
  const lease = cluster.api.get('leases', 'kube-system', name);
  assert.ok(lease);
  const kept = { 'zone=@600s': { evicted: [], of: 100, tripped } };
  const annotations = { 'taintmgr.dev/limits': JSON.stringify(kept) };
  cluster.api.update('leases', { ...lease, metadata: { ...lease.metadata, annotations } });
  assert.match((await run('resume')).out, /^limit zone will be resumed: /);
});
