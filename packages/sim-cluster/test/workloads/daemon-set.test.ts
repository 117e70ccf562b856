import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { daemonSet, node, pod } from '../../src/builders.ts';
import { isReady, isTerminating } from '../../src/controllers/pods.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import {
  placesOf,
  podsOf,
  setSpec,
  small,
  stored,
  virtualCluster,
} from '../world/virtual-cluster.ts';

function start(options: Parameters<typeof daemonSet>[2] = {}) {
  const set = daemonSet('default', 'agent', options);
  const running = virtualCluster({ topology: small(['a', 'b', 'c'], [set]) });
  running.untilIdle();
  return running;
}

function setVersion(api: PlainServer, version: string): void {
  const set = stored(api, 'daemonsets', 'default', 'agent');
  const { template } = set.spec;
  const labels = { ...template.metadata.labels, version };
  setSpec(api, 'daemonsets', set, { template: { ...template, metadata: { labels } } });
}

it('a DaemonSet replaces a pod that has ended', () => {
  const { api, untilIdle } = start();
  const [ended = assert.fail()] = podsOf(api, 'agent');
  api.update('pods', { ...ended, status: { ...ended.status, phase: 'Failed' } }, 'status');
  untilIdle();
  assert.equal(api.get('pods', 'default', ended.metadata.name), null);
  assert.deepEqual(placesOf(api, 'agent'), ['a-1', 'b-1', 'c-1']);
});

it('a DaemonSet waits longer each time before it replaces a pod that has failed on a node', () => {
  const { api, pass, until } = start();
  const onB = () => podsOf(api, 'agent').find(({ spec }) => spec.nodeName === 'b-1');
  const isUp = (): boolean => {
    const there = onB();
    return there !== undefined && isReady(there);
  };
  const replacedAfter = [0, 1, 2, 3].map(() => {
    until(isUp, 'a pod on b-1');
    const failed = onB() ?? assert.fail();
    const failedAt = api.clock.now();
    api.update('pods', { ...failed, status: { ...failed.status, phase: 'Failed' } }, 'status');
    until(() => !api.get('pods', 'default', failed.metadata.name), 'it is taken away');
    return api.clock.now() - failedAt;
  });
  // A pod is ready 2 s after its node has it, so that the first pauses are over by then.
  assert.deepEqual(
    replacedAfter.map((ms) => Math.round(ms / 1000)),
    [0, 0, 0, 2],
  );
  pass(3_600_000);
  assert.ok(isUp());
});

it('a DaemonSet follows the labels of nodes', () => {
  const { api, pass } = start({ podSpec: { nodeSelector: { disk: 'ssd' } } });
  const label = (labels: Record<string, string>): void => {
    const { metadata, ...rest } = stored(api, 'nodes', '', 'b-1');
    api.update('nodes', { ...rest, metadata: { ...metadata, labels } });
    pass(10_000);
  };
  assert.deepEqual(placesOf(api, 'agent'), []);
  const { labels = {} } = stored(api, 'nodes', '', 'b-1').metadata;
  label({ ...labels, disk: 'ssd' });
  assert.deepEqual(placesOf(api, 'agent'), ['b-1']);
  label({ ...labels, disk: 'hdd' });
  assert.deepEqual(placesOf(api, 'agent'), []);
});

describe('a DaemonSet rolls a template out with no more than one pod down', () => {
  const cases: readonly (readonly [name: string, deleted: number | null])[] = [
    ['where all are up', null],
    ['where somebody has just deleted its first pod', 0],
    ['where somebody has just deleted its second pod', 1],
    ['where somebody has just deleted its third pod', 2],
  ];
  for (const [name, deleted] of cases) {
    it(name, () => {
      const { api, untilIdle } = start();
      let fewest = 3;
      api.subscribe(() => {
        const up = podsOf(api, 'agent').filter((one) => isReady(one) && !isTerminating(one));
        fewest = Math.min(fewest, up.length);
      });
      const pods = podsOf(api, 'agent');
      if (deleted !== null) {
        api.delete('pods', 'default', pods[deleted]?.metadata.name ?? assert.fail());
      }
      setVersion(api, '2');
      untilIdle();
      const versions = podsOf(api, 'agent').map(({ metadata }) => metadata.labels?.version);
      assert.deepEqual(versions, ['2', '2', '2']);
      assert.equal(fewest, 2);
    });
  }
});

it('a DaemonSet keeps the oldest of several pods on one node', () => {
  const uid = 'uid-of-agent';
  const set = daemonSet('default', 'agent', { spec: { updateStrategy: { type: 'OnDelete' } } });
  const member = (name: string, minute: number): KubeObject => {
    const made = pod('default', name, { labels: { app: 'agent' }, spec: { nodeName: 'a-1' } });
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      name: 'agent',
      uid,
      controller: true,
    };
    return {
      ...made,
      metadata: {
        ...made.metadata,
        creationTimestamp: `2025-12-31T23:${minute}:00Z`,
        ownerReferences: [{ ...owner, blockOwnerDeletion: true }],
      },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    };
  };
  const { api, pass } = virtualCluster({
    snapshot: [
      node('a-1'),
      { ...set, metadata: { ...set.metadata, uid } },
      ...[member('agent-1', 30), member('agent-2', 10), member('agent-3', 20)],
    ],
  });
  pass(1000);
  const left = podsOf(api, 'agent').filter((one) => !isTerminating(one));
  assert.deepEqual(
    left.map(({ metadata }) => metadata.name),
    ['agent-2'],
  );
});

it('a DaemonSet counts what it has not made yet as unavailable', () => {
  const { api, pass } = virtualCluster({ topology: small(['a', 'b', 'c']) });
  pass(10_000);
  const unavailable: number[] = [];
  api.subscribe(
    ({ object: { status } }) => unavailable.push(status?.numberUnavailable ?? 0),
    new Set(['daemonsets']),
  );
  api.create('daemonsets', daemonSet('default', 'agent'));
  pass(10_000);
  // The first is that of its creation, when nobody has counted yet.
  assert.deepEqual(unavailable.slice(0, 2), [0, 3]);
  assert.equal(unavailable.at(-1), 0);
});
