import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { deployment, node, pod, toleration } from '../../src/builders.ts';
import { conditionOf } from '../../src/controllers/pods.ts';
import type { Json, ObjectMeta } from '../../src/objects/kube-object.ts';
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
  metadata: Partial<ObjectMeta> = {},
): void {
  const made = pod('default', name, { spec: { ...pod('', name).spec, ...spec } });
  api.create('pods', { ...made, metadata: { ...made.metadata, ...metadata } });
}

const roomy = { cpu: '64', memory: '256Gi', pods: '100' };

/** Metadata of pods that have one owner. */
const owned = {
  ownerReferences: [
    { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u-web', controller: true },
  ],
};

/** By then pods that fitted nowhere have been looked at again. */
const retriedMs = 0;

const nodeOf = (api: PlainServer, name: string): string =>
  stored(api, 'pods', 'default', name).spec.nodeName ?? 'nowhere';

const noClaims = 'no new claims to deallocate';
const notHelpful = 'Preemption is not helpful for scheduling';
const noVictims = 'No preemption victims found for incoming pod';

const eventsOf = (api: PlainServer, reason: string): readonly string[] =>
  api.list('events').flatMap((event) => (event.reason === reason ? event.message : []));

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

  it('puts pods where the most room is', () => {
    const { api, pass } = bareCluster('n-2', 'n-1');
    for (const name of ['p-1', 'p-2']) addPod(api, name);
    pass(0);
    assert.deepEqual(['p-1', 'p-2'].map((name) => nodeOf(api, name)).sort(), ['n-1', 'n-2']);
  });

  const obstacles: readonly (readonly [
    name: string,
    obstruct: (api: PlainServer) => void,
    spec: { readonly [field: string]: Json },
    message: string,
    preemption: string,
  ])[] = [
    [
      'a NoSchedule taint',
      (api) => setTaints(api, 'n-1', 'k=v:NoSchedule'),
      { tolerations: [{ key: 'k', value: 'w' }] },
      '1 node(s) had untolerated taint(s)',
      notHelpful,
    ],
    [
      'a NoExecute taint',
      (api) => setTaints(api, 'n-1', 'k=v:NoExecute'),
      {},
      '1 node(s) had untolerated taint(s)',
      notHelpful,
    ],
    [
      'a cordon',
      (api) => setSpec(api, 'nodes', stored(api, 'nodes', '', 'n-1'), { unschedulable: true }),
      {},
      '1 node(s) were unschedulable',
      notHelpful,
    ],
    [
      'a node that is not Ready',
      (api) => {
        const found = stored(api, 'nodes', '', 'n-1');
        const conditions = [{ type: 'Ready', status: 'Unknown' }];
        api.update('nodes', { ...found, status: { ...found.status, conditions } }, 'status');
      },
      {},
      '1 node(s) had untolerated taint(s)',
      notHelpful,
    ],
    [
      'a node selector',
      () => {},
      { nodeSelector: { disk: 'fast' } },
      "1 node(s) didn't match Pod's node affinity/selector",
      notHelpful,
    ],
    [
      'requests that are too large',
      () => {},
      { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '4001m' } } }] },
      '1 Insufficient cpu',
      notHelpful,
    ],
    [
      'a full node',
      (api) => {
        for (const name of ['f-1', 'f-2', 'f-3']) addPod(api, name, { nodeName: 'n-1' });
      },
      {},
      '1 Too many pods',
      noVictims,
    ],
  ];
  for (const [name, obstruct, spec, message, preemption] of obstacles) {
    it(`is stopped by ${name}, says so, and binds to a node without it`, () => {
      const { api, pass } = bareCluster('n-1');
      obstruct(api);
      addPod(api, 'p', spec);
      pass(0);
      assert.equal(nodeOf(api, 'p'), 'nowhere');
      const condition = conditionOf(stored(api, 'pods', 'default', 'p'), 'PodScheduled');
      assert.equal(condition?.reason, 'Unschedulable');
      const text = `0/1 nodes are available: ${message}. ${noClaims}, preemption: 0/1 nodes are available: 1 ${preemption}.`;
      assert.equal(condition?.message, text);
      assert.deepEqual(eventsOf(api, 'FailedScheduling'), [text]);
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
    pass(retriedMs);
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

  it('spreads the pods of a Service over zones more than over nodes', () => {
    const { api, pass } = bareCluster();
    const zone = 'topology.kubernetes.io/zone';
    for (const [name, inZone] of [
      ['a-1', 'a'],
      ['a-2', 'a'],
      ['b-1', 'b'],
    ] as const) {
      const labels = { [zone]: inZone, 'kubernetes.io/hostname': name };
      api.create('nodes', node(name, { labels, status: { allocatable: roomy } }));
    }
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
    api.create('services', { metadata: { name: 'web', namespace: 'default' }, spec });
    pass(0);
    const names = ['p-1', 'p-2', 'p-3', 'p-4'];
    for (const name of names) addPod(api, name, {}, { labels: { app: 'web' } });
    pass(0);
    const places = names.map((name) => nodeOf(api, name)[0]).sort();
    assert.deepEqual(places, ['a', 'a', 'b', 'b']);
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
    const message = 'Scheduling is blocked due to non-empty scheduling gates';
    assert.equal(reasonOf(api, 'gated'), message);
    assert.equal(reasonOf(api, 'other'), undefined);
    const gated = stored(api, 'pods', 'default', 'gated');
    assert.throws(
      () => setSpec(api, 'pods', gated, { schedulingGates: [{ name: 'more' }] }),
      /only deletion is allowed, but found new scheduling gate 'more'/,
    );
    setSpec(api, 'pods', gated, { schedulingGates: [] });
    pass(0);
    assert.equal(nodeOf(api, 'gated'), 'n-1');
  });

  it('tries pods of higher priorities first', () => {
    const { api, pass } = bareCluster('n-1');
    for (const name of ['f-1', 'f-2']) addPod(api, name, { nodeName: 'n-1' });
    addPod(api, 'plain');
    addPod(api, 'urgent', { priorityClassName: 'system-node-critical' });
    pass(0);
    assert.deepEqual([nodeOf(api, 'urgent'), nodeOf(api, 'plain')], ['n-1', 'nowhere']);
  });

  it('binds as many of the pods that are alike as find room, one change after another', () => {
    const { api, pass } = bareCluster('n-1');
    for (const name of ['f-1', 'f-2', 'f-3']) addPod(api, name, { nodeName: 'n-1' });
    const names = ['p-1', 'p-2', 'p-3', 'p-4'];
    for (const name of names) addPod(api, name);
    pass(0);
    assert.deepEqual(
      names.map((name) => nodeOf(api, name)),
      Array(4).fill('nowhere'),
    );
    api.delete('pods', 'default', 'f-1', { gracePeriodSeconds: 0 });
    pass(0);
    assert.deepEqual(
      names.map((name) => nodeOf(api, name)),
      ['n-1', ...Array(3).fill('nowhere')],
    );
    addNode(api, 'n-2', '8');
    pass(0);
    assert.deepEqual(
      names.map((name) => nodeOf(api, name)),
      ['n-1', 'n-2', 'n-2', 'n-2'],
    );
  });

  it('makes room, and binds when the victims have gone', () => {
    const { api, pass } = bareCluster('n-1');
    for (const name of ['f-1', 'f-2', 'f-3']) addPod(api, name, { nodeName: 'n-1' });
    addPod(api, 'urgent', { priorityClassName: 'system-node-critical' });
    pass(0);
    const urgent = stored(api, 'pods', 'default', 'urgent');
    assert.equal(urgent.status?.nominatedNodeName, 'n-1');
    assert.equal(reasonOf(api, 'urgent'), '0/1 nodes are available: 1 Too many pods.');
    const going = api.list('pods').filter(({ metadata }) => metadata.deletionTimestamp);
    assert.equal(going.length, 1);
    const [victim] = going;
    assert.ok(victim);
    assert.equal(conditionOf(victim, 'DisruptionTarget')?.reason, 'PreemptionByScheduler');
    assert.deepEqual(eventsOf(api, 'Preempted'), [
      `Preempted by pod ${urgent.metadata.uid} on node n-1`,
    ]);
    addPod(api, 'plain');
    pass(0);
    api.delete('pods', 'default', victim.metadata.name, { gracePeriodSeconds: 0 });
    pass(0);
    assert.deepEqual([nodeOf(api, 'urgent'), nodeOf(api, 'plain')], ['n-1', 'nowhere']);
  });

  it('draws among equal nodes for each pod by itself', () => {
    const names = Array.from({ length: 20 }, (_, number) => `p-${number}`);
    const placesOf = (kept: readonly string[]): readonly string[] => {
      const { api, pass } = bareCluster('n-1', 'n-2');
      return kept.map((name) => {
        addPod(api, name);
        pass(0);
        const place = nodeOf(api, name);
        api.delete('pods', 'default', name, { gracePeriodSeconds: 0 });
        return place;
      });
    };
    const all = placesOf(names);
    assert.deepEqual(new Set(all), new Set(['n-1', 'n-2']));
    assert.deepEqual(placesOf(names.slice(10)), all.slice(10), 'whoever came before');
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
