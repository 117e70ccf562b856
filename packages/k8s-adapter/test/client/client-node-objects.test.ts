// Objects that @kubernetes/client-node has read give what the JSON of the API server gives.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ObjectSerializer } from '@kubernetes/client-node/dist/serializer.js';
import { loadYaml } from '@kubernetes/client-node/dist/yaml.js';
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

const node = object(
  some({ taints: list(taint), unschedulable: fc.boolean() }),
  some({ conditions }),
);
const pod = object(
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
  ['V1Node', node, door.nodeFromJson],
  ['V1Node', node, door.pressureNodeFromJson],
  ['V1Node', node, drain.drainableNode],
  ['V1Pod', pod, door.podFromJson],
  ['V1Pod', pod, door.pressurePodFromJson],
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
