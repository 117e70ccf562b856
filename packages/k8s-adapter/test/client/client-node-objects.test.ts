// Objects that @kubernetes/client-node has read give what the JSON of the API server gives.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ObjectSerializer } from '@kubernetes/client-node/dist/serializer.js';
import { loadYaml } from '@kubernetes/client-node/dist/yaml.js';
import {
  type ClientObject,
  type KubeObject,
  node,
  PlainServer,
  pdb,
  pod,
  seededRandom,
  VirtualClock,
} from '@taintmgr/sim-cluster';
import fc from 'fast-check';
import * as client from '../../src/doors/client.ts';
import * as drain from '../../src/doors/drain.ts';
import * as kinds from '../../src/doors/kinds.ts';
import * as door from '../../src/index.ts';

const text = fc.stringMatching(/^[a-z]{1,5}$/);
const count = fc.integer({ min: 0, max: 5 });
const state = fc.constantFrom('True', 'False', 'Unknown');
const time = fc
  .integer({ min: 0, max: 4_000_000_000 })
  .map((second) => `${new Date(second * 1000).toISOString().slice(0, 19)}Z`);
const microTime = time.map((whole) => whole.replace('Z', '.123456Z'));
const texts = fc.dictionary(text, text, { maxKeys: 2 });

/** Some of the fields, as an API server leaves out empty ones. */
const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc.record(fields, { requiredKeys: [] });
const list = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.array(item, { maxLength: 2 });

const fieldsV1 = fc.constantFrom(
  { 'f:spec': { 'f:taints': {}, 'f:unschedulable': {} } },
  { 'f:status': { 'f:conditions': { 'k:{"type":"DisruptionTarget"}': { 'f:message': {} } } } },
);
const metadata = fc.record(
  {
    name: text,
    namespace: text,
    uid: text,
    resourceVersion: text,
    generation: count,
    labels: texts,
    annotations: fc.oneof(
      texts,
      fc.record({ 'kubernetes.io/config.mirror': text, 'taintmgr.dev/deadline': time }),
    ),
    creationTimestamp: time,
    deletionTimestamp: time,
    finalizers: list(text),
    ownerReferences: list(
      fc.record({ apiVersion: text, kind: text, name: text, uid: text, controller: fc.boolean() }),
    ),
    managedFields: list(
      some({ manager: text, operation: text, time, fieldsV1, subresource: fc.constant('status') }),
    ),
  },
  { requiredKeys: ['name'] },
);
const object = (spec: fc.Arbitrary<unknown>, status: fc.Arbitrary<unknown>): fc.Arbitrary<object> =>
  fc.record({ metadata, spec, status }, { requiredKeys: ['metadata'] });

const taint = some({ key: text, value: text, effect: text, timeAdded: time });
const tolerations = list(
  some({ key: text, operator: text, value: text, effect: text, tolerationSeconds: count }),
);
const conditions = list(
  some({
    type: fc.constantFrom('Ready', 'PodScheduled', 'DisruptionTarget', 'DisruptionAllowed'),
    status: state,
    reason: text,
    message: text,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  }),
);
const selector = some({
  matchLabels: texts,
  matchExpressions: list(
    fc.record({ key: text, operator: fc.constantFrom('In', 'Exists'), values: list(text) }),
  ),
});
const quantities = fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('1', '2Gi'));

