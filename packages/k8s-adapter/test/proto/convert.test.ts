import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '@taintmgr/core';
import { budgetFromJson, identityOf, nodeFromJson, podFromJson } from '../../src/proto/convert.ts';
import { readWatchEvent } from '../../src/proto/watch-decoder.ts';
import { fc } from '../world/fast-check.ts';

const pod = {
  metadata: {
    namespace: 'shop',
    name: 'web-0',
    uid: 'u-1',
    resourceVersion: '17',
    generation: 3,
    deletionTimestamp: '2026-01-02T03:04:05Z',
    annotations: { 'kubernetes.io/config.mirror': 'abc' },
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Other', name: 'x' },
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'r', controller: true },
    ],
  },
  spec: {
    nodeName: 'n1',
    tolerations: [
      { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { operator: 'Exists' },
    ],
    volumes: [
      { name: 'c', configMap: {} },
      { name: 't', emptyDir: {} },
    ],
  },
  status: {
    phase: 'Running',
    startTime: '2026-01-01T00:00:09Z',
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:30Z' },
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' },
    ],
  },
};

describe('podFromJson', () => {
  it('keeps what decisions need', () => {
    assert.deepEqual(podFromJson(pod), {
      namespace: 'shop',
      name: 'web-0',
      uid: 'u-1',
      nodeName: 'n1',
      tolerations: [
        { key: 'a', operator: 'Exists', value: '', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: '', operator: 'Exists', value: '', effect: '', tolerationSeconds: null },
      ],
      boundAt: Date.parse('2026-01-01T00:00:05Z'),
      deletionTimestamp: Date.parse('2026-01-02T03:04:05Z'),
      phase: 'Running',
      generation: 3,
      mirror: false,
      owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web' },
      hasEmptyDir: true,
      gracePeriodSeconds: 30,
      optedOut: false,
      ready: 'True',
    });
  });

  const itsNode = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u', controller: true };
  const marked = { 'kubernetes.io/config.mirror': 'abc' };
  const mirrors: [string, boolean, object, readonly object[]][] = [
    ['its node controls it, as a kubelet makes it', true, marked, [itsNode]],
    ['nobody controls it, as anybody may make it', false, marked, []],
    ['another node controls it', false, marked, [{ ...itsNode, name: 'n2' }]],
    [
      'its node owns it and does not control it',
      false,
      marked,
      [{ ...itsNode, controller: false }],
    ],
    ['a Node of another group controls it', false, marked, [{ ...itsNode, apiVersion: 'a/v1' }]],
    ['its node controls it and it has no mark', false, {}, [itsNode]],
  ];
  for (const [name, mirror, annotations, ownerReferences] of mirrors) {
    it(`takes a pod for the mirror of a static pod: ${mirror}, where ${name}`, () => {
      const metadata = { ...pod.metadata, annotations, ownerReferences };
      assert.equal(podFromJson({ ...pod, metadata }).mirror, mirror);
    });
  }

  it('reads nothing as a pod with nothing', () => {
    const empty = podFromJson(null);
    assert.deepEqual(empty.tolerations, []);
    assert.deepEqual(
      [empty.boundAt, empty.deletionTimestamp, empty.owner, empty.mirror, empty.hasEmptyDir],
      [null, null, null, false, false],
    );
  });

  const seconds: [string, unknown, number | null][] = [
    ['0', 0, 0],
    ['negative', -5, -5],
    ['absent', undefined, null],
    ['null', null, null],
    ['2^63-1', JSON.parse('9223372036854775807'), 2 ** 63],
    ['-2^63', JSON.parse('-9223372036854775808'), -(2 ** 63)],
    ['beyond every number', JSON.parse('1e999'), 2 ** 63],
    ['a fraction', 1.9, 1],
    ['a string', '300', null],
  ];
  for (const [name, value, expected] of seconds) {
    it(`tolerationSeconds ${name}`, () => {
      const read = podFromJson({ spec: { tolerations: [{ tolerationSeconds: value }] } });
      assert.equal(read.tolerations[0]?.tolerationSeconds, expected);
    });
  }

  const started = '2026-01-01T00:00:09Z';
  const bound = '2026-01-01T00:00:05Z';
  const bindings: [string, object, string | null][] = [
    ['scheduled', condition('True', bound), bound],
    ['not scheduled', condition('False', bound), started],
    ['scheduled at no time', condition('True', null), started],
    ['scheduled at nonsense', condition('True', 'soon'), started],
    ['no condition', {}, started],
    ['nothing at all', { startTime: 5 }, null],
  ];
  for (const [name, status, expected] of bindings) {
    it(`boundAt: ${name}`, () => {
      const { boundAt } = podFromJson({ status: { startTime: started, ...status } });
      assert.equal(boundAt, expected === null ? null : Date.parse(expected));
    });
  }

  it('boundAt: never before it was created, as a kubelet with a slow clock has it', () => {
    const created = { metadata: { creationTimestamp: '2026-01-01T01:00:00Z' } };
    const { boundAt } = podFromJson({ ...created, status: { startTime: started } });
    assert.equal(boundAt, Date.parse('2026-01-01T01:00:00Z'));
  });

  function condition(status: string, lastTransitionTime: string | null): object {
    return { conditions: [{ type: 'PodScheduled', status, lastTransitionTime }] };
  }
});

