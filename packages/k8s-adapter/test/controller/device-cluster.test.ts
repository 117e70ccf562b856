// The device-taint-eviction-controller in a whole simulated cluster, whose scheduler gives pods their devices and whose
// resourceclaim-controller makes their claims: stories that kube-controller-manager 1.36.2 was recorded with.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { type KubeObject, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  type UpstreamDeviceHeard,
  UpstreamDeviceLoop,
  type UpstreamDeviceNotice,
} from '../../src/controller/upstream-devices.ts';
import { VirtualDriver } from '../../src/driver/virtual.ts';

const namespace = 'wire-devtaint';
const driver = 'gpu.example.com';
const group = '/apis/resource.k8s.io/v1';
const second = Date.parse('2026-11-29T00:00:00Z');
const health = { key: 'health', operator: 'Exists' };
const inTime = { ...health, effect: 'NoExecute' };

/** A pod by a template, on a node without a kubelet: it starts never, and stays Terminating. */
class World {
  readonly clock = new VirtualClock(second - 20_000);
  readonly cluster = new ServedCluster({
    clock: this.clock,
    seed: 1,
    snapshot: [
      {
        ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} },
        status: {
          allocatable: { cpu: '8', memory: '8Gi', pods: '100' },
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      },
    ],
  });
  /** When each pod was to be marked or deleted, in seconds. */
  readonly tries: { readonly t: number; readonly method: string; readonly pod: string }[] = [];
  readonly #start: number;
  readonly #driver: VirtualDriver<UpstreamDeviceHeard, UpstreamDeviceNotice>;

  /** `offset`: milliseconds of the second in which the story begins. */
  constructor(offset: number, devices: number) {
    this.#start = second + offset;
    const { api } = this;
    api.create('namespaces', { metadata: { name: namespace } });
    const cel = { expression: `device.driver == "${driver}"` };
    api.create('deviceclasses', { metadata: { name: 'gpu' }, spec: { selectors: [{ cel }] } });
    const list = Array.from({ length: devices }, (_, index) => ({ name: `gpu-${index}` }));
    const pool = { name: 'n1', generation: 1, resourceSliceCount: 1 };
    const spec = { driver, nodeName: 'n1', pool, devices: list };
    api.create('resourceslices', { metadata: { name: 's1' }, spec });
    this.cluster.start();
    const loop = new UpstreamDeviceLoop({
      random: seededRandom(8),
      paths: {
        resourceslices: `${group}/resourceslices`,
        resourceclaims: `${group}/resourceclaims`,
        devicetaintrules: `${group}/devicetaintrules`,
      },
    });
    this.#driver = new VirtualDriver({
      ...{ loop, clock: this.clock, onNotice: () => {} },
      exchange: (request, sink) => {
        const [, pod = ''] = /\/pods\/([^/?]+)/.exec(request.path) ?? [];
        if (pod !== '' && request.method !== 'GET') {
          const t = (this.clock.now() - this.#start) / 1000;
          this.tries.push({ t, method: request.method, pod });
        }
        return this.cluster.exchange(request, sink);
      },
    });
    this.#driver.feed({ kind: 'start' });
    this.at(0);
  }

  get api(): ServedCluster['api'] {
    return this.cluster.api;
  }

  at(t: number): void {
    this.#driver.runUntil(this.#start + t * 1000);
  }

  stored(resource: string, name: string, home = namespace): KubeObject {
    return this.api.get(resource, home, name) ?? assert.fail(`no ${resource} ${name}`);
  }

  taintAll(): void {
    const slice = this.stored('resourceslices', 's1', '');
    const taints = [{ key: 'health', value: 'bad', effect: 'NoExecute' }];
    const devices = slice.spec.devices.map(({ name }: { name: string }) => ({ name, taints }));
    this.api.update('resourceslices', { ...slice, spec: { ...slice.spec, devices } });
  }

  template(name: string, ...tolerations: readonly object[]): void {
    const exactly = { deviceClassName: 'gpu', tolerations };
    const spec = { spec: { devices: { requests: [{ name: 'gpu', exactly }] } } };
    this.api.create('resourceclaimtemplates', { metadata: { name, namespace }, spec });
  }

  pod(name: string, template: string): void {
    this.api.create('pods', { metadata: { name, namespace }, spec: podSpec(template) });
  }

  isGoing(pod: string): boolean {
    const found = this.api.get('pods', namespace, pod);
    return found === null || found.metadata.deletionTimestamp !== undefined;
  }

  /** What was said of pods by the controller, sorted. */
  events(): readonly string[] {
    return this.api
      .list('events', namespace)
      .filter(({ reason }) => reason === 'DeviceTaintManagerEviction')
      .map(({ message, involvedObject }) => `${message} (${involvedObject.name})`)
      .sort();
  }
}

function podSpec(resourceClaimTemplateName: string): KubeObject['spec'] {
  return {
    containers: [{ name: 'c', image: 'x' }],
    resourceClaims: [{ name: 'c0', resourceClaimTemplateName }],
  };
}

