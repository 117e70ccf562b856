import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { pdb } from '@taintmgr/sim-cluster';
import {
  assertEvicted,
  begun,
  eventsOn,
  pause,
  published,
  resume,
  startController,
} from './takeover-controller.ts';
import { TakeoverWorld, users } from './takeover-world.ts';

// The whole controller with --takeover and device-taint-eviction-controller beside a
// kube-controller-manager that evicts for taints of devices, over HTTPS.

const flag = '--controllers=device-taint-eviction-controller';
const driver = 'gpu.example.com';

/** A device of the pool n1, a claim that holds it, and a pod that uses that. */
function usingPod({ api }: TakeoverWorld, namespace: string, name: string, device: string): void {
  const claim = api.create('resourceclaims', {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name, namespace },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } },
  });
  const resourceClaims = [{ name: 'gpu', resourceClaimName: name }];
  const containers = [{ name: 'c', image: 'i' }];
  const made = api.create('pods', {
    metadata: { name, namespace, labels: { app: name } },
    spec: { nodeName: 'n1', containers, resourceClaims },
  });
  const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  api.update('pods', { ...made, status: { ...made.status, ...running } }, 'status');
  const results = [{ request: 'r', driver, pool: 'n1', device }];
  const reservedFor = [{ resource: 'pods', name, uid: made.metadata.uid ?? '' }];
  const status = { allocation: { devices: { results } }, reservedFor };
  api.update('resourceclaims', { ...claim, status }, 'status');
}

/** A rule that taints the device. */
function taintDevice({ api }: TakeoverWorld, device: string): void {
  api.create('devicetaintrules', {
    apiVersion: 'resource.k8s.io/v1beta2',
    kind: 'DeviceTaintRule',
    metadata: { name: device },
    spec: {
      deviceSelector: { driver, pool: 'n1', device },
      taint: { key: 'health', value: 'bad', effect: 'NoExecute' },
    },
  });
}

async function begin(t: TestContext): Promise<TakeoverWorld> {
  return await TakeoverWorld.start(t, {}, 0, { devices: { rules: true } });
}

describe('a controller that takes over taints of devices', () => {
  it('spares what it holds, evicts by budgets, and leaves others alone', async (t) => {
    const world = await begin(t);
    usingPod(world, 'in', 'held', 'gpu-0');
    usingPod(world, 'out', 'gone', 'gpu-1');
    const budget = world.api.create('poddisruptionbudgets', pdb('in', 'held', { minAvailable: 1 }));
    const counts = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    world.api.update('poddisruptionbudgets', { ...budget, status: counts }, 'status');
    const controller = await startController(t, world, flag);
    await begun(world, controller, 'held');
    await world.until(() => published(world).takeover?.deviceTaints === true);
    world.manager.start();
    taintDevice(world, 'gpu-0');
    taintDevice(world, 'gpu-1');
    await world.deleted('out', 'gone');
    await world.refused('in', 'held', 5);
    const of = 'health=bad:NoExecute of device gpu.example.com/n1/gpu-0';
    await world.until(() =>
      eventsOn(world, 'held').some((one) => {
        return one.startsWith('TaintManagerEvictionHeld: taintmgr decides') && one.includes(of);
      }),
    );
    assert.equal(world.isDeleted('in', 'held'), false);
    world.api.delete('poddisruptionbudgets', 'in', 'held');
    await world.deleted('in', 'held');
    const accepted = world.asked.filter(({ path, status }) => {
      return path.endsWith('/pods/held/eviction') && status === 201;
    });
    assert.deepEqual(
      accepted.map(({ user }) => user),
      [users.controller],
    );
    await controller.stop();
  });

  it('lets kube-controller-manager through where it may not read what decides', async (t) => {
    const all = ['', 'coordination.k8s.io', 'policy', 'taintmgr.dev', 'authentication.k8s.io'];
    const rule = { verbs: ['*'], resources: ['*'] };
    const rights = {
      controller: [
        { ...rule, apiGroups: [...all, 'admissionregistration.k8s.io', 'authorization.k8s.io'] },
        { ...rule, apiGroups: ['resource.k8s.io'], resources: ['resourceslices'] },
      ],
    };
    const world = await TakeoverWorld.start(t, rights, 0, { devices: { rules: true } });
    usingPod(world, 'in', 'used', 'gpu-0');
    const controller = await startController(t, world, flag);
    await controller.saw('caches synced, evictions start');
    await world.until(() => published(world).takeover?.deviceTaints === false);
    world.manager.start();
    taintDevice(world, 'gpu-0');
    await world.deleted('in', 'used');
    assertEvicted(world);
    await controller.stop();
  });

  it('leaves taints of devices to kube-controller-manager where it is not asked to', async (t) => {
    const world = await begin(t);
    usingPod(world, 'in', 'used', 'gpu-0');
    pause(world);
    const controller = await startController(t, world);
    await controller.saw('caches synced, evictions start');
    world.manager.start();
    taintDevice(world, 'gpu-0');
    await world.deleted('in', 'used');
    assert.ok(
      world.asked.every(({ user, path }) => {
        return user !== users.controller || !path.includes('resource.k8s.io');
      }),
    );
    resume(world);
    await controller.stop();
  });
});
