import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { encodeFrame, encodeObject } from '@taintmgr/api-server';
import { failureOf } from '../../src/proto/answer.ts';
import {
  daemonSetFromJson,
  identityOf,
  nodeFromJson,
  nodeLeaseFromJson,
  podFromJson,
} from '../../src/proto/convert.ts';
import { AnswerCollector } from '../../src/proto/exchange.ts';
import { type Message, objectFromProtobuf, protobufKinds } from '../../src/proto/protobuf.ts';
import { ProtobufWatchDecoder } from '../../src/proto/watch-decoder.ts';
import { fc } from '../world/fast-check.ts';
import { lookedAt } from '../world/looked-at.ts';

const metadata = {
  name: 'a',
  generateName: 'a-',
  namespace: 'shop',
  uid: 'u-1',
  resourceVersion: '12345678901234567890',
  generation: 7,
  creationTimestamp: '2026-01-01T00:00:00Z',
  deletionTimestamp: '2026-01-01T00:10:00Z',
  labels: { app: 'shöp', 'topology.kubernetes.io/zone': 'z1', __proto__x: '', constructor: 'c' },
  annotations: { 'kubernetes.io/config.mirror': 'x', 'taintmgr.dev/evict': 'false' },
  ownerReferences: [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'u-0', controller: false },
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u-2', controller: true },
  ],
  finalizers: ['x'],
  managedFields: [{ manager: 'kubelet', operation: 'Update', time: '2026-01-01T00:00:00Z' }],
};

const condition = (type: string, status: string) => ({
  type,
  status,
  lastTransitionTime: '2026-01-01T00:00:05Z',
  reason: 'Because',
  message: 'of that',
});

const pod = {
  kind: 'Pod',
  metadata,
  spec: {
    volumes: [
      { name: 'v', hostPath: { path: '/x' } },
      { name: 'w', emptyDir: {} },
    ],
    containers: [{ name: 'c', image: 'i', command: ['run', 'it'] }],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 0,
    nodeName: 'n1',
    hostNetwork: true,
    tolerations: [
      { key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 0 },
      { operator: 'Exists', tolerationSeconds: -5 },
      { key: 'for ever', tolerationSeconds: Number.MAX_SAFE_INTEGER },
    ],
    priority: 2_000_001_000,
    resourceClaims: [
      { name: 'a', resourceClaimName: 'shared' },
      { name: 'b', resourceClaimTemplateName: 't' },
    ],
  },
  status: {
    phase: 'Running',
    conditions: [condition('PodScheduled', 'True'), condition('Ready', 'False')],
    podIP: '10.0.0.1',
    startTime: '2026-01-01T00:00:06Z',
    resourceClaimStatuses: [{ name: 'b', resourceClaimName: 'a-b-x1' }],
    extendedResourceClaimStatus: { resourceClaimName: 'a-ext', requestMappings: [] },
  },
};

const mirror = {
  ...pod,
  metadata: {
    ...metadata,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u-3', controller: true }],
  },
};