describe('device taints in a cluster with a scheduler', () => {
  it('15-scheduler-and-templates: tolerations of templates, and a pod that ends in time', () => {
    const world = new World(280, 4);
    const { api } = world;
    world.taintAll();
    world.template('noeffect', health);
    world.template('sec8', { ...inTime, tolerationSeconds: 8 });
    world.template('sec10', { ...inTime, tolerationSeconds: 10 });
    world.template('forever', inTime);
    world.at(1.51);
    for (const name of ['noeffect', 'sec8', 'finish', 'forever']) {
      world.pod(name, name === 'finish' ? 'sec10' : name);
    }
    world.at(1.8);
    assert.ok(world.isGoing('noeffect'));
    world.at(4.55);
    const pods = ['sec8', 'finish', 'forever'].map((name) => world.stored('pods', name));
    assert.deepEqual(
      pods.map(({ spec, metadata }) => [spec.nodeName, metadata.deletionTimestamp]),
      pods.map(() => ['n1', undefined]),
    );
    const claims = pods.map(({ status }) =>
      world.stored('resourceclaims', status?.resourceClaimStatuses[0].resourceClaimName),
    );
    assert.deepEqual(
      claims.map(({ status }) => {
        const [{ device, tolerations }] = status?.allocation.devices.results ?? [{}];
        return [device, tolerations, status?.reservedFor.map(({ name }: KubeObject) => name)];
      }),
      [
        ['gpu-1', [{ ...inTime, tolerationSeconds: 8 }], ['sec8']],
        ['gpu-2', [{ ...inTime, tolerationSeconds: 10 }], ['finish']],
        ['gpu-3', [inTime], ['forever']],
      ],
    );
    const finish = world.stored('pods', 'finish');
    api.update('pods', { ...finish, status: { ...finish.status, phase: 'Succeeded' } }, 'status');
    world.at(5);
    assert.equal(api.get('resourceclaims', namespace, claims[1]?.metadata.name ?? ''), null);
    world.at(7.5);
    assert.ok(!world.isGoing('sec8'));
    world.at(8);
    assert.ok(world.isGoing('sec8'));
    world.at(13.6);
    assert.ok(!world.isGoing('finish') && !world.isGoing('forever'));
    assert.deepEqual(world.events(), [
      'Cancelling deletion (finish)',
      'Marking for deletion (noeffect)',
      'Marking for deletion (sec8)',
    ]);
  });

  it('a toleration without effect: one pod after the other comes to the device and goes', () => {
    const world = new World(0, 1);
    const { api } = world;
    world.taintAll();
    world.template('noeffect', health);
    const labels = { app: 'train' };
    const deleted = new Set<string>();
    api.subscribe(
      ({ type, object }) => {
        if (type === 'DELETED') deleted.add(`${object.metadata.name} on ${object.spec.nodeName}`);
      },
      new Set(['pods']),
    );
    api.create('replicasets', {
      metadata: { name: 'train', namespace },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { ...podSpec('noeffect'), terminationGracePeriodSeconds: 0 },
        },
      },
    });
    world.at(40);
    // 207 with the real programs, whose scheduler and controllers take their time.
    assert.ok(deleted.size > 150, `${deleted.size} pods`);
    assert.ok([...deleted].every((text) => text.endsWith(' on n1')));
    assert.ok(api.list('resourceclaims').length <= 2);
  });

  it('09-policy-refuses: tries again after twice the time, at once where the claim is touched', () => {
    const world = new World(0, 1);
    const { api } = world;
    refuseMarks(world);
    world.template('bare');
    world.pod('held', 'bare');
    world.at(2);
    const spec = {
      deviceSelector: { device: 'gpu-0' },
      taint: { key: 'health', value: 'bad', effect: 'NoExecute' },
    };
    api.create('devicetaintrules', { metadata: { name: 'r1' }, spec });
    world.at(12);
    const waits = world.tries.map(({ t }, index) => t - (world.tries[index - 1]?.t ?? 2));
    assert.ok(world.tries.every(({ method }) => method === 'PATCH'));
    assert.equal(world.tries.length, 11, String(waits));
    for (const [index, wait] of waits.slice(1).entries()) {
      assert.ok(Math.abs(wait - 0.005 * 2 ** index) < 0.02, String(waits));
    }
    assert.ok(!world.isGoing('held'));
    assert.deepEqual(
      world.stored('devicetaintrules', 'r1', '').status?.conditions[0].message,
      '1 pod needs to be evicted in 1 namespace.',
    );
    const [claim] = api.list('resourceclaims');
    assert.ok(claim);
    const annotations = { ...claim.metadata.annotations, 'example.com/touched': 'yes' };
    api.update('resourceclaims', { ...claim, metadata: { ...claim.metadata, annotations } });
    world.at(12.1);
    assert.equal(world.tries.length, 12);
    api.delete('validatingadmissionpolicybindings', '', 'held');
    world.at(50);
    assert.ok(world.isGoing('held'));
    assert.deepEqual(world.events(), ['Marking for deletion (held)']);
    const rule = world.stored('devicetaintrules', 'r1', '');
    assert.equal(
      rule.status?.conditions[0].message,
      '1 pod evicted since starting the controller.',
    );
  });
});

/** A policy that refuses the marks of the controller, as long as it is bound. */
function refuseMarks({ api }: World): void {
  const match = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods/status'] };
  const expression =
    '!has(object.status.conditions) || object.status.conditions.all(c, !has(c.reason) || c.reason != "DeletionByDeviceTaintManager")';
  api.create('validatingadmissionpolicies', {
    metadata: { name: 'held' },
    spec: {
      matchConstraints: { resourceRules: [{ ...match, operations: ['UPDATE'] }] },
      validations: [{ expression, message: 'it is held' }],
    },
  });
  const spec = { policyName: 'held', validationActions: ['Deny'] };
  api.create('validatingadmissionpolicybindings', { metadata: { name: 'held' }, spec });
}
