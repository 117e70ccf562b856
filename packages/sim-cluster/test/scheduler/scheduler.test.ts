import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { deployment, node, pod, toleration } from '../../src/builders.ts';
import { conditionOf } from '../../src/controllers/pods.ts';
import type { Json, OwnerReference } from '../../src/objects/kube-object.ts';
import { milliQuantity } from '../../src/objects/quantity.ts';
import { untolerated } from '../../src/objects/tolerations.ts';
import { onlyNode } from '../../src/scheduler/node-affinity.ts';
import {
  placesOf,
  setSpec,
  setTaints,
  small,
  stored,
  virtualCluster,
} from '../world/virtual-cluster.ts';

/**
 * A cluster without kubelets: nodes are objects only, and pods stay where they are bound, also those of
 * owners that are not there.
 */
function bareCluster(...names: readonly string[]) {
  const running = virtualCluster({ topology: small([]), without: ['garbageCollection'] });
  for (const name of names) addNode(running.api, name);
  running.pass(0);
  return running;
}

function addNode(api: PlainServer, name: string, cpu = '4', labels = {}): void {
  const resources = { cpu, memory: '16Gi', pods: '3' };
  api.create('nodes', node(name, { labels, status: { allocatable: resources } }));
}

function addPod(
  api: PlainServer,
  name: string,
  spec: { readonly [field: string]: Json } = {},
  metadata: { readonly ownerReferences?: readonly OwnerReference[] } = {},
): void {
  const made = pod('default', name, { spec: { ...pod('', name).spec, ...spec } });
  api.create('pods', { ...made, metadata: { ...made.metadata, ...metadata } });
}

/** Metadata of pods that have one owner. */
const owned = {
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u-web', controller: true },
  ],
};

/** By then pods that fitted nowhere have been looked at again. */
const retriedMs = 1000;

const nodeOf = (api: PlainServer, name: string): string =>
  stored(api, 'pods', 'default', name).spec.nodeName ?? 'nowhere';

const reasonOf = (api: PlainServer, name: string): string | undefined =>
  conditionOf(stored(api, 'pods', 'default', name), 'PodScheduled')?.message;