describe('nodeFromJson', () => {
  it('keeps name, uid and taints', () => {
    const taints = [
      { key: 'a', value: 'v', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' },
      { key: 'b', effect: 'NoSchedule' },
    ];
    assert.deepEqual(nodeFromJson({ metadata: { name: 'n', uid: 'u' }, spec: { taints } }), {
      name: 'n',
      uid: 'u',
      taints: [
        { key: 'a', value: 'v', effect: 'NoExecute', timeAdded: Date.parse('2026-01-01') },
        { key: 'b', value: '', effect: 'NoSchedule', timeAdded: null },
      ],
      labels: {},
      zone: '',
      unschedulable: false,
      createdAt: null,
      conditions: [],
      deadline: null,
      taintsWrittenAt: null,
    });
  });

  it('reads which drains are at work', () => {
    const drainsOf = (annotation: unknown): Node['drains'] => {
      const text = typeof annotation === 'string' ? annotation : JSON.stringify(annotation);
      return nodeFromJson({ metadata: { annotations: { 'taintmgr.dev/drain': text } } }).drains;
    };
    const mark = { id: 'd1', taint: 'a:NoExecute', by: 'ann', heartbeat: '2026-01-01T00:00:00Z' };
    const other = { id: 'd2', taint: 'a:NoExecute', by: '', heartbeat: 'x' };
    const many = Array.from({ length: 99 }, (_, index) => ({
      ...mark,
      taint: `t${index}:NoExecute`,
    }));
    const cases: [string, unknown, number][] = [
      ['a drain at work, with what it has set', [{ ...mark, tainted: true, cordoned: true }], 1],
      ['one that has ended', [{ id: 'd1', taint: 'a:NoExecute', tainted: true }], 0],
      ['of two of one taint the first', [mark, other], 1],
      ['no list', mark, 0],
      ['broken JSON', '[{', 0],
      ['names that are too long', [{ ...mark, by: 'x'.repeat(254) }], 0],
      ['too many', many, 10],
      ['other types', [null, 1, { ...mark, heartbeat: 7 }], 0],
    ];
    for (const [name, annotation, count] of cases) {
      assert.equal(drainsOf(annotation)?.length ?? 0, count, name);
    }
    assert.deepEqual(drainsOf([{ ...mark, tainted: true }, other]), [mark]);
  });

  it('reads the zone from the topology labels', () => {
    const region = { 'topology.kubernetes.io/region': 'eu' };
    const zone = { 'topology.kubernetes.io/zone': 'eu-1' };
    const zoneOf = (labels: object) => nodeFromJson({ metadata: { labels } }).zone;
    const both = { ...region, ...zone };
    assert.deepEqual([both, zone, region, {}].map(zoneOf), ['eu/eu-1', 'eu-1', 'eu', '']);
  });

  const annotations: readonly [string, object, object][] = [
    [
      'the end of the machine',
      { 'taintmgr.dev/deadline': '2026-01-01T00:00:00Z' },
      { deadline: Date.parse('2026-01-01') },
    ],
    ['no time', { 'taintmgr.dev/deadline': 'tomorrow' }, { deadline: null }],
    ['left alone', { 'karpenter.sh/do-not-disrupt': 'true' }, { doNotDisrupt: true }],
  ];
  for (const [name, given, expected] of annotations) {
    it(`reads our annotations: ${name}`, () => {
      const node = nodeFromJson({ metadata: { annotations: given } });
      assert.deepEqual({ ...node, ...expected }, node);
    });
  }

  it('reads what a pod asks for', () => {
    const read = (value: string) =>
      podFromJson({ metadata: { annotations: { 'taintmgr.dev/evict': value } } }).optedOut;
    assert.deepEqual(['false', 'true', ''].map(read), [true, false, false]);
    const asks = (annotations: object) => podFromJson({ metadata: { annotations } });
    const safe = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
    assert.equal(asks({ [safe]: 'false' }).unsafeToEvict, true);
    assert.equal(asks({ [safe]: 'true' }).unsafeToEvict, undefined);
    assert.equal(asks({ 'karpenter.sh/do-not-disrupt': 'true' }).doNotDisrupt, true);
    assert.equal(asks({ 'karpenter.sh/do-not-disrupt': 'false' }).doNotDisrupt, undefined);
    const grace = { spec: { terminationGracePeriodSeconds: 600 } };
    assert.equal(podFromJson(grace).gracePeriodSeconds, 600);
  });
});

it('reads a Date that is none as no time', () => {
  const metadata = { deletionTimestamp: new Date('x') };
  assert.equal(podFromJson({ metadata }).deletionTimestamp, null);
});

describe('whatever comes', () => {
  const anything = fc.oneof(fc.anything(), fc.jsonValue());
  const spoilt = fc.record({
    metadata: fc.oneof(
      anything,
      fc.dictionary(fc.constantFrom(...Object.keys(pod.metadata)), anything),
    ),
    spec: fc.oneof(
      anything,
      fc.dictionary(fc.constantFrom(...Object.keys(pod.spec), 'taints'), anything),
    ),
    status: fc.oneof(
      anything,
      fc.dictionary(fc.constantFrom(...Object.keys(pod.status)), anything),
    ),
  });

  it('is read without an exception, into values of the right types', () => {
    fc.assert(
      fc.property(fc.oneof(anything, spoilt), (value) => {
        const read = podFromJson(value);
        for (const text of [read.namespace, read.name, read.uid, read.nodeName, read.phase]) {
          assert.equal(typeof text, 'string');
        }
        assert.ok(Number.isSafeInteger(read.generation));
        assert.ok(read.boundAt === null || Number.isSafeInteger(read.boundAt));
        for (const { tolerationSeconds } of read.tolerations) {
          assert.ok(tolerationSeconds === null || Number.isInteger(tolerationSeconds));
        }
        assert.ok(Array.isArray(nodeFromJson(value).taints));
        const identity = identityOf(value);
        assert.ok(identity === null || identity.uid !== '');
      }),
    );
  });

  it('is read as a line of a watch without an exception', () => {
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({
          type: fc.constantFrom('ADDED', 'DELETED', 'BOOKMARK', 'ERROR', 'X'),
          object: fc.jsonValue(),
        })
        .map((event) => JSON.stringify(event)),
    );
    fc.assert(fc.property(line, (text) => void readWatchEvent(text)));
  });
});

