import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EvictionPause, EvictionPolicy, NodeTaintRule } from '@taintmgr/core/policy';
import { type PolicyObject, readManifest } from '../../src/kinds/manifest.ts';

const now = 1_000;

function manifest(kind: string, spec: unknown, others: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind,
    metadata: { name: 'one', ...metadata },
    ...(spec !== undefined && { spec }),
    ...others,
  };
}

function read(...given: Parameters<typeof manifest>): PolicyObject {
  const judged = readManifest(manifest(...given), now);
  assert.equal(judged.kind, 'allowed', JSON.stringify(judged));
  return judged.value;
}

describe('EvictionPolicy', () => {
  it('says all that it can', () => {
    const spec = {
      priority: 10,
      match: {
        taints: [{ key: 'example.com/*', value: '', effect: 'NoExecute' }, { key: 'maintenance' }],
        nodeSelector: { matchLabels: { pool: 'spot' } },
        namespaces: ['shop-*'],
        namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
        podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] },
        podPriority: { min: -5, max: 1000, classNames: ['low'] },
      },
      action: 'EvictThenDelete',
      minTaintAge: '1m30s',
      deleteAfter: '1h',
      gracePeriodSeconds: 30,
      defaultTolerationSeconds: 0,
      limits: [
        { per: 'Zone', podsPerSecond: 0.5, burst: 3 },
        {
          per: 'Workload',
          name: 'shop/ReplicaSet/web',
          nodeSelector: { matchLabels: { pool: 'spot' } },
          percent: 25.5,
          window: '10m',
          onLimit: 'Trip',
        },
        { per: 'Total', pods: 1, window: '1.0005s' },
      ],
    };
    const value: EvictionPolicy = {
      name: 'one',
      uid: 'u',
      generation: 3,
      priority: 10,
      match: {
        taints: [{ key: 'example.com/*', value: '', effect: 'NoExecute' }, { key: 'maintenance' }],
        nodes: { matchLabels: { pool: 'spot' } },
        namespaces: {
          names: ['shop-*'],
          selector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
        },
        pods: { matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] },
        podPriority: { min: -5, max: 1000, classes: ['low'] },
      },
      action: 'EvictThenDelete',
      minTaintAgeMs: 90_000,
      deleteAfterMs: 3_600_000,
      gracePeriodSeconds: 30,
      defaultTolerationSeconds: 0,
      limits: [
        { per: 'zone', podsPerSecond: 0.5, burst: 3, onLimit: 'queue' },
        {
          per: 'workload',
          name: 'shop/ReplicaSet/web',
          nodes: { matchLabels: { pool: 'spot' } },
          percent: 25.5,
          windowMs: 600_000,
          onLimit: 'trip',
        },
        { per: 'total', pods: 1, windowMs: 1_001, onLimit: 'queue' },
      ],
    };
    const got = read('EvictionPolicy', spec, {}, { uid: 'u', generation: 3 });
    assert.deepEqual(got, { kind: 'EvictionPolicy', value });
  });

  it('says nothing of what it leaves out', () => {
    const value: EvictionPolicy = {
      name: 'one',
      uid: '',
      generation: 0,
      priority: 0,
      match: { taints: [], nodes: null, namespaces: null, pods: null, podPriority: null },
      action: 'Keep',
      minTaintAgeMs: null,
      deleteAfterMs: null,
      gracePeriodSeconds: null,
      defaultTolerationSeconds: null,
      limits: [],
    };
    const got = read('EvictionPolicy', { action: 'Keep', match: null, limits: null });
    assert.deepEqual(got, { kind: 'EvictionPolicy', value });
  });
});