describe('the scheduler', () => {
  it('spreads the pods of a workload over zones and then over nodes', () => {
    const topology = {
      ...small(['a', 'b', 'c'], [deployment('default', 'web', { replicas: 6 })]),
      nodesPerZone: 2,
    };
    const { api, untilIdle } = virtualCluster({ topology });
    untilIdle();
    assert.deepEqual(placesOf(api, 'web'), ['a-1', 'a-2', 'b-1', 'b-2', 'c-1', 'c-2']);
  });

  it('puts pods where the fewest are, the first node in order when that is equal', () => {
    const { api, pass } = bareCluster('n-2', 'n-1');
    for (const name of ['p-1', 'p-2', 'p-3']) addPod(api, name);
    pass(0);
    assert.deepEqual(
      ['p-1', 'p-2', 'p-3'].map((name) => nodeOf(api, name)),
      ['n-1', 'n-2', 'n-1'],
    );
  });

  const obstacles: readonly (readonly [
    name: string,
    obstruct: (api: PlainServer) => void,
    spec: { readonly [field: string]: Json },
    message: string,
  ])[] = [
    [
      'a NoSchedule taint',
      (api) => setTaints(api, 'n-1', 'k=v:NoSchedule'),
      { tolerations: [{ key: 'k', value: 'w' }] },
      '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
    ],
    [
      'a NoExecute taint',
      (api) => setTaints(api, 'n-1', 'k=v:NoExecute'),
      {},
      '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
    ],
    [
      'a cordon',
      (api) => setSpec(api, 'nodes', stored(api, 'nodes', '', 'n-1'), { unschedulable: true }),
      {},
      '0/1 nodes are available: 1 node(s) were unschedulable.',
    ],
    [
      'a node that is not Ready',
      (api) => {
        const found = stored(api, 'nodes', '', 'n-1');
        const conditions = [{ type: 'Ready', status: 'Unknown' }];
        api.update('nodes', { ...found, status: { ...found.status, conditions } }, 'status');
      },
      {},
      '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
    ],
    [
      'a node selector',
      () => {},
      { nodeSelector: { disk: 'fast' } },
      "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
    ],
    [
      'requests that are too large',
      () => {},
      { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '4001m' } } }] },
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
    [
      'a full node',
      (api) => {
        for (const name of ['f-1', 'f-2', 'f-3']) addPod(api, name, { nodeName: 'n-1' });
      },
      {},
      '0/1 nodes are available: 1 Too many pods.',
    ],
  ];
  for (const [name, obstruct, spec, message] of obstacles) {
    it(`is stopped by ${name}, says so, and binds to a node without it`, () => {
      const { api, pass } = bareCluster('n-1');
      obstruct(api);
      addPod(api, 'p', spec);
      pass(0);
      assert.equal(nodeOf(api, 'p'), 'nowhere');
      const condition = conditionOf(stored(api, 'pods', 'default', 'p'), 'PodScheduled');
      assert.equal(condition?.reason, 'Unschedulable');
      assert.equal(condition?.message, message);
      addNode(api, 'n-2', '8', { disk: 'fast' });
      pass(1000);
      assert.equal(nodeOf(api, 'p'), 'n-2');
    });
  }

  it('says that there are no nodes, and writes the same refusal once', () => {
    const { api, pass } = bareCluster();
    addPod(api, 'p');
    pass(0);
    assert.equal(reasonOf(api, 'p'), 'no nodes available to schedule pods');
    const { resourceVersion } = stored(api, 'pods', 'default', 'p').metadata;
    pass(60_000);
    assert.equal(stored(api, 'pods', 'default', 'p').metadata.resourceVersion, resourceVersion);
  });

  it('tries again when a pod leaves and when the pod itself changes', () => {
    const { api, pass } = bareCluster('n-1');
    for (const name of ['f-1', 'f-2', 'f-3']) addPod(api, name, { nodeName: 'n-1' });
    addPod(api, 'p');
    pass(2000);
    assert.equal(nodeOf(api, 'p'), 'nowhere');
    api.delete('pods', 'default', 'f-2', { gracePeriodSeconds: 0 });
    pass(1000);
    assert.equal(nodeOf(api, 'p'), 'n-1');
    api.delete('pods', 'default', 'f-1', { gracePeriodSeconds: 0 });
    setTaints(api, 'n-1', 'k:NoSchedule');
    addPod(api, 'q');
    pass(2000);
    assert.equal(nodeOf(api, 'q'), 'nowhere');
    const waiting = stored(api, 'pods', 'default', 'q');
    const tolerations = [...waiting.spec.tolerations, toleration('k:NoSchedule')];
    setSpec(api, 'pods', waiting, { tolerations });
    pass(0);
    assert.equal(nodeOf(api, 'q'), 'n-1');
  });

  it('gives away the room of a pod that is to go once it has ended', () => {
    const { api, pass } = bareCluster('n-1');
    for (const name of ['f-1', 'f-2', 'f-3', 'p']) addPod(api, name);
    pass(0);
    assert.equal(nodeOf(api, 'p'), 'nowhere');
    api.delete('pods', 'default', 'f-1');
    pass(retriedMs);
    assert.equal(nodeOf(api, 'p'), 'nowhere', 'it runs on');
    const ending = stored(api, 'pods', 'default', 'f-1');
    api.update('pods', { ...ending, status: { ...ending.status, phase: 'Failed' } }, 'status');
    pass(retriedMs);
    assert.equal(nodeOf(api, 'p'), 'n-1');
  });

  it('does not count a pod that is to go when it spreads those of its owner', () => {
    const { api, pass } = bareCluster('n-1', 'n-2');
    for (const [name, nodeName] of [
      ['u-1', 'n-2'],
      ['u-2', 'n-2'],
      ['web-1', 'n-1'],
    ] as const) {
      addPod(api, name, { nodeName }, name === 'web-1' ? owned : {});
    }
    api.delete('pods', 'default', 'web-1');
    addPod(api, 'web-2', {}, owned);
    pass(0);
    assert.equal(nodeOf(api, 'web-2'), 'n-1', 'where the fewest pods are');
  });

  it('looks at zones before it looks at nodes', () => {
    const { api, pass } = bareCluster();
    const zone = 'topology.kubernetes.io/zone';
    for (const [name, inZone] of [
      ['a-1', 'a'],
      ['a-2', 'a'],
      ['b-1', 'b'],
    ] as const) {
      addNode(api, name, '4', { [zone]: inZone });
    }
    pass(0);
    const names = ['p-1', 'p-2', 'p-3', 'p-4'];
    for (const name of names) addPod(api, name, {}, owned);
    pass(0);
    const places = names.map((name) => nodeOf(api, name));
    assert.deepEqual(places, ['a-1', 'b-1', 'a-2', 'b-1']);
  });

  it('forgets the pods of one owner when it places the next', () => {
    const { api, pass } = bareCluster('n-1', 'n-2');
    addPod(api, 'web-1', { nodeName: 'n-1' }, owned);
    addPod(api, 'u-1', { nodeName: 'n-2' });
    pass(0);
    addPod(api, 'web-2', {}, owned);
    addPod(api, 'bare');
    pass(0);
    assert.deepEqual([nodeOf(api, 'web-2'), nodeOf(api, 'bare')], ['n-2', 'n-1']);
  });

  it('binds nothing to a node that is gone', () => {
    const { api, pass } = bareCluster('n-1', 'n-2');
    addPod(api, 'p-1');
    pass(0);
    assert.equal(nodeOf(api, 'p-1'), 'n-1');
    api.delete('nodes', '', 'n-1');
    for (const name of ['p-2', 'p-3']) addPod(api, name);
    pass(0);
    assert.deepEqual([nodeOf(api, 'p-2'), nodeOf(api, 'p-3')], ['n-2', 'n-2']);
  });

  it('leaves pods with gates and those of other schedulers alone', () => {
    const { api, pass } = bareCluster('n-1');
    addPod(api, 'gated', { schedulingGates: [{ name: 'wait' }] });
    addPod(api, 'other', { schedulerName: 'mine' });
    pass(5000);
    assert.equal(nodeOf(api, 'gated'), 'nowhere');
    assert.equal(nodeOf(api, 'other'), 'nowhere');
  });
});