const node = {
  kind: 'Node',
  metadata: { ...metadata, namespace: '' },
  spec: {
    podCIDR: '10.0.0.0/24',
    unschedulable: true,
    taints: [
      { key: 'a', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:07Z' },
      { key: 'b', value: 'v', effect: 'NoSchedule' },
    ],
  },
  status: {
    phase: 'x',
    conditions: [
      { ...condition('Ready', 'True'), lastHeartbeatTime: '2026-01-01T00:00:08Z' },
      condition('MemoryPressure', 'Unknown'),
    ],
  },
};

const lease = {
  kind: 'Lease',
  metadata,
  spec: {
    holderIdentity: 'n1',
    leaseDurationSeconds: 40,
    acquireTime: '2026-01-01T00:00:00.123456Z',
    renewTime: '2026-01-01T00:00:09.654321Z',
  },
};

const daemonSet = {
  kind: 'DaemonSet',
  metadata,
  spec: {
    selector: {
      matchLabels: { app: 'x' },
      matchExpressions: [
        { key: 'k', operator: 'In', values: ['a', 'b'] },
        { key: 'l', operator: 'Exists' },
      ],
    },
    minReadySeconds: 5,
  },
};

describe('protobuf', () => {
  const cases: readonly [{ readonly kind: string }, (object: unknown) => object][] = [
    [pod, podFromJson],
    [node, nodeFromJson],
    [lease, nodeLeaseFromJson],
    [daemonSet, daemonSetFromJson],
  ];
  for (const [object, project] of cases) {
    it(`gives the same ${object.kind} as JSON`, () => {
      assert.deepEqual(project(objectFromProtobuf(encodeObject(object))), project(object));
    });

    it(`gives the same ${object.kind} as JSON where nothing is in it`, () => {
      const bare = { kind: object.kind, metadata: { name: 'a', uid: 'u' } };
      assert.deepEqual(project(objectFromProtobuf(encodeObject(bare))), project(bare));
    });
  }

  it('reads the claims of a pod as kube-apiserver 1.36.2 writes them', () => {
    const file = new URL('../testdata/proto/pod-with-claims.b64', import.meta.url);
    const bytes = Buffer.from(readFileSync(file, 'utf8'), 'base64');
    assert.deepEqual(podFromJson(objectFromProtobuf(bytes)).claims, [
      { name: 'a', claim: 'shared', origin: 'named' },
      { name: 'b', claim: 'train-1-b-x1', origin: 'template' },
      { name: 'train-1-ext', claim: 'train-1-ext', origin: 'extended' },
    ]);
  });

  it('reads the answer to a write that asks for metadata as kube-apiserver 1.36.2 writes it', () => {
    const base64 =
      'azhzAAonCg5tZXRhLms4cy5pby92MRIVUGFydGlhbE9iamVjdE1ldGFkYXRhEkwKSgoEa2VwdBIAGgdkZWZhdWx0IgAqJDAzN' +
      'GU3YjFkLTBiNWQtNGE2MS1hNWU4LWFiNTQ4NmU5OTViODIDODY4OABCCAicyLPYBhAAGgAiAA==';
    const uid = '034e7b1d-0b5d-4a61-a5e8-ab5486e995b8';
    assert.deepEqual(objectFromProtobuf(Buffer.from(base64, 'base64')), {
      kind: 'PartialObjectMetadata',
      metadata: { name: 'kept', namespace: 'default', uid, resourceVersion: '868' },
    });
  });

  it('shows a mirror pod as JSON does', () => {
    const read = podFromJson(objectFromProtobuf(encodeObject(mirror)));
    assert.equal(read.mirror, true);
    assert.deepEqual(read, podFromJson(mirror));
    assert.equal(podFromJson(objectFromProtobuf(encodeObject(pod))).mirror, false);
  });

  it('tells texts apart, however many there are, and finds them again', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 80 })), (texts) => {
        const taints = texts.map((key) => ({ key, effect: 'NoExecute' }));
        const read = encodeObject({ kind: 'Node', spec: { taints } });
        for (let round = 0; round < 2; round++) {
          const keys = nodeFromJson(objectFromProtobuf(read)).taints.map(({ key }) => key);
          assert.deepEqual(keys, texts);
        }
      }),
    );
  });

  for (const [object, project] of cases) {
    it(`has every field of a ${object.kind} that is looked at`, () => {
      const message = protobufKinds[object.kind] ?? assert.fail();
      const { fields, maps } = fieldsOf(message);
      const paths = lookedAt(object, maps, (seen) => [project(seen), identityOf(seen)]);
      assert.ok(paths.size > 5, `${paths.size} fields`);
      assert.deepEqual(
        [...paths].filter((path) => !fields.has(path)),
        [],
      );
    });
  }

  it('leaves out what nobody looks at', () => {
    const { spec } = objectFromProtobuf(encodeObject(pod)) ?? assert.fail();
    assert.deepEqual(Object.keys(spec as object).sort(), [
      'nodeName',
      'priority',
      'priorityClassName',
      'resourceClaims',
      'terminationGracePeriodSeconds',
      'tolerations',
      'volumes',
    ]);
  });

  it('rounds numbers that JSON cannot hold as JSON.parse does', () => {
    const forEver = { tolerations: [{ tolerationSeconds: 2n ** 63n - 1n }] };
    const read = objectFromProtobuf(encodeObject({ kind: 'Pod', ...{ spec: forEver } }));
    const { tolerations } = podFromJson(read);
    assert.equal(tolerations[0]?.tolerationSeconds, JSON.parse('9223372036854775807'));
  });

  it('is null for other bytes, and never throws', () => {
    assert.equal(objectFromProtobuf(new TextEncoder().encode('{"kind":"Pod"}')), null);
    assert.equal(objectFromProtobuf(new Uint8Array()), null);
    const whole = encodeObject(pod);
    const damage = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1 }), fc.nat(whole.length), (changes, length) => {
        const bytes = whole.slice();
        for (const [at, byte] of changes) bytes[at] = byte;
        const read = objectFromProtobuf(bytes.subarray(0, length));
        podFromJson(read);
      }),
      { numRuns: 2000 },
    );
  });

  it('tells what the server refuses', () => {
    const details = {
      name: 'x',
      kind: 'pods',
      causes: [{ reason: 'FieldValueInvalid', message: 'no', field: 'spec' }],
      retryAfterSeconds: 7,
    };
    const status = { kind: 'Status', message: 'go away', reason: 'Expired', details, code: 410 };
    const collector = new AnswerCollector();
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' };
    const body = encodeObject(status);
    collector.take({ kind: 'head', id: '', status: 410, headers });
    collector.take({ kind: 'chunk', id: '', data: body.subarray(0, 10) });
    collector.take({ kind: 'chunk', id: '', data: body.subarray(10) });
    const answer = collector.take({ kind: 'end', id: '' }) ?? assert.fail();
    assert.deepEqual(failureOf(answer), {
      status: 410,
      reason: 'Expired',
      message: 'go away',
      retryAfter: 7000,
      causes: details.causes,
      name: 'x',
      kind: 'pods',
    });
  });
});