describe('NodeTaintRule', () => {
  const taint = { key: 'example.com/broken', effect: 'NoExecute' };
  const plain: NodeTaintRule = {
    name: 'one',
    uid: '',
    generation: 0,
    condition: 'KernelDeadlock',
    status: 'True',
    holdsMs: 0,
    clearMs: 0,
    taint: { ...taint, value: '' },
    nodes: {},
    nodesMax: null,
    dryRun: false,
  };
  it('has defaults', () => {
    const got = read('NodeTaintRule', { condition: { type: 'KernelDeadlock' }, taint });
    assert.deepEqual(got, { kind: 'NodeTaintRule', value: plain });
  });
  it('says all that it can', () => {
    const spec = {
      condition: { type: 'Ready', status: 'Unknown' },
      holds: '5m',
      clear: '30s',
      taint: { ...taint, value: 'yes' },
      nodeSelector: { matchLabels: { pool: 'spot' } },
      maxNodes: '07%',
      dryRun: true,
    };
    const value: NodeTaintRule = {
      ...plain,
      condition: 'Ready',
      status: 'Unknown',
      holdsMs: 300_000,
      clearMs: 30_000,
      taint: { ...taint, value: 'yes' },
      nodes: { matchLabels: { pool: 'spot' } },
      nodesMax: '7%',
      dryRun: true,
    };
    assert.deepEqual(read('NodeTaintRule', spec), { kind: 'NodeTaintRule', value });
  });
  const isRead = (key: string, effect: string): boolean => {
    const spec = { condition: { type: 'KernelDeadlock' }, taint: { key, effect } };
    return readManifest(manifest('NodeTaintRule', spec), now).kind === 'allowed';
  };
  const well = 'node.kubernetes.io';
  for (const [key, effect, expected] of [
    [`${well}/not-ready`, 'NoExecute', false],
    [`${well}/not-ready`, 'NoSchedule', false],
    [`${well}/not-ready`, 'PreferNoSchedule', true],
    [`${well}/unreachable`, 'NoExecute', false],
    [`${well}/memory-pressure`, 'NoSchedule', false],
    [`${well}/memory-pressure`, 'NoExecute', true],
    [`${well}/unschedulable`, 'NoSchedule', false],
    ['constructor', 'NoSchedule', true],
  ] as const) {
    it(`${expected ? 'may give' : 'leaves to the node-lifecycle-controller'} ${key}:${effect}`, () => {
      assert.equal(isRead(key, effect), expected);
    });
  }
});

describe('EvictionPause', () => {
  const plain: EvictionPause = {
    name: 'one',
    uid: '',
    scope: { zones: [], nodes: null, taintKeys: [], namespaces: [] },
    readiness: false,
    deadlines: true,
    reason: '',
    until: null,
    since: now,
  };
  const since = (others: object, metadata: object): number | null => {
    const got = read('EvictionPause', undefined, others, metadata);
    return got.kind === 'EvictionPause' ? got.value.since : null;
  };
  it('holds everything where it says nothing', () => {
    assert.deepEqual(read('EvictionPause', undefined), { kind: 'EvictionPause', value: plain });
    assert.deepEqual(read('EvictionPause', {}), { kind: 'EvictionPause', value: plain });
  });
  it('says all that it can', () => {
    const spec = {
      scope: {
        zones: ['eu/a'],
        nodeSelector: {},
        taintKeys: ['example.com/broken'],
        namespaces: ['shop'],
      },
      readiness: true,
      deadlines: false,
      reason: 'network work',
      until: '1970-01-01t01:00:00.1234567891z',
    };
    const value: EvictionPause = {
      ...plain,
      scope: {
        zones: ['eu/a'],
        nodes: {},
        taintKeys: ['example.com/broken'],
        namespaces: ['shop'],
      },
      readiness: true,
      deadlines: false,
      reason: 'network work',
      until: 3_600_123,
    };
    assert.deepEqual(read('EvictionPause', spec), { kind: 'EvictionPause', value });
  });
  it('began when the leader says, or when it was made', () => {
    const created = { creationTimestamp: '1970-01-01T00:00:10Z' };
    assert.equal(since({}, created), 10_000);
    const status = { since: '1970-01-01T00:00:20Z', fieldOfTheFuture: 1 };
    assert.equal(since({ status }, created), 20_000);
    assert.equal(since({ status: { since: 'yesterday' } }, created), 10_000);
  });
});

describe('NodeDrain and TaintManager', () => {
  it('are read as they are written', () => {
    const drain = read('NodeDrain', { nodes: ['n'], taint: { key: 'maintenance' } });
    assert.deepEqual(drain, {
      kind: 'NodeDrain',
      value: {
        name: 'one',
        uid: '',
        generation: 0,
        created: null,
        isDeleted: false,
        isGuarded: false,
        spec: {
          nodes: ['n'],
          taint: { key: 'maintenance', value: '', effect: 'NoSchedule' },
          paused: false,
          laterNodes: 'Leave',
          maintenancePlanned: 'Ignore',
          cordon: 'AtTurn',
          tolerations: 'Respect',
          pods: {
            withoutController: false,
            withEmptyDir: false,
            order: 'Together',
            singleReplicas: 'Evict',
            evictBy: 'EvictionAPI',
          },
          budgets: { policy: 'Respect' },
          order: 'Listed',
          limits: { nodesAtOnce: 1, heldUpNodes: 1, podsAtOnce: 0 },
          timeouts: { rollout: 600_000 },
          onFailure: 'KeepTaint',
          heeds: {},
          nodeConditions: 'Ignore',
          whileClosed: 'FinishNodes',
        },
        known: [],
        knowsAll: true,
        podsLeft: [],
        podsGoneBefore: 0,
        volumeWaits: [],
        notReplaced: [],
        startedAt: null,
        observedGeneration: null,
        observedSelector: null,
        isOver: false,
      },
    });
    const status = { leader: 'pod-1', settings: { mode: 'evict' }, counts: { nodes: 3 } };
    assert.deepEqual(read('TaintManager', undefined, { status }), {
      kind: 'TaintManager',
      value: { name: 'one', uid: '', status },
    });
    assert.deepEqual(read('TaintManager', undefined), {
      kind: 'TaintManager',
      value: { name: 'one', uid: '', status: null },
    });
  });
});

