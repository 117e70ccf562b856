import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { selectsByDriver } from '../../src/scheduler/device-pools.ts';
import { virtualCluster } from '../world/virtual-cluster.ts';

const namespace = 'shop';
const node: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  spec: {},
  status: {
    allocatable: { cpu: '8', memory: '8Gi', pods: '50' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};

/** A node with two devices, and a class of them. */
function withDevices(): ReturnType<typeof virtualCluster> {
  const cluster = virtualCluster({ snapshot: [node] });
  const { api } = cluster;
  api.create('namespaces', { metadata: { name: namespace } });
  const cel = { expression: 'device.driver == "gpu.example.com"' };
  api.create('deviceclasses', { metadata: { name: 'gpu' }, spec: { selectors: [{ cel }] } });
  api.create('resourceslices', {
    metadata: { name: 'n1' },
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
      nodeName: 'n1',
      devices: [{ name: 'g0' }, { name: 'g1' }],
    },
  });
  return cluster;
}

type Api = ReturnType<typeof virtualCluster>['api'];

function claim(api: Api, name: string, count: number, tolerations: readonly object[] = []): void {
  const exactly = { deviceClassName: 'gpu', count, tolerations };
  const devices = { requests: [{ name: 'gpu', exactly }] };
  api.create('resourceclaims', { metadata: { name, namespace }, spec: { devices } });
}

function pod(api: Api, name: string, claims: readonly string[]): void {
  api.create('pods', {
    metadata: { name, namespace },
    spec: {
      containers: [{ name: 'c', image: 'x' }],
      resourceClaims: claims.map((claimName) => ({
        name: claimName,
        resourceClaimName: claimName,
      })),
    },
  });
}

function rule(api: Api, name: string, effect: string, deviceSelector?: object): void {
  const spec = { taint: { key: 'bad', effect }, ...(deviceSelector ? { deviceSelector } : {}) };
  api.create('devicetaintrules', { metadata: { name }, spec });
}

const nodeOf = (api: Api, name: string): string =>
  api.get('pods', namespace, name)?.spec.nodeName ?? '';

describe('devices', () => {
  const rules: readonly (readonly [string, string, object | undefined, string])[] = [
    ['of all devices', 'NoSchedule', {}, ''],
    ['that says nothing of devices', 'NoExecute', undefined, ''],
    ['of one device', 'NoExecute', { device: 'g1' }, ''],
    ['of the driver and the pool', 'NoSchedule', { driver: 'gpu.example.com', pool: 'n1' }, ''],
    ['of another pool', 'NoSchedule', { pool: 'n2' }, 'n1'],
    ['without an effect', 'None', {}, 'n1'],
  ];
  for (const [what, effect, selector, expected] of rules) {
    it(`are kept from a claim by a rule ${what}: ${effect}`, () => {
      const { api, pass } = withDevices();
      rule(api, 'r', effect, selector);
      claim(api, 'both', 2);
      pod(api, 'p', ['both']);
      pass(100);
      assert.equal(nodeOf(api, 'p'), expected);
      api.delete('devicetaintrules', '', 'r');
      pass(100);
      assert.equal(nodeOf(api, 'p'), 'n1');
    });
  }

  it('are given to one who tolerates their taints, whatever the effect of the toleration', () => {
    const { api, pass } = withDevices();
    rule(api, 'r', 'NoExecute', {});
    claim(api, 'both', 2, [{ key: 'bad', operator: 'Exists' }]);
    pod(api, 'p', ['both']);
    pass(100);
    assert.equal(nodeOf(api, 'p'), 'n1');
  });

  it('are waited for without a word while the claim is not there', () => {
    const { api, pass } = withDevices();
    pod(api, 'p', ['late']);
    pass(100);
    assert.equal(api.get('pods', namespace, 'p')?.status?.conditions, undefined);
    claim(api, 'late', 1);
    pass(100);
    assert.equal(nodeOf(api, 'p'), 'n1');
  });

  it('are free for the next pod once the last one that used them has ended', () => {
    const { api, pass } = withDevices();
    claim(api, 'both', 2);
    claim(api, 'one', 1);
    pod(api, 'p', ['both']);
    pass(100);
    pod(api, 'q', ['one']);
    pass(100);
    assert.deepEqual([nodeOf(api, 'p'), nodeOf(api, 'q')], ['n1', '']);
    const ending = api.get('pods', namespace, 'p');
    assert.ok(ending);
    api.update('pods', { ...ending, status: { ...ending.status, phase: 'Failed' } }, 'status');
    pass(100);
    assert.equal(nodeOf(api, 'q'), 'n1');
    assert.deepEqual(api.get('resourceclaims', namespace, 'both')?.status, {});
  });

  it('are not searched for ever where many would do for one request and none for another', () => {
    const { api, pass } = withDevices();
    const devices = Array.from({ length: 60 }, (_, at) => ({ name: `d${at}` }));
    const slice = api.get('resourceslices', '', 'n1');
    assert.ok(slice);
    api.update('resourceslices', { ...slice, spec: { ...slice.spec, devices } });
    claim(api, 'many', 30);
    claim(api, 'toomany', 31);
    pod(api, 'p', ['many', 'toomany']);
    pass(100);
    assert.equal(nodeOf(api, 'p'), '');
  });
});

describe('the expression that selects by a driver', () => {
  const facts = { attributes: {}, capacity: {}, allowMultipleAllocations: false };
  const cases: readonly (readonly [string, string, boolean | 'error'])[] = [
    ['device.driver == "a.example.com"', 'a.example.com', true],
    [" device.driver=='a.example.com' ", 'a.example.com', true],
    ['device.driver == "a.example.com"', 'b.example.com', false],
    ['device.driver == "a.example.com" && true', 'a.example.com', 'error'],
    ['device.driver == "a" || device.driver == "b"', 'a', 'error'],
    ['', 'a', 'error'],
  ];
  for (const [expression, driver, expected] of cases) {
    it(`${expression} of ${driver}: ${expected}`, () => {
      const selected = selectsByDriver(expression, { ...facts, driver });
      assert.equal(typeof selected === 'boolean' ? selected : 'error', expected);
    });
  }
});
