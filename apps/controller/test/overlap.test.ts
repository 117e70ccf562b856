import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ApiClient, HttpTransport, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { pod, type Rule } from '@taintmgr/sim-cluster';
import { type ControllerName, controllerNames } from '../src/flags/controllers.ts';
import { Leadership } from '../src/leadership.ts';
import { findOverlap } from '../src/overlap.ts';
import { startTestApi, type TestApi } from './test-api.ts';

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const minute = 60_000;

async function startApi(t: TestContext, rules: readonly Rule[] = [everything]) {
  const started = await startTestApi(rules);
  t.after(() => started.stop());
  const { access } = await loadKubeconfig({ kubeconfig: started.kubeconfig });
  const transport = new HttpTransport(access, 'test');
  t.after(() => transport.close());
  return { api: started.api, client: new ApiClient({ transport, server: access.server }) };
}

function putLease(api: TestApi['api'], holderIdentity: string, age: number): void {
  const renewTime = new Date(Date.now() - age).toISOString().replace('Z', '000Z');
  api.create('leases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'kube-system', name: 'kube-controller-manager' },
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

describe('a kube-controller-manager', () => {
  const [eviction, lifecycle, pressure] = controllerNames;
  const both = [eviction, lifecycle];
  const cases: readonly (readonly [
    name: string,
    flags: readonly string[] | null,
    ours: readonly ControllerName[],
    shared: readonly ControllerName[],
  ])[] = [
    ['that is not to be seen runs everything', null, both, both],
    ['without --controllers runs everything', [], both, both],
    ['has no controller for pressure', null, [pressure], []],
    ['runs neither', ['--controllers=*,-taint-eviction-controller,-nodelifecycle'], both, []],
    ['runs one of two', ['--controllers=*,-taint-eviction-controller'], both, [lifecycle]],
    ['runs another', ['--controllers=*,-taint-eviction-controller'], [eviction], []],
    ['names what it runs', ['--controllers=nodelifecycle,job-controller'], both, [lifecycle]],
    ['has the value in a word of its own', ['--controllers', '-*', '--v=2'], both, []],
    ['repeats the flag', ['--controllers=*', '--controllers=-nodelifecycle'], both, [eviction]],
  ];
  for (const [name, flags, ours, shared] of cases) {
    it(name, async (t) => {
      const { api, client } = await startApi(t);
      putLease(api, 'cp_1', 0);
      if (flags) putManager(api, 'kube-controller-manager-cp', ...flags);
      const overlap = await findOverlap(client, ours, Date.now());
      if (shared.length === 0) return assert.equal(overlap, null);
      const without = shared.map((one) => `-${one}`).join(',');
      assert.equal(
        overlap?.message,
        `kube-controller-manager (cp_1) runs ${shared.join(' and ')} too; ` +
          `start it with --controllers=*,${without}, or accept it with --allow-overlap`,
      );
    });
  }

  it('of which one of several replicas runs it counts', async (t) => {
    const { api, client } = await startApi(t);
    putLease(api, 'cp_1', 0);
    putManager(api, 'one', '--controllers=*,-taint-eviction-controller');
    putManager(api, 'two');
    const overlap = await findOverlap(client, [eviction], Date.now());
    assert.match(overlap?.message ?? '', /^kube-controller/);
  });

  const absent: readonly (readonly [name: string, put: (api: TestApi['api']) => void])[] = [
    ['is none without its lease', () => {}],
    ['is gone when its lease is given back', (api) => putLease(api, '', 0)],
    ['is gone when its lease ran out', (api) => putLease(api, 'cp_1', minute)],
  ];
  for (const [name, put] of absent) {
    it(name, async (t) => {
      const { api, client } = await startApi(t);
      put(api);
      assert.equal(await findOverlap(client, both, Date.now()), null);
    });
  }

  it('is not found without the right to look', async (t) => {
    const { api, client } = await startApi(t, []);
    putLease(api, 'cp_1', 0);
    assert.equal(await findOverlap(client, both, Date.now()), null);
  });
});

describe('leadership', () => {
  it('is held by who is elected, while nobody else does the work', () => {
    const told: boolean[] = [];
    const leadership = new Leadership(false, (mayAct) => told.push(mayAct));
    const state = (): readonly boolean[] => [leadership.held, leadership.elected];
    leadership.elect(true);
    assert.deepEqual(state(), [true, true]);
    leadership.collide('kube-controller-manager');
    leadership.collide('kube-controller-manager');
    assert.deepEqual(state(), [false, true]);
    leadership.elect(false);
    leadership.collide(null);
    assert.deepEqual(state(), [false, false]);
    leadership.elect(true);
    assert.deepEqual(state(), [true, true]);
    // Of elections the loop knows by itself.
    assert.deepEqual(told, [false, true]);
  });
});