const nodes = object(
  some({ taints: list(taint), unschedulable: fc.boolean() }),
  some({ conditions }),
);
const pods = object(
  some({
    nodeName: text,
    tolerations,
    priority: count,
    priorityClassName: text,
    terminationGracePeriodSeconds: count,
    volumes: list(
      fc.constantFrom(
        { name: 'a', emptyDir: {} },
        { name: 'b', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
        { name: 'c', hostPath: { path: '/' } },
      ),
    ),
    containers: list(
      some({ name: text, resources: some({ requests: quantities, limits: quantities }) }),
    ),
    resourceClaims: list(some({ name: text, resourceClaimName: text })),
  }),
  some({ phase: text, startTime: time, qosClass: text, conditions }),
);
const budget = object(
  some({ selector, unhealthyPodEvictionPolicy: fc.constant('AlwaysAllow') }),
  some({
    disruptionsAllowed: count,
    currentHealthy: count,
    desiredHealthy: count,
    expectedPods: count,
    observedGeneration: count,
    disruptedPods: fc.dictionary(text, time),
    conditions,
  }),
);
const device = some({ name: text, taints: list(taint) });
const devices = {
  results: list(some({ request: text, driver: text, pool: text, device: text, tolerations })),
};
const rule = object(
  some({ deviceSelector: some({ driver: text, pool: text, device: text }), taint }),
  some({ conditions }),
);
const nothing = fc.constant({});

/** `model`: the name that the objects of a kind have in client-node. */
const readers: readonly (readonly [
  model: string,
  objects: fc.Arbitrary<object>,
  read: (object: object) => unknown,
])[] = [
  ['V1Node', nodes, door.nodeFromJson],
  ['V1Node', nodes, door.pressureNodeFromJson],
  ['V1Node', nodes, drain.drainableNode],
  ['V1Pod', pods, door.podFromJson],
  ['V1Pod', pods, door.pressurePodFromJson],
  ['V1PodDisruptionBudget', budget, door.budgetFromJson],
  ['V1Namespace', object(nothing, nothing), door.namespaceFromJson],
  ['V1Lease', object(some({ renewTime: microTime }), nothing), door.nodeLeaseFromJson],
  ['V1DaemonSet', object(some({ selector }), nothing), door.daemonSetFromJson],
  ...['V1ResourceSlice', 'V1beta2ResourceSlice'].map((model) => {
    const spec = some({ driver: text, devices: list(device), pool: some({ generation: count }) });
    return [model, object(spec, nothing), client.resourceSliceFromJson] as const;
  }),
  ...['ResourceV1ResourceClaim', 'V1beta2ResourceClaim'].map((model) => {
    const status = some({
      allocation: some({ devices: some(devices) }),
      reservedFor: list(some({ uid: text })),
    });
    return [model, object(nothing, status), client.resourceClaimFromJson] as const;
  }),
  ['V1beta2DeviceTaintRule', rule, client.deviceTaintRuleFromJson],
  ['V1alpha3DeviceTaintRule', rule, client.deviceTaintRuleFromJson],
];

describe('objects of @kubernetes/client-node', () => {
  for (const [model, objects, read] of readers) {
    it(`are read as JSON is: ${model} by ${read.name}`, () => {
      let withDates = 0;
      fc.assert(
        fc.property(objects, (wire) => {
          const typed = ObjectSerializer.deserialize(structuredClone(wire), model);
          if (typed.metadata.creationTimestamp instanceof Date) withDates += 1;
          assert.deepEqual(read(typed), read(wire));
        }),
      );
      assert.ok(withDates > 0, 'no object had a Date');
    });
  }

  /** KubernetesObjectApi knows no more of a kind than the metadata. */
  const generic = (wire: object): object => ObjectSerializer.deserialize(wire, 'KubernetesObject');

  it('are read as JSON is: kinds of taintmgr.dev', () => {
    const apiVersion = 'taintmgr.dev/v1alpha1';
    const specs = [
      ['EvictionPolicy', { match: {}, action: 'Evict' }],
      ['EvictionPause', { reason: 'x', until: '2026-01-02T03:04:05Z' }],
      ['NodeDrain', { nodes: { names: ['a'] }, taint: { key: 'k', effect: 'NoExecute' } }],
      ['TaintManager', undefined],
    ] as const;
    for (const [kind, spec] of specs) {
      fc.assert(
        fc.property(metadata, (meta) => {
          const wire = { apiVersion, kind, metadata: meta, ...(spec && { spec }) };
          const typed = generic(structuredClone(wire));
          assert.deepEqual(kinds.readManifest(typed, 0), kinds.readManifest(wire, 0));
        }),
      );
    }
  });

  it('are read as JSON is: YAML with a time', () => {
    const pause = (until: string): string =>
      `{apiVersion: taintmgr.dev/v1alpha1, kind: EvictionPause, metadata: {name: p}, spec: {reason: x, until: ${until}}}`;
    const [bare, quoted] = ['2026-01-02T03:04:05Z', '"2026-01-02T03:04:05Z"'].map((until) =>
      kinds.readManifest(loadYaml<unknown>(pause(until)), 0),
    );
    assert.equal(quoted?.kind, 'allowed');
    assert.deepEqual(bare, quoted);
  });

  it('are read as JSON is: EvictionRequests and Evictions', () => {
    const target = { pod: { name: 'a', uid: 'u' } };
    const responders = [{ name: 'r', heartbeatTime: '2026-01-02T03:04:05Z' }];
    const status = { targetResponders: [{ name: 'r', state: 'Active' }], responders };
    fc.assert(
      fc.property(metadata, (meta) => {
        const apiVersion = 'lifecycle.k8s.io/v1alpha1';
        const request = { apiVersion, kind: 'EvictionRequest', metadata: meta, spec: { target } };
        const eviction = { ...request, kind: 'Eviction', status };
        const dated = structuredClone({
          ...eviction,
          status: {
            ...status,
            responders: [{ name: 'r', heartbeatTime: new Date('2026-01-02T03:04:05Z') }],
          },
        });
        assert.deepEqual(
          drain.evictionRequestsFrom([generic(structuredClone(request))], [generic(dated)]),
          drain.evictionRequestsFrom([request], [eviction]),
        );
      }),
    );
  });
});

describe('the simulated cluster', () => {
  const time = '2026-01-02T03:04:05Z';
  const taint = { key: 'a', value: 'b', effect: 'NoExecute', timeAdded: time };
  const objects: readonly (readonly [resource: string, model: string, object: KubeObject])[] = [
    ['nodes', 'V1Node', { ...node('n1', { spec: { taints: [taint] } }) }],
    ['pods', 'V1Pod', pod('default', 'p1', { spec: { nodeName: 'n1' } })],
    [
      'poddisruptionbudgets',
      'V1PodDisruptionBudget',
      pdb('default', 'b1', { minAvailable: '50%' }),
    ],
    [
      'leases',
      'V1Lease',
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: 'default', name: 'n1' },
        spec: { holderIdentity: 'n1', renewTime: '2026-01-02T03:04:05.123456Z' },
      },
    ],
    [
      'networkpolicies',
      'V1NetworkPolicy',
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { namespace: 'default', name: 'np' },
        // client-node calls it _from.
        spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] },
      },
    ],
  ];
  const clusterOf = (): PlainServer =>
    new PlainServer({ clock: new VirtualClock(Date.parse(time)), random: seededRandom(1) });
  const typedOf = (model: string, object: KubeObject): ClientObject =>
    ObjectSerializer.deserialize(structuredClone(object), model);

  for (const [resource, model, object] of objects) {
    it(`takes a ${model} as its JSON`, () => {
      const [wire, typed] = [clusterOf(), clusterOf()];
      const created = wire.create(resource, object);
      assert.deepEqual(typed.create(resource, typedOf(model, object)), created);
      // With what the server has added: Dates in the metadata and managedFields.
      assert.deepEqual(
        typed.update(resource, typedOf(model, created)),
        wire.update(resource, structuredClone(created)),
      );
      const [loadedWire, loadedTyped] = [clusterOf(), clusterOf()];
      const list = { apiVersion: object.apiVersion, kind: `${object.kind}List` };
      const report = loadedTyped.load([{ ...list, items: [typedOf(model, created)] }]);
      assert.deepEqual(report, loadedWire.load([{ ...list, items: [structuredClone(created)] }]));
      assert.deepEqual(report.unloaded, []);
      assert.deepEqual(loadedTyped.list(resource), loadedWire.list(resource));
    });
  }

  it('takes Dates in objects that client-node has not read, and refuses one that is none', () => {
    const spec = (timeAdded: Date): object => ({ taints: [{ ...taint, timeAdded }] });
    const body = (timeAdded: Date): ClientObject =>
      Object.assign({ metadata: { name: 'n1' } }, { spec: spec(timeAdded) });
    const made = clusterOf().create('nodes', body(new Date(time)));
    assert.equal(made.spec.taints[0].timeAdded, time);
    assert.throws(() => clusterOf().create('nodes', body(new Date('x'))), /parsing time/);
  });
});