describe('the time that a node of a NodeDrain may take', () => {
  const cases: readonly (readonly [string, number | null])[] = [
    ['0', 0],
    ['0s', 0],
    ['0.001ms', 1],
    ['10m', 600_000],
  ];
  for (const [node, millis] of cases) {
    it(`${node}: ${millis} ms`, () => {
      const spec = { nodes: ['n'], taint: { key: 'maintenance' }, timeouts: { node } };
      const object = read('NodeDrain', spec);
      assert.equal(object.kind === 'NodeDrain' && object.value.spec.timeouts.node, millis);
    });
  }
});

describe('what no kind has', () => {
  const faultsOf = (manifest: unknown): readonly string[] => {
    const judged = readManifest(manifest, now);
    return judged.kind === 'refused' ? judged.faults.map(({ text }) => text) : [];
  };
  const apiVersion = 'taintmgr.dev/v1alpha1';
  const sound = { apiVersion, kind: 'EvictionPause', metadata: { name: 'one' } };
  const want =
    'want EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain, TaintManager of taintmgr.dev/v1alpha1';
  const oldGrammar =
    'got policies without kind and apiVersion, want an EvictionPolicy of taintmgr.dev/v1alpha1 for each: key, value ' +
    'and effect are in spec.match.taints, mode is spec.action (Delete, Evict, EvictThenDelete), ' +
    'settle is spec.minTaintAge, the others are in spec';
  const cases: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['nothing', null, [`got no kind and no apiVersion, ${want}`]],
    ['a list', [], [`got no kind and no apiVersion, ${want}`]],
    ...[
      { key: 'spot', settle: '10m' },
      [{ key: 'spot', mode: 'evict' }],
      { policies: [{ key: 'spot' }] },
      { eviction: { policies: [{ mode: 'evict' }] } },
    ].map((old) => ['the old grammar', old, [oldGrammar]] as const),
    ['no policy at all', { policies: [], replicas: 1 }, [`got no kind and no apiVersion, ${want}`]],
    [
      'another kind',
      { apiVersion, kind: 'Pause' },
      [`got kind "Pause" of "${apiVersion}", ${want}`],
    ],
    [
      'another version',
      { ...sound, apiVersion: 'taintmgr.dev/v1' },
      [`got kind "EvictionPause" of "taintmgr.dev/v1", ${want}`],
    ],
    ['a field beside spec', { ...sound, specs: {} }, ['unknown field "specs"']],
    [
      'a TaintManager with a spec',
      { ...sound, kind: 'TaintManager', spec: {} },
      ['unknown field "spec"'],
    ],
    [
      'no name',
      { ...sound, metadata: {} },
      ['metadata.name: Required value: name or generateName is required'],
    ],
    [
      'a name that is too long',
      { ...sound, metadata: { name: 'a'.repeat(254) } },
      [`metadata.name: Invalid value: "${'a'.repeat(254)}": must be no more than 253 bytes`],
    ],
    [
      'a member of every object',
      { ...sound, spec: { toString: 1 } },
      ['unknown field "spec.toString"'],
    ],
    [
      'a prototype',
      { ...sound, spec: JSON.parse('{"__proto__":{"readiness":true}}') },
      ['unknown field "spec.__proto__"'],
    ],
  ];
  for (const [name, manifest, says] of cases) {
    it(name, () => assert.deepEqual(faultsOf(manifest), says));
  }
  it('a bad name', () => {
    const [text = ''] = faultsOf({ ...sound, metadata: { name: 'Bad_Name' } });
    assert.match(
      text,
      /^metadata\.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain/,
    );
  });
  it('all that is wrong is said at once', () => {
    const spec = { action: 'Evict', priority: -2000000, settle: '1m', match: { taints: [] } };
    assert.deepEqual(faultsOf({ ...sound, kind: 'EvictionPolicy', spec }), [
      'unknown field "spec.settle"',
      'spec.priority: Invalid value: -2000000: spec.priority in body should be greater than or equal to -1000000',
      'spec.match.taints: Invalid value: 0: spec.match.taints in body should have at least 1 items',
    ]);
  });
});
