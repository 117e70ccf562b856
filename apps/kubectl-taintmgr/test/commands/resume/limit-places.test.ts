// Limits are kept beside the lease of the election, and its name and namespace are what the
// installation says. Its leader publishes both.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { formatTimeMillis } from '@taintmgr/core/time';
import { type KubeObject, namespace, type Rule } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

const usual = { ns: 'taintmgr-system', name: 'taintmgr-controller-limits' };
const own = { ns: 'ops', name: 'evictor-limits' };

/** What the Role taintmgr-resumer of deploy/ gives, and nothing else. */
const resumer: Rule = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  resourceNames: [usual.name],
  namespace: usual.ns,
  verbs: ['get', 'patch'],
};

let cluster: TestCluster;
before(async () => {
  const managers = { apiGroups: ['taintmgr.dev'], resources: ['taintmanagers'] };
  const looker = [resumer, { ...managers, verbs: ['get', 'list'] }];
  cluster = await startWithDefinitions({ resumer: [resumer], nobody: [], looker });
  process.env.KUBECONFIG = cluster.kubeconfig;
  for (const { ns } of [usual, own]) cluster.api.create('namespaces', namespace(ns));
});
after(() => cluster.stop());

/** A lease that says that the limit has tripped. */
function keep({ ns, name }: typeof own, limit: string): void {
  const count = { evicted: 20, unavailable: 0, most: 20, of: 100, windowMs: 600_000 };
  const tripped = { since: '2026-01-01T00:00:00Z', limit: 'percent', count };
  const record = { [`${limit}@600s`]: { evicted: [], of: 100, tripped } };
  const annotations = { 'taintmgr.dev/limits': JSON.stringify(record) };
  cluster.api.create('leases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: ns, annotations },
    spec: {},
  });
}

/** What the leader of `own` says: where its lease is, and what has tripped. */
function publish(...tripped: readonly string[]): void {
  const resource = 'taintmanagers.taintmgr.dev';
  const settings = {
    'leader-elect-resource-namespace': 'ops',
    'leader-elect-resource-name': 'evictor',
  };
  const status = {
    leader: 'cp-1_7',
    renewTime: formatTimeMillis(Date.now()).replace('Z', '000Z'),
    settings,
    controllers: ['taint-eviction-controller'],
    trippedLimits: tripped.map((name) => ({ name })),
  };
  const object: KubeObject = {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'TaintManager',
    metadata: { name: 'evictor' },
  };
  const known = cluster.api.get(resource, '', 'evictor') ?? cluster.api.create(resource, object);
  cluster.api.update(resource, { ...known, status } as KubeObject, 'status');
}

function isAsked({ ns, name }: typeof own): boolean {
  const { annotations = {} } = cluster.api.get('leases', ns, name)?.metadata ?? {};
  return 'taintmgr.dev/resume-limits' in annotations;
}

it('who may read one of the usual places is told what is there, whatever of the other', async () => {
  const nothing = await run('resume', '--token', 'resumer');
  assert.deepEqual([nothing.code, nothing.out], [0, 'No limit has tripped.\n'], nothing.err);
  const refused = await run('resume', '--token', 'nobody');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /this needs the rights get and patch on it, and --lease where/);
});

it('no record is no answer where a leader publishes that a limit has tripped', async () => {
  publish('zone=eu/a');
  const { code, out, err } = await run('resume');
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /limit 'zone=eu\/a' has tripped, as TaintManager evictor says.*--lease/);
  publish();
  assert.equal((await run('resume')).out, 'No limit has tripped.\n');
});

it('limits are found where the leader says that it keeps them, before those of yesterday', async () => {
  keep(usual, 'zone=eu/b');
  keep(own, 'zone=eu/a');
  publish('zone=eu/a');
  const { out } = await run('status');
  assert.match(out, /TRIPPED LIMIT .*\nzone=eu\/a /);
  const resumed = await run('resume');
  assert.match(resumed.out, /^limit zone=eu\/a will be resumed/, resumed.err);
  assert.deepEqual([isAsked(own), isAsked(usual)], [true, false]);
});

it('who may not read them there opens none of yesterday instead', async () => {
  publish('zone=eu/a');
  const { code, err } = await run('resume', '--token', 'looker');
  assert.equal(code, 1);
  assert.match(err, /this needs the rights get and patch on it/);
  assert.equal(isAsked(usual), false);
});