describe('a budget', () => {
  it('has its numbers as of its latest specification or an earlier one', () => {
    const owner = { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', name: 'db' };
    const ownerReferences = [{ ...owner, uid: 'u', controller: false }];
    const managedFields = [
      { manager: 'longhorn-manager', operation: 'Update' },
      { manager: 'kube-controller-manager', subresource: 'status' },
    ];
    const names = { name: 'web', namespace: 'shop', generation: 2 };
    const metadata = { ...names, ownerReferences, managedFields };
    const status = {
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptedPods: { 'web-0': '2026-01-01T00:00:00Z' },
      observedGeneration: 2,
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'R', message: 'm' }],
    };
    const selector = { matchLabels: { app: 'web' } };
    const unhealthyPodEvictionPolicy = 'AlwaysAllow';
    assert.deepEqual(
      budgetFromJson({ metadata, spec: { selector, unhealthyPodEvictionPolicy }, status }),
      {
        namespace: 'shop',
        name: 'web',
        selector: { ...selector, matchExpressions: [] },
        allowed: 0,
        healthy: 1,
        desired: 2,
        expected: 3,
        unconfirmed: 1,
        upToDate: true,
        alwaysEvictUnhealthy: true,
        refusal: { reason: 'R', message: 'm' },
        owners: [owner],
        writers: ['longhorn-manager'],
      },
    );
    assert.equal(budgetFromJson({ metadata }).upToDate, false);
    assert.equal(budgetFromJson({ metadata }).selector, null);
  });
});
