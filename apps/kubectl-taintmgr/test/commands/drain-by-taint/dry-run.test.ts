import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import { daemonSet, pdb, pod, type Rule, toleration } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { app, Scenario } from '../../world/scenario.ts';
import { startTestCluster, type TestCluster, versions } from '../../world/test-cluster.ts';

// What a drain says when it is not to begin, or only asked what it would do. Nothing is changed.

const maintenance = 'maintenance=kernel:NoExecute';
const everyFlag = ['--ignore-daemonsets', '--delete-emptydir-data', '--force'];

/** May see what a plan takes, and do nothing. */
const reading: Rule = {
  verbs: ['get', 'list'],
  apiGroups: ['', 'apps', 'policy', 'coordination.k8s.io'],
  resources: ['*'],
};

describe('drain-by-taint that changes nothing', () => {
  let cluster: TestCluster;
  let zone: Scenario;
  /** Whether the taint may be refused for the sake of others who evict. */
  let isRefused = false;
  before(async () => {
    const scratch = { volumes: [{ name: 'scratch', emptyDir: {} }] };
    const tolerations = [toleration('maintenance:NoExecute', 63)];
    cluster = await startTestCluster(
      {
        region: 'r',
        zones: ['a'],
        nodesPerZone: 1,
        workloads: [
          app('a', 'web'),
          app('a', 'db', { podSpec: scratch, tolerations }),
          app('a', 'cache', { tolerations: [toleration('maintenance:NoExecute')] }),
          daemonSet('a', 'agent'),
          pod('a', 'bare', { spec: scratch }),
        ],
        budgets: [pdb('a', 'web', { minAvailable: 1 })],
      },
      { reader: [reading] },
    );
    process.env.KUBECONFIG = cluster.kubeconfig;
    zone = new Scenario(cluster, 'a');
  });
  after(() => cluster.stop());

  /** Runs a drain, checks that nothing was changed, and gives names of pods their short form. */
  async function drain(...flags: readonly string[]) {
    const unchanged = versions(cluster.api);
    const overlap = isRefused ? [] : ['--allow-overlap'];
    const result = await run('drain-by-taint', maintenance, 'a-1', ...flags, ...overlap);
    assert.deepEqual(versions(cluster.api), unchanged);
    return { ...result, out: shorten(result.out), err: shorten(result.err) };
  }

  function shorten(text: string): string {
    const names = ['web', 'db', 'cache', 'agent', 'bare'];
    return (
      names
        .reduce((short, name) => short.replaceAll(zone.pod(name).metadata.name, name), text)
        .replaceAll(/ +/g, ' ')
        // A plan that is made at the end of a second says one more.
        .replaceAll('+1m4s', '+1m3s')
    );
  }

  const noToleration = 'no toleration for maintenance=kernel:NoExecute';
  const kept = '1 tolerating the taint without limit';
  const plan =
    'NODE NAMESPACE POD ACTION AT BLOCKED BY BECAUSE\n' +
    `a-1 a bare evict +0s <none> ${noToleration}\n` +
    `a-1 a web evict +0s PDB web (needs action) ${noToleration}\n` +
    'a-1 a db evict +1m3s <none> tolerates maintenance=kernel:NoExecute for 1m3s\n' +
    `a-1 a agent leave +0s - the DaemonSet controller deletes it: ${noToleration}\n` +
    '4 pods: 3 to evict (last at +1m3s), 1 deleted by the DaemonSet controller, 1 needs action first\n' +
    `1 pod stays: ${kept}\n` +
    '1 pod has no controller, and is not started again: a/bare\n';

  it('refuses for all reasons at once', async () => {
    const out =
      'NODE NAMESPACE POD ACTION AT BLOCKED BY BECAUSE\n' +
      `a-1 a web evict +0s PDB web (needs action) ${noToleration}\n` +
      'a-1 a agent refuse - - managed by a DaemonSet, which would recreate it (--ignore-daemonsets)\n' +
      'a-1 a bare refuse - - has local storage (emptyDir), whose data would be lost (--delete-emptydir-data); ' +
      'is not managed by a controller (--force)\n' +
      'a-1 a db refuse - - has local storage (emptyDir), whose data would be lost (--delete-emptydir-data)\n' +
      '4 pods: 1 to evict (at once), 3 refused, 1 needs action first\n' +
      `1 pod stays: ${kept}\n`;
    const err =
      'error: 1 pod needs --ignore-daemonsets, 2 pods need --delete-emptydir-data, 1 pod needs --force; ' +
      'nothing was changed\n';
    assert.deepEqual(await drain(), { code: 1, out, err });
    assert.deepEqual(await drain('--dry-run=client'), { code: 1, out, err });
  });

  it('--dry-run=client shows the plan: 2, because that will not resolve by itself', async () => {
    assert.deepEqual(await drain('--dry-run=client', ...everyFlag), {
      code: 2,
      out: `${plan}node/a-1 cordoned (dry run)\nnode/a-1 tainted (dry run)\n`,
      err: '',
    });
  });

  it('--dry-run=server asks the API server about each eviction, once', async () => {
    assert.deepEqual(await drain('--dry-run=server', ...everyFlag), {
      code: 2,
      out:
        `${plan}node/a-1 cordoned (dry run)\nnode/a-1 tainted (dry run)\n` +
        'pod/bare evicted (a, server dry run)\npod/db evicted (a, server dry run)\n',
      err: 'Warning: a/web on a-1 is blocked: The disruption budget web needs 1 healthy pods and has 1 currently\n',
    });
    const withoutWeb = await drain('--dry-run=server', '--pod-selector=app=db', ...everyFlag);
    assert.equal(withoutWeb.code, 0);
    assert.match(withoutWeb.out, /^pod\/db evicted \(a, server dry run\)\n$/m);
  });

  it('--dry-run=server goes on with the others where one is forbidden', async () => {
    const group = 'admissionregistration.k8s.io';
    const rule = {
      apiGroups: [''],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['pods/eviction'],
    };
    const name = 'keep-bare';
    const head = { apiVersion: `${group}/v1`, metadata: { name } };
    const policies = [
      {
        ...head,
        kind: 'ValidatingAdmissionPolicy',
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: { resourceRules: [rule] },
          validations: [
            { expression: "request.name != 'bare'", message: 'bare stays', reason: 'Forbidden' },
          ],
        },
      },
      {
        ...head,
        kind: 'ValidatingAdmissionPolicyBinding',
        spec: { policyName: name, validationActions: ['Deny'] },
      },
    ];
    cluster.api.load(policies);
    const { code, out, err } = await drain('--dry-run=server', ...everyFlag);
    for (const { kind } of policies) {
      const resource = kind.endsWith('Binding') ? 'policybindings' : 'policies';
      cluster.api.delete(`validatingadmission${resource}`, '', name);
    }
    assert.match(out, /^pod\/db evicted \(a, server dry run\)$/m);
    assert.match(err, /^Warning: a\/bare on a-1 is blocked: .*bare stays$/m);
    assert.doesNotMatch(err, /hint/);
    assert.equal(code, 2);
  });

  it('--dry-run=server is an error where nobody may evict, which is not that pods are blocked', async () => {
    const { code, err } = await drain('--dry-run=server', '--token=reader', ...everyFlag);
    assert.match(err, /Forbidden.*cannot create resource "pods\/eviction"/);
    assert.equal(code, 1);
  });

  it('--dry-run=client needs no rights to change anything', async () => {
    const { code, err } = await drain('--dry-run=client', '--token=reader', ...everyFlag);
    assert.deepEqual([code, err], [2, '']);
  });

  it('a file needs no flag for pods of DaemonSets', async () => {
    const path = join(cluster.directory, 'drain.json');
    const spec = {
      nodes: ['a-1'],
      taint: { key: 'maintenance', value: 'kernel', effect: 'NoSchedule' },
      pods: { withoutController: true, withEmptyDir: true },
    };
    const drain = {
      apiVersion: policyApiVersion,
      kind: 'NodeDrain',
      metadata: { name: 'a' },
      spec,
    };
    writeFileSync(path, JSON.stringify(drain));
    const { code, out, err } = await run('drain-by-taint', '-f', path, '--dry-run=client');
    assert.equal(code, 2, err);
    assert.doesNotMatch(out, /--ignore-daemonsets/);
  });

  describe('a NoExecute taint', () => {
    before(() => {
      isRefused = true;
    });
    after(() => {
      isRefused = false;
    });
    const instead =
      'accept it with --allow-overlap: the drain then stops at the first pod that another ' +
      'controller takes\n';
    const declare =
      'start it with --controllers=*,-taint-eviction-controller and declare that to taintmgr-controller: ' +
      '--kube-controller-manager-runs=node-lifecycle-controller';
    const other = 'maintenance=kernel:NoSchedule, for which no other controller evicts';

    it('is refused where nobody was seen to evict, which is no proof', async () => {
      const err =
        'error: whether kube-controller-manager evicts for NoExecute taints here is unknown: it ' +
        `shows neither a pod nor a lease; use ${other}, or ${declare}, or ${instead}`;
      assert.deepEqual(await drain(...everyFlag), { code: 1, out: '', err });
    });

    describe('while kube-controller-manager runs', () => {
      const fault =
        'kube-controller-manager (host-1) may evict for NoExecute taints here, without asking ' +
        `PDBs: its flags cannot be seen, as it has no pod here; use ${other}, or ${declare}, or ` +
        instead;

      before(() => {
        const renewTime = new Date().toISOString().replace('Z', '000Z');
        cluster.api.create('leases', {
          metadata: { name: 'kube-controller-manager', namespace: 'kube-system' },
          spec: { holderIdentity: 'host-1', leaseDurationSeconds: 15, renewTime },
        });
      });
      after(() => cluster.api.delete('leases', 'kube-system', 'kube-controller-manager'));

      it('is refused, or warned of where it is only asked', async () => {
        assert.deepEqual(await drain(...everyFlag), { code: 1, out: '', err: `error: ${fault}` });
        const asked = await drain('--dry-run=client', ...everyFlag);
        assert.deepEqual([asked.code, asked.err], [2, `Warning: ${fault}`]);
      });

      it('is not with --allow-overlap', async () => {
        const flags = ['--dry-run=client', '--allow-overlap', ...everyFlag];
        const { code, err } = await drain(...flags);
        assert.deepEqual([code, err], [2, '']);
      });
    });
  });
});