/** The paths of all fields of a message, and of those that are maps. */
function fieldsOf(message: Message): { fields: Set<string>; maps: Set<string> } {
  const [fields, maps] = [new Set<string>(), new Set<string>()];
  const walk = (inner: Message, path: string): void => {
    for (const [name, type] of Object.values(inner)) {
      const below = name === '' ? path : `${path}${path && '.'}${name}`;
      fields.add(below);
      if (type === 'wordMap') maps.add(below);
      if (type === 'words') fields.add(`${below}[]`);
      if (typeof type === 'string') continue;
      if (Array.isArray(type)) fields.add(`${below}[]`);
      walk(Array.isArray(type) ? type[0] : type, Array.isArray(type) ? `${below}[]` : below);
    }
  };
  walk(message, '');
  return { fields, maps };
}

describe('a watch in protobuf', () => {
  const bookmark = { kind: 'Pod', metadata: { resourceVersion: '9' } };
  const owned = { manager: 'kubectl-taint', fieldsV1: { 'f:spec': { 'f:taints': {} } } };
  const node = { kind: 'Node', metadata: { ...metadata, managedFields: [owned] } };
  const stream = Uint8Array.from([
    ...encodeFrame('MODIFIED', node),
    ...encodeFrame('ADDED', pod),
    ...encodeFrame('BOOKMARK', bookmark),
    ...encodeFrame('DELETED', pod),
    ...encodeFrame('ERROR', { kind: 'Status', ...{ code: 410, message: 'old' } }),
  ]);

  it('is the same however the bytes are cut', () => {
    const whole = new ProtobufWatchDecoder().push(stream);
    assert.deepEqual(
      whole.map(({ kind }) => kind),
      ['upsert', 'upsert', 'bookmark', 'delete', 'error'],
    );
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 30 }), (cuts) => {
        const decoder = new ProtobufWatchDecoder();
        const ends = [...cuts.sort((a, b) => a - b), stream.length];
        const events = ends.flatMap((end, index) =>
          decoder.push(stream.subarray(ends[index - 1] ?? 0, end)),
        );
        assert.deepEqual(events, whole);
        assert.equal(decoder.unfinished, false);
      }),
    );
  });

  it('reads of what is gone who it was, whatever else came with it', () => {
    const decoder = new ProtobufWatchDecoder();
    const damaged = (type: string): Uint8Array => {
      const frame = encodeFrame(type, pod);
      // A length in spec that goes beyond its end.
      frame[Buffer.from(frame).indexOf('Always') - 1] = 0xff;
      return frame;
    };
    const identity = identityOf(pod);
    assert.deepEqual(decoder.push(damaged('DELETED')), [{ kind: 'delete', identity }]);
    assert.equal(decoder.push(damaged('MODIFIED'))[0]?.kind, 'junk');
    const [unknown] = decoder.push(encodeFrame('DELETED', { ...pod, kind: 'ConfigMap' }));
    assert.equal(unknown?.kind, 'junk', 'a kind that is not read');
  });

  it('knows that it was broken off', () => {
    const decoder = new ProtobufWatchDecoder();
    decoder.push(stream.subarray(0, stream.length - 1));
    assert.equal(decoder.unfinished, true);
  });

  it('does not wait for an event without an end', () => {
    const decoder = new ProtobufWatchDecoder();
    const [event] = decoder.push(Uint8Array.from([0x7f, 0xff, 0xff, 0xff, 0]));
    assert.deepEqual(event, { kind: 'junk', what: 'an endless event' });
  });

  it('takes nothing else for an event', () => {
    const decoder = new ProtobufWatchDecoder();
    const [event] = decoder.push(Uint8Array.from([0, 0, 0, 3, 1, 2, 3]));
    assert.equal(event?.kind, 'junk');
    const [unknown] = decoder.push(encodeFrame('WHAT', pod));
    assert.equal(unknown?.kind, 'junk');
  });
});