describe('tolerating', () => {
  const cases: readonly (readonly [string, object, boolean])[] = [
    ['equal value', { key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute' }, true],
    ['no operator means Equal', { key: 'k', value: 'v' }, true],
    ['other value', { key: 'k', value: 'w' }, false],
    ['Exists', { key: 'k', operator: 'Exists' }, true],
    ['everything', { operator: 'Exists' }, true],
    ['other effect', { key: 'k', operator: 'Exists', effect: 'NoSchedule' }, false],
    ['other key', { key: 'l', operator: 'Exists' }, false],
    ['unknown operator', { key: 'k', operator: 'exists' }, false],
    ['unknown operator, same value', { key: 'k', operator: 'equal', value: 'v' }, false],
    ['operator whose gate is off', { key: 'k', operator: 'Gt', value: 'v' }, false],
  ];
  for (const [name, toleration, expected] of cases) {
    it(name, () => {
      const taint = { key: 'k', value: 'v', effect: 'NoExecute' };
      assert.equal(untolerated([taint], [toleration], ['NoExecute']) === null, expected);
    });
  }
});

it('an empty value is the one of a taint without a value', () => {
  const tolerates = (value: string | undefined, other: string | undefined): boolean => {
    const taint = {
      key: 'k',
      effect: 'NoExecute',
      ...(other === undefined ? {} : { value: other }),
    };
    const toleration = { key: 'k', ...(value === undefined ? {} : { value }) };
    return untolerated([taint], [toleration], ['NoExecute']) === null;
  };
  assert.deepEqual(
    [tolerates('', undefined), tolerates(undefined, ''), tolerates(undefined, 'v')],
    [true, true, false],
  );
});

describe('quantities in thousandths', () => {
  const cases: readonly (readonly [string | undefined, number])[] = [
    ['250m', 250],
    ['4', 4000],
    ['0.5', 500],
    ['1Ki', 1_024_000],
    ['1G', 1e12],
    ['2e3', 2_000_000],
    ['much', 0],
    [undefined, 0],
  ];
  for (const [text, expected] of cases) {
    it(`${text}`, () => assert.equal(milliQuantity(text), expected));
  }
});

describe('the only node of an affinity', () => {
  const required = (...nodeSelectorTerms: readonly object[]) => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    },
  });
  const byName = (...values: readonly string[]) => ({
    matchFields: [{ key: 'metadata.name', operator: 'In', values }],
  });
  it('is the one that is named', () => assert.equal(onlyNode(required(byName('n'))), 'n'));
  it('is none of several', () => assert.equal(onlyNode(required(byName('n', 'm'))), null));
  it('is none with another way in', () =>
    assert.equal(onlyNode(required(byName('n'), { matchExpressions: [] })), null));
  it('is none without affinity', () => assert.equal(onlyNode({}), null));
});
