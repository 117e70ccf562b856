import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  ApiClient,
  type Asker,
  findEvictors,
  HttpTransport,
  loadKubeconfig,
} from '@taintmgr/k8s-adapter';
import { namespace, pod, type Rule } from '@taintmgr/sim-cluster';
import { type ControllerName, controllerNames } from '../../src/flags/controllers.ts';
import { type Overlap, overlapOf } from '../../src/overlap/overlap.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const minute = 60_000;
const own = { namespace: 'kube-system', name: 'taintmgr-controller' };

async function startApi(t: TestContext, rules: readonly Rule[] = [everything], lease = own) {
  const started = await startTestApi(rules);
  t.after(() => started.stop());
  const { access } = await loadKubeconfig({ kubeconfig: started.kubeconfig });
  const transport = new HttpTransport(access, 'test');
  t.after(() => transport.close());
  const client = new ApiClient({ transport, server: access.server });
  const find = async (
    ours: readonly ControllerName[],
    declared: Asker['declared'] = null,
  ): Promise<Overlap | null> => {
    const asker = { lease, manager: 'taintmgr', controllers: ours, declared };
    return overlapOf(await findEvictors(client, { asker, secondLookMs: 1 }), ours);
  };
  return { api: started.api, find };
}

function putLease(
  api: TestApi['api'],
  holderIdentity: string,
  age: number,
  where = { namespace: 'kube-system', name: 'kube-controller-manager' },
): void {
  const renewTime = new Date(Date.now() - age).toISOString().replace('Z', '000Z');
  api.create('leases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: where,
    spec: { holderIdentity, leaseDurationSeconds: 15, renewTime },
  });
}

function putManager(api: TestApi['api'], name: string, ...flags: readonly string[]): void {
  const command = ['kube-controller-manager', '--bind-address=127.0.0.1', ...flags];
  const containers = [{ name: 'kube-controller-manager', image: 'registry/kcm', command }];
  const one = pod('kube-system', name, { spec: { nodeName: 'cp', containers } });
  const labels = { component: 'kube-controller-manager' };
  api.create('pods', { ...one, metadata: { ...one.metadata, labels } });
}

const [eviction, lifecycle, pressure] = controllerNames;
const devices = 'device-taint-eviction-controller';
const both = [eviction, lifecycle];

