import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pod } from '@taintmgr/sim-cluster';
import { version } from '../../../src/cli/version.ts';
import { run } from '../../world/run.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

// What `doctor` says of policies whose actions the account of taintmgr-controller may not carry out.

const namespace = 'taintmgr-system';
const name = 'taintmgr-controller';
const deletes = { resources: ['pods'], verbs: ['delete'] };
const evicts = { resources: ['pods/eviction'], verbs: ['create'] };
const addsDeletions =
  '(add components/deletions to its kustomization, or set policies.deletions of its chart)';
const addsEvictions =
  '(add components/evictions to its kustomization, or set policies.evictions of its chart)';

function fault(policy: string, action: string, right: string, fix: string): string {
  const message = `action ${action} needs a permission that serviceaccount ${name} -n ${namespace} does not have`;
  return `FAIL evictionpolicy/${policy}: ${message}: ${right}; its pods stay ${fix}`;
}

describe('doctor where policies say how pods leave', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startWithDefinitions({
      reader: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }],
      stranger: [
        { apiGroups: ['authorization.k8s.io'], resources: ['*'], verbs: ['create'] },
        { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['*'] },
      ],
    });
    process.env.KUBECONFIG = cluster.kubeconfig;
    const { api } = cluster;
    api.create('namespaces', { metadata: { name: namespace } });
    const now = new Date().toISOString().replace('Z', '000Z');
    const holder = `${name}-0_1`;
    const spec = { holderIdentity: holder, leaseDurationSeconds: 3600, renewTime: now };
    api.create('leases', { metadata: { name, namespace }, spec });
    const kind = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' };
    const manager = api.create('taintmanagers.taintmgr.dev', {
      ...kind,
      metadata: { name: 'taintmgr' },
    });
    const renewTime = new Date(Date.now() + 3_600_000).toISOString().replace('Z', '000Z');
    const status = { leader: holder, renewTime };
    api.update('taintmanagers.taintmgr.dev', { ...manager, status }, 'status');
    const refs = { apiGroup: 'rbac.authorization.k8s.io' };
    api.create('clusterrolebindings', {
      metadata: { name },
      roleRef: { ...refs, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
    api.create('clusterroles', { metadata: { name }, rules: [] });
  });
  after(() => cluster.stop());

  /** As a mode and its components have it. */
  function allow(...rules: readonly object[]): void {
    const { api } = cluster;
    const role = api.get('clusterroles', '', name) ?? assert.fail();
    api.update('clusterroles', {
      ...role,
      rules: rules.map((rule) => ({ apiGroups: [''], ...rule })),
    });
  }

  function declare(policy: string, spec: object): void {
    const kind = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPolicy' };
    cluster.api.create('evictionpolicies.taintmgr.dev', {
      ...kind,
      metadata: { name: policy },
      spec,
    });
  }

  async function findings(...flags: readonly string[]): Promise<readonly string[]> {
    const path =
      'jsonpath={range .findings[?(@.check=="policies")]}{.level} {.about}: {.message} ({.fix}){"\\n"}{end}';
    return (await run('doctor', '-o', path, ...flags)).out.trimEnd().split('\n');
  }

  it('says nothing where the pod of the leader is not to be seen, nor whose rights count', async () => {
    declare('spot', { action: 'EvictThenDelete', deleteAfter: '90s' });
    assert.deepEqual(await findings(), ['']);
  });

  it('says nothing where no policy makes pods leave', async () => {
    const spec = { nodeName: 'cp', serviceAccountName: name };
    cluster.api.create('pods', pod(namespace, `${name}-0`, { spec }));
    cluster.api.delete('evictionpolicies.taintmgr.dev', '', 'spot');
    declare('databases', { action: 'Keep' });
    declare('zones', { limits: [{ per: 'Zone', pods: 1, window: '1h' }] });
    assert.deepEqual(await findings(), ['']);
  });

  it('names each policy whose pods would stay, and what is to be installed', async () => {
    declare('gentle', { action: 'Evict' });
    declare('spot', { action: 'EvictThenDelete', deleteAfter: '90s' });
    declare('unreachable', { action: 'KubeControllerManager' });
    const cases: readonly (readonly [rules: readonly object[], found: readonly string[]])[] = [
      [
        [evicts],
        [
          fault('spot', 'EvictThenDelete', 'delete pods', addsDeletions),
          fault('unreachable', 'KubeControllerManager', 'delete pods', addsDeletions),
        ],
      ],
      [
        [deletes],
        [
          fault('gentle', 'Evict', 'create pods/eviction', addsEvictions),
          fault('spot', 'EvictThenDelete', 'create pods/eviction', addsEvictions),
        ],
      ],
      [
        [deletes, evicts],
        ['OK : taintmgr-controller has the permissions that the actions of policies need ()'],
      ],
    ];
    for (const [rules, found] of cases) {
      allow(...rules);
      assert.deepEqual(await findings(), found);
    }
  });

  it('names objects that a newer version has written', async () => {
    const { api } = cluster;
    const name = 'evictionpolicies.taintmgr.dev';
    const older = api.get('customresourcedefinitions', '', name) ?? assert.fail();
    const newer = structuredClone(older);
    newer.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.newer = {
      type: 'boolean',
    };
    api.update('customresourcedefinitions', newer);
    declare('next', { action: 'Keep', newer: true });
    const found = async (): Promise<string> =>
      (await findings()).find((line) => line.includes('/next')) ?? '';
    const cannot = `WARN evictionpolicy/next: version ${version} cannot follow it`;
    const remove = 'remove it, or run the newer version of taintmgr-controller that knows it';
    assert.equal(await found(), `${cannot}: unknown field "spec.newer" (${remove})`);
    const now = api.get('customresourcedefinitions', '', name) ?? assert.fail();
    api.update('customresourcedefinitions', { ...now, spec: older.spec });
    const hidden = 'field "spec.newer" is hidden by an older definition of the kind';
    const apply =
      'apply the newer CustomResourceDefinitions again, or the object itself, and remove the field before you go back';
    assert.equal(await found(), `${cannot}: ${hidden} (${apply})`);
    api.delete(name, '', 'next');
  });

  it('names a policy whose action has an earlier name', async () => {
    declare('old', { action: 'Upstream' });
    assert.deepEqual(await findings(), [
      'WARN evictionpolicy/old: Upstream is an earlier name (spec.action: write KubeControllerManager instead of Upstream)',
    ]);
    cluster.api.delete('evictionpolicies.taintmgr.dev', '', 'old');
  });

  it('says so where we may not ask', async () => {
    assert.deepEqual(await findings('--token=reader'), [
      'INFO : no permission to check the permissions of taintmgr-controller ()',
    ]);
  });

  it('names the rights to see policies that commands need', async () => {
    const path = 'jsonpath={range .findings[?(@.check=="rights")]}{.message}{"\\n"}{end}';
    const { out } = await run('doctor', '-o', path, '--token=stranger');
    const found = out.split('\n').filter((line) => line.includes('taintmgr.dev'));
    assert.deepEqual(found, [
      'no permission to list evictionpolicies.taintmgr.dev, needed for explain, pending, and drain-by-taint',
      'no permission to list evictionpauses.taintmgr.dev, needed for explain, pending, and drain-by-taint',
      'no permission to list nodetaintrules.taintmgr.dev, needed for explain and pending',
      'no permission to list taintmanagers.taintmgr.dev, needed for finding how taintmgr-controller runs',
      'no permission to get nodedrains.taintmgr.dev, needed for undo',
    ]);
  });

  it('exits with 2 where pods would stay', async () => {
    allow(evicts);
    assert.equal((await run('doctor')).code, 2);
  });
});
