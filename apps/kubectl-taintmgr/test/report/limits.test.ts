import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { namespace, node, pod, type Rule } from '@taintmgr/sim-cluster';
import { run } from '../world/run.ts';
import { startTestCluster, type TestCluster } from '../world/test-cluster.ts';

// What explain and pending say of limits of the controller that hold pods back.

const resources = ['nodes', 'pods', 'poddisruptionbudgets'];
const noLeases: Rule[] = [{ apiGroups: ['*'], resources, verbs: ['get', 'list'] }];

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster(null, { 'no-leases': noLeases });
  process.env.KUBECONFIG = cluster.kubeconfig;
  const { api } = cluster;
  for (const name of ['shop', 'taintmgr-system']) api.create('namespaces', namespace(name));
  const labels = { 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'eu' };
  const taints = [{ key: 'bad', effect: 'NoExecute' }];
  const tainted = node('n1', { spec: { taints } });
  api.create('nodes', { ...tainted, metadata: { ...tainted.metadata, labels } });
  api.create('nodes', node('n2'));
  api.create('pods', pod('shop', 'web', { spec: { nodeName: 'n1' } }));
  api.create('pods', pod('shop', 'stays', { spec: { nodeName: 'n2' } }));
  const now = Math.floor(Date.now() / 1000);
  const count = { evicted: 12, unavailable: 0, most: 12, of: 60, windowMs: 600_000 };
  const since = new Date((now - 180) * 1000).toISOString();
  const record = {
    'zone=eu/a@600s': { evicted: [], of: 60, tripped: { since, limit: 'percent', count } },
    'total@600s': {
      evicted: [
        [now - 700, 5],
        [now - 300, 2],
        [now - 10, 3],
      ],
      of: 60,
    },
    'namespace=other@600s': { evicted: [[now, 7]], of: 9 },
    'node=n1@600s': { evicted: [[now - 601, 7]], of: 9 },
  };
  const annotations = { 'taintmgr.dev/limits': JSON.stringify(record) };
  api.create('leases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'taintmgr-controller-limits', namespace: 'taintmgr-system', annotations },
    spec: {},
  });
});
after(() => cluster.stop());

const tripped =
  /^Note: limit zone=eu\/a of taintmgr-controller tripped 3m\d*s? ago: 12 of 60 pods evicted within 10m, at most 12; pods under it wait until you run: kubectl taintmgr resume 'zone=eu\/a'$/m;
const counting =
  /^Note: limit total of taintmgr-controller counts 5 of 60 pods evicted within 10m; where that is all it allows, there is room again in (5m|4m\d+s)$/m;

for (const command of ['explain node n1', 'explain pod web -n shop', 'pending -A']) {
  it(`${command} says which limits hold its pods back`, async () => {
    const { err } = await run(...command.split(' '));
    assert.match(err, tripped);
    assert.match(err, counting);
    assert.doesNotMatch(err, /limit (namespace|node)=/, 'nothing of other pods, or of long ago');
    const { out } = await run(...command.split(' '), '-o', 'json');
    const { limits } = JSON.parse(out);
    const shown = limits.map(({ id, evicted, of, tripped: shut }: Record<string, unknown>) => {
      return [id, evicted, of, shut];
    });
    assert.deepEqual(shown, [
      ['zone=eu/a', 12, 60, true],
      ['total', 5, 60, false],
    ]);
  });
}

it('where no pod goes, nothing is said', async () => {
  const { out, err } = await run('explain', 'node', 'n2', '-o', 'json');
  assert.doesNotMatch(err, /limit/);
  assert.ok(!('limits' in JSON.parse(out)));
});

it('nor where the lease may not be read', async () => {
  const { code, err } = await run('explain', 'node', 'n1', '--token', 'no-leases');
  assert.equal(code, 0, err);
  assert.doesNotMatch(err, /limit/);
});