describe('a kube-controller-manager', () => {
  const cases: readonly (readonly [
    name: string,
    flags: readonly string[],
    ours: readonly ControllerName[],
    shared: readonly ControllerName[],
  ])[] = [
    ['without --controllers runs everything', [], both, both],
    ['has no controller for pressure', [], [pressure], []],
    ['runs neither', ['--controllers=*,-taint-eviction-controller,-nodelifecycle'], both, []],
    ['runs one of two', ['--controllers=*,-taint-eviction-controller'], both, [lifecycle]],
    ['runs another', ['--controllers=*,-taint-eviction-controller'], [eviction], []],
    [
      'runs the one for devices',
      ['--controllers=*,-taint-eviction-controller'],
      [eviction, devices],
      [devices],
    ],
    ['runs none for devices', ['--controllers=*,-device-taint-eviction-controller'], [devices], []],
    ['has the gate for devices off', ['--feature-gates=DRADeviceTaints=false'], [devices], []],
    ['repeats the flag', ['--controllers=*', '--controllers=-nodelifecycle'], both, [eviction]],
  ];
  for (const [name, flags, ours, shared] of cases) {
    it(name, async (t) => {
      const { api, find } = await startApi(t);
      putLease(api, 'cp_1', 0);
      putManager(api, 'kube-controller-manager-cp', ...flags);
      const overlap = await find(ours);
      if (shared.length === 0) return assert.equal(overlap, null);
      const without = shared.map((one) => `-${one}`).join(',');
      assert.equal(
        overlap?.message,
        `kube-controller-manager (cp_1) runs ${shared.join(' and ')} too; ` +
          `start it with --controllers=*,${without}, or accept it with --allow-overlap`,
      );
      assert.equal(overlap.subject?.kind, 'Lease');
    });
  }

  it('of which only the lease is to be seen may run everything', async (t) => {
    const { api, find } = await startApi(t);
    putLease(api, 'cp_1', 0);
    const overlap = await find([eviction]);
    assert.equal(
      overlap?.message,
      'kube-controller-manager (cp_1) may run taint-eviction-controller too: its flags cannot be ' +
        'seen, as it has no pod here; start it with --controllers=*,-taint-eviction-controller and ' +
        'declare that with --kube-controller-manager-runs=node-lifecycle-controller (kubectl taintmgr ' +
        'doctor --probe shows what it runs), or accept it with --allow-overlap',
    );
    assert.equal(overlap.isSeen, true);
  });

  it('whose flags are not to be seen may evict for devices, whatever was declared', async (t) => {
    const { api, find } = await startApi(t);
    putLease(api, 'cp_1', 0);
    for (const declared of [[], [lifecycle]]) {
      assert.equal(
        (await find([devices], declared))?.message,
        'kube-controller-manager (cp_1) may run device-taint-eviction-controller too: its flags cannot ' +
          'be seen, as it has no pod here; start it with --controllers=*,-device-taint-eviction-controller, ' +
          'or accept it with --allow-overlap',
      );
    }
    assert.match((await find([devices], [devices]))?.message ?? '', /runs device-taint-eviction-/);
  });

  it('of which only the pod is to be seen runs too', async (t) => {
    const { api, find } = await startApi(t);
    putManager(api, 'kube-controller-manager-cp', '--leader-elect=false');
    const overlap = await find([eviction]);
    assert.match(
      overlap?.message ?? '',
      /^kube-controller-manager \(kube-controller-manager-cp\) runs /,
    );
    assert.equal(overlap?.subject?.kind, 'Pod');
  });

  it('that evicts in its node lifecycle controller does our work', async (t) => {
    const { api, find } = await startApi(t);
    const gate = '--feature-gates=SeparateTaintEvictionController=false';
    putManager(api, 'kcm-cp', '--controllers=*,-taint-eviction-controller', gate);
    assert.equal(
      (await find([eviction]))?.message,
      'kube-controller-manager (kcm-cp) runs taint-eviction-controller too; start it with ' +
        `--controllers=*,-taint-eviction-controller and without ${gate}, or accept it with --allow-overlap`,
    );
  });

  const absent: readonly (readonly [
    name: string,
    why: string,
    put: (api: TestApi['api']) => void,
  ])[] = [
    ['without lease and pod', 'it shows neither a pod nor a lease', () => {}],
    [
      'whose lease was given back',
      'it shows no pod, and its lease is not renewed',
      (api) => putLease(api, '', 0),
    ],
    [
      'whose lease ran out',
      'it shows no pod, and its lease is not renewed',
      (api) => putLease(api, 'cp_1', minute),
    ],
  ];
  for (const [name, why, put] of absent) {
    it(`${name} may run all the same, unless its administrator says that it does not`, async (t) => {
      const { api, find } = await startApi(t);
      put(api);
      const overlap = await find(both);
      assert.equal(
        overlap?.message,
        `whether kube-controller-manager runs ${both.join(' and ')} is unknown: ${why}; start it with ` +
          `--controllers=*,-${both.join(',-')} and declare that with ` +
          '--kube-controller-manager-runs=none (kubectl taintmgr doctor --probe shows what it runs), or accept it with --allow-overlap',
      );
      assert.equal(overlap.isSeen, false);
      assert.equal(await find(both, []), null);
      assert.match(
        (await find(both, [lifecycle]))?.message ?? '',
        / runs node-lifecycle-controller too;/,
      );
    });
  }

  it('of which only the lease is to be seen runs what its administrator says', async (t) => {
    const { api, find } = await startApi(t);
    putLease(api, 'cp_1', 0);
    assert.equal(await find(both, []), null);
    assert.equal(await find([eviction], [lifecycle]), null);
    assert.equal(
      (await find(both, [eviction]))?.message,
      'kube-controller-manager (cp_1) runs taint-eviction-controller too; start it with ' +
        '--controllers=*,-taint-eviction-controller, or accept it with --allow-overlap',
    );
  });

  it('whose flags say otherwise than its administrator runs', async (t) => {
    const { api, find } = await startApi(t);
    putManager(api, 'kcm-cp');
    assert.equal(
      (await find([eviction], []))?.message,
      'kube-controller-manager (kcm-cp) runs taint-eviction-controller too: ' +
        '--kube-controller-manager-runs says that kube-controller-manager does not do this work, but ' +
        'pod kube-system/kcm-cp runs it (by default); start it with ' +
        '--controllers=*,-taint-eviction-controller, or accept it with --allow-overlap',
    );
  });

  it('is unknown without the right to look', async (t) => {
    const { api, find } = await startApi(t, []);
    putLease(api, 'cp_1', 0);
    const overlap = await find([eviction]);
    assert.equal(
      overlap?.message,
      'whether kube-controller-manager runs taint-eviction-controller is unknown: no permission to ' +
        'get lease kube-system/kube-controller-manager; no permission to list pods in kube-system; ' +
        'grant it, as the roles in deploy/ do, or declare that with ' +
        '--kube-controller-manager-runs=node-lifecycle-controller, or accept it with --allow-overlap',
    );
    assert.equal(overlap.isSeen, false);
  });
});

describe('another installation of ours', () => {
  const declared: Asker['declared'] = [];
  const elsewhere = { namespace: 'team-a', name: 'taintmgr-controller' };

  it('that holds a lease in kube-system does the same work', async (t) => {
    const { api, find } = await startApi(t, undefined, elsewhere);
    putLease(api, 'other_1', 0, own);
    assert.equal(
      (await find([eviction], declared))?.message,
      'another taintmgr-controller (other_1, lease kube-system/taintmgr-controller) runs here; ' +
        'stop one of them, for two that see each other both stand by, or accept it with --allow-overlap',
    );
  });

  it('is none where it is a lease that a tenant has written', async (t) => {
    const { api, find } = await startApi(t);
    api.create('namespaces', namespace('team-a'));
    putLease(api, 'mallory', 0, elsewhere);
    assert.equal(await find([eviction], declared), null);
  });

  it('is unknown without the right to look', async (t) => {
    const { find } = await startApi(t, [
      { verbs: ['get'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
      { verbs: ['list'], apiGroups: [''], resources: ['pods'] },
    ]);
    const overlap = await find([eviction], declared);
    assert.equal(
      overlap?.message,
      'whether another taintmgr-controller runs here is unknown: no permission to list leases named ' +
        'taintmgr-controller; grant it, as the roles in deploy/ do, or accept it with --allow-overlap',
    );
    assert.equal(overlap.isSeen, false);
  });

  it('is not a replica of this one', async (t) => {
    const { api, find } = await startApi(t);
    putLease(api, 'replica_2', 0, own);
    assert.equal(await find([eviction], declared), null);
  });
});
