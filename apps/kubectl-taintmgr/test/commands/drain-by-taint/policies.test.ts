import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { installDefinitions } from '@taintmgr/api-server';
import { customResourceDefinitions } from '@taintmgr/k8s-adapter/kinds';
import { type KubeObject, node, pod, type Rule } from '@taintmgr/sim-cluster';
import { run, start } from '../../world/run.ts';
import { startTestCluster, type TestCluster, until } from '../../world/test-cluster.ts';

// What a drain does where policies keep pods and pauses hold them, in the cluster and from files.

const apiVersion = 'taintmgr.dev/v1alpha1';
const keep = {
  ...{ apiVersion, kind: 'EvictionPolicy', metadata: { name: 'databases' } },
  spec: { priority: 5, action: 'Keep', match: { podSelector: { matchLabels: { app: 'db' } } } },
};
const gentle = {
  ...{ apiVersion, kind: 'EvictionPolicy', metadata: { name: 'gentle' } },
  spec: { action: 'Evict', minTaintAge: '1h', defaultTolerationSeconds: 600 },
};
const pause = {
  ...{ apiVersion, kind: 'EvictionPause', metadata: { name: 'network-work' } },
  spec: { scope: { namespaces: ['default'] }, reason: 'cables' },
};
type Manifest = Omit<typeof keep, 'spec'> & { readonly spec: object };
const plural = { EvictionPolicy: 'evictionpolicies', EvictionPause: 'evictionpauses' } as const;

function create({ api }: TestCluster, { kind, ...rest }: Manifest): void {
  const of = kind === 'EvictionPause' ? plural.EvictionPause : plural.EvictionPolicy;
  api.create(`${of}.taintmgr.dev`, { kind, ...rest } as KubeObject);
}

const drain = ['drain-by-taint', 'm=x:NoSchedule', 'n1', '--force'] as const;

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
/** Everything but what policies and pauses say. */
const withoutPolicies: Rule = {
  ...everything,
  apiGroups: ['', 'policy', 'apps', 'coordination.k8s.io'],
};

describe('a drain where there are policies', () => {
  let cluster: TestCluster;
  const rights: Rule[] = [everything];
  before(async () => {
    cluster = await startTestCluster(null, { drainer: rights });
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    api.create('nodes', node('n1'));
    for (const name of ['db', 'web']) {
      const spec = { nodeName: 'n1', terminationGracePeriodSeconds: 0 };
      const one = pod('default', name, { spec });
      api.create('pods', { ...one, metadata: { ...one.metadata, labels: { app: name } } });
    }
  });
  after(() => cluster.stop());

  it('has the same plan with those of files and of the cluster, and names the policy', async () => {
    const files = join(cluster.directory, 'policies.json');
    writeFileSync(files, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [keep, gentle] }));
    const without = await run(...drain, '--dry-run=client');
    assert.match(without.out, /^n1 +default +db +evict /m);
    const byFiles = await run(...drain, '--dry-run=client', `--policy=${files}`);
    await installDefinitions(cluster.api, customResourceDefinitions());
    for (const one of [keep, gentle]) create(cluster, one);
    const byCluster = await run(...drain, '--dry-run=client');
    assert.deepEqual(byCluster, byFiles);
    assert.match(byCluster.out, /^n1 +default +web +evict +\+0s /m);
    assert.match(byCluster.out, /^1 pod stays: 1 kept by policy databases$/m);
    const ignored = await run(...drain, '--dry-run=client', '--ignore-policies');
    assert.deepEqual(ignored, without);
  });

  it('waits where a pause holds, says so, and goes on when that ends', async () => {
    create(cluster, pause);
    const { out } = await run(...drain, '--dry-run=client');
    assert.match(out, /^n1 +default +web +hold +- .*deadlines are paused by network-work/m);
    const { output, result } = start([...drain], true);
    await output.saw(
      / 0 of 1 pod gone\n {2}1 held by pause network-work\n {2}end unknown: pause network-work holds pods$/,
    );
    assert.ok(cluster.api.get('pods', 'default', 'web'));
    cluster.api.delete('evictionpauses.taintmgr.dev', '', 'network-work');
    await until('the pod to be evicted', () => {
      const web = cluster.api.get('pods', 'default', 'web');
      return !web || web.metadata.deletionTimestamp !== undefined;
    });
    const { code, err } = await result;
    assert.equal(code, 0, err);
    assert.ok(cluster.api.get('pods', 'default', 'db'), 'the policy keeps it');
  });

  it('does not begin where they cannot be read, unless it is told to ignore them', async () => {
    rights.splice(0, 1, withoutPolicies);
    const { code, err } = await run(...drain, '--token=drainer');
    assert.equal(code, 1);
    assert.match(
      err,
      /^error: no permission to list evictionpolicies and evictionpauses of taintmgr\.dev, which may keep pods; --ignore-policies drains without them; nothing was changed$/m,
    );
    const ignored = await run(...drain, '--token=drainer', '--dry-run=client', '--ignore-policies');
    assert.equal(ignored.code, 0, ignored.err);
    rights.splice(0, 1, everything);
  });

  it('goes by what it knew while it may not read them any more', async () => {
    const { api, answers } = cluster;
    const web = pod('default', 'web', {
      spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0 },
    });
    await until('the first one to be gone', () => !api.get('pods', 'default', 'web'));
    api.create('pods', web);
    create(cluster, pause);
    const { output, result } = start([...drain, '--token=drainer'], true);
    await output.saw(
      / 0 of 1 pod gone\n {2}1 held by pause network-work\n {2}end unknown: pause network-work holds pods$/,
    );
    rights.splice(0, 1, withoutPolicies);
    await output.saw(
      /^Warning: cannot read policies and pauses any more, those that were known count: /m,
    );
    const isAsked = (from: number): boolean =>
      answers.slice(from).some((line) => /evictionpauses.* 403$/.test(line));
    const from = answers.length;
    await until('it to ask again', () => isAsked(from));
    for (const name of ['db', 'web']) assert.ok(api.get('pods', 'default', name), name);
    rights.splice(0, 1, everything);
    api.delete('evictionpauses.taintmgr.dev', '', 'network-work');
    const { code, err } = await result;
    assert.equal(code, 0, err);
    assert.ok(api.get('pods', 'default', 'db'), 'the policy keeps it');
    assert.equal(api.get('pods', 'default', 'web'), null);
  });

  it('asks for nothing of a kind whose definition is gone, as every command', async () => {
    cluster.api.delete('customresourcedefinitions', '', 'evictionpolicies.taintmgr.dev');
    const { code, out, err } = await run(...drain, '--dry-run=client');
    assert.equal(code, 0, err);
    assert.match(out, /^n1 +default +db +evict /m);
    assert.equal((await run('explain', 'node', 'n1')).code, 0);
  });
});
