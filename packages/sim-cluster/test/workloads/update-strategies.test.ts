import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { daemonSet, statefulSet } from '../../src/builders.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import {
  podsOf,
  setSpec,
  setTaints,
  small,
  stored,
  virtualCluster,
} from '../world/virtual-cluster.ts';

const zones = ['a', 'b', 'c'];
const revisionLabel = 'controller-revision-hash';

/** Gives the pods of the workload's template the label `version: TEXT`. */
function setVersion(api: PlainServer, resource: string, name: string, version: string): void {
  const workload = stored(api, resource, 'default', name);
  const { template } = workload.spec;
  const labels = { ...template.metadata.labels, version };
  setSpec(api, resource, workload, { template: { ...template, metadata: { labels } } });
}

const versionsOf = (api: PlainServer, app: string): readonly string[] =>
  podsOf(api, app).map(({ metadata }) => metadata.labels?.version ?? '1');

function deleteAll(api: PlainServer, app: string): void {
  for (const { metadata } of podsOf(api, app)) api.delete('pods', 'default', metadata.name);
}

/** The same cluster taken as it is, with names of revisions that this one would not give. */
function takenOver(api: PlainServer) {
  const taken = ['nodes', 'pods', 'leases', 'statefulsets', 'daemonsets'];
  const items = taken.flatMap((resource) => api.list(resource));
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    .replaceAll(/("controller-revision-hash":")/g, '$1x')
    .replaceAll(/("(?:current|update)Revision":")/g, '$1x');
  return virtualCluster({ snapshot: [JSON.parse(text)], adopt: true });
}

const partitioned = (partition: number) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } },
});

describe('a StatefulSet with a new template', () => {
  const start = (spec: object, replicas = 3) => {
    const set = statefulSet('default', 'db', { replicas });
    const topology = small(zones, [{ ...set, spec: { ...set.spec, ...spec } }]);
    const running = virtualCluster({ topology });
    running.untilIdle();
    setVersion(running.api, 'statefulsets', 'db', '2');
    running.untilIdle();
    return running;
  };
  const counts = ({ status }: KubeObject): readonly unknown[] => [
    status.currentReplicas ?? 0,
    status.updatedReplicas ?? 0,
    status.currentRevision === status.updateRevision,
  ];

  const cases: readonly (readonly [
    name: string,
    spec: object,
    rolled: readonly string[],
    recreated: readonly string[],
    counts: readonly unknown[],
  ])[] = [
    ['rolls it out', partitioned(0), ['2', '2', '2'], ['2', '2', '2'], [3, 3, true]],
    [
      'keeps pods below the partition',
      partitioned(2),
      ['1', '1', '2'],
      ['1', '1', '2'],
      [2, 1, false],
    ],
    [
      'keeps all below a high partition',
      partitioned(9),
      ['1', '1', '1'],
      ['1', '1', '1'],
      [3, 0, false],
    ],
    [
      'waits for their deletion with OnDelete',
      { updateStrategy: { type: 'OnDelete' } },
      ['1', '1', '1'],
      ['2', '2', '2'],
      [3, 0, false],
    ],
    [
      'counts the partition from its first number',
      { ...partitioned(1), ordinals: { start: 5 } },
      ['1', '2', '2'],
      ['1', '2', '2'],
      [1, 2, false],
    ],
  ];
  for (const [name, spec, rolled, recreated, counted] of cases) {
    it(name, () => {
      const { api, untilIdle } = start(spec);
      assert.deepEqual(versionsOf(api, 'db'), rolled);
      assert.deepEqual(counts(stored(api, 'statefulsets', 'default', 'db')), counted);
      deleteAll(api, 'db');
      untilIdle();
      assert.deepEqual(versionsOf(api, 'db'), recreated);
    });
  }

  it('rolls the rest out when the partition is lowered, and has a new current revision then', () => {
    const { api, untilIdle } = start(partitioned(2));
    const set = stored(api, 'statefulsets', 'default', 'db');
    setSpec(api, 'statefulsets', set, partitioned(0));
    untilIdle();
    assert.deepEqual(versionsOf(api, 'db'), ['2', '2', '2']);
    assert.deepEqual(counts(stored(api, 'statefulsets', 'default', 'db')), [3, 3, true]);
  });

  it('makes an only pod again from the old template that is kept nowhere', () => {
    const { api, untilIdle } = start(partitioned(1), 1);
    deleteAll(api, 'db');
    untilIdle();
    assert.deepEqual(versionsOf(api, 'db'), ['1']);
  });

  it('makes the pods of a snapshot again as they were', () => {
    const { api, untilIdle } = takenOver(start(partitioned(2)).api);
    untilIdle();
    const before = podsOf(api, 'db').map(({ metadata }) => metadata.labels?.[revisionLabel]);
    deleteAll(api, 'db');
    untilIdle();
    assert.deepEqual(versionsOf(api, 'db'), ['1', '1', '2']);
    const after = podsOf(api, 'db').map(({ metadata }) => metadata.labels?.[revisionLabel]);
    assert.deepEqual(after, before);
  });

  it('makes them from a stored ControllerRevision where no pod is left', () => {
    const { api, untilIdle } = virtualCluster({ topology: small(zones) });
    untilIdle();
    const set = statefulSet('default', 'db', { spec: partitioned(1) });
    const metadata = { labels: { app: 'db', version: '0' } };
    api.create('controllerrevisions', {
      metadata: { name: 'db-old', namespace: 'default' },
      revision: 1,
      data: { spec: { template: { ...set.spec.template, metadata } } },
    });
    const made = api.create('statefulsets', set);
    const status = { currentRevision: 'db-old', updateRevision: 'db-new', observedGeneration: 1 };
    api.update('statefulsets', { ...made, status }, 'status');
    untilIdle();
    assert.deepEqual(versionsOf(api, 'db'), ['0']);
  });
});

it('a StatefulSet numbers its pods from the first one that it says', () => {
  const set = statefulSet('default', 'db', { replicas: 2, spec: { ordinals: { start: 5 } } });
  const { api, untilIdle } = virtualCluster({ topology: small(zones, [set]) });
  const names = (): readonly string[] => podsOf(api, 'db').map(({ metadata }) => metadata.name);
  untilIdle();
  assert.deepEqual(names(), ['db-5', 'db-6']);
  setSpec(api, 'statefulsets', stored(api, 'statefulsets', 'default', 'db'), { replicas: 1 });
  untilIdle();
  assert.deepEqual(names(), ['db-5']);
  const ordinals = { start: 7 };
  setSpec(api, 'statefulsets', stored(api, 'statefulsets', 'default', 'db'), { ordinals });
  untilIdle();
  assert.deepEqual(names(), ['db-7']);
});

it('a DaemonSet with OnDelete gives its new template to pods that are made again', () => {
  const set = daemonSet('default', 'agent', { spec: { updateStrategy: { type: 'OnDelete' } } });
  const { api, pass, untilIdle } = virtualCluster({ topology: small(zones, [set]) });
  untilIdle();
  setVersion(api, 'daemonsets', 'agent', '2');
  pass(60_000);
  assert.deepEqual(versionsOf(api, 'agent'), ['1', '1', '1']);
  const updated = (): unknown =>
    stored(api, 'daemonsets', 'default', 'agent').status.updatedNumberScheduled ?? 0;
  assert.equal(updated(), 0);
  api.delete('pods', 'default', podsOf(api, 'agent')[0]?.metadata.name ?? '');
  untilIdle();
  assert.deepEqual([...versionsOf(api, 'agent')].sort(), ['1', '1', '2']);
  assert.equal(updated(), 1);
});

it('a DaemonSet takes its old pod from a node where it would make none any more', () => {
  const topology = small(zones, [daemonSet('default', 'agent')]);
  const { api, untilIdle } = virtualCluster({ topology });
  untilIdle();
  setTaints(api, 'b-1', 'odd:NoSchedule');
  untilIdle();
  assert.equal(podsOf(api, 'agent').length, 3, 'the taint alone moves none');
  setVersion(api, 'daemonsets', 'agent', '2');
  untilIdle();
  const places = podsOf(api, 'agent').map(({ spec, metadata }) => {
    return `${spec.nodeName} ${metadata.labels?.version}`;
  });
  assert.deepEqual(places.sort(), ['a-1 2', 'c-1 2']);
});

it('workloads of a snapshot keep their pods when something else than their template changes', () => {
  const workloads = [statefulSet('default', 'db', { replicas: 2 }), daemonSet('default', 'agent')];
  const before = virtualCluster({ topology: small(zones, workloads) });
  before.untilIdle();
  const { api, pass, untilIdle } = takenOver(before.api);
  const uids = (): readonly unknown[] => api.list('pods').map(({ metadata }) => metadata.uid);
  const known = before.api.list('pods').map(({ metadata }) => metadata.uid);
  untilIdle();
  for (const [resource, name] of [
    ['statefulsets', 'db'],
    ['daemonsets', 'agent'],
  ] as const) {
    const workload = stored(api, resource, 'default', name);
    setSpec(api, resource, workload, { revisionHistoryLimit: 3 });
  }
  pass(60_000);
  assert.deepEqual(uids(), known);
});
