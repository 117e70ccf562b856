import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import { conditionOf, isReady } from '../../src/controllers/pods.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import {
  setSpec,
  small,
  stored,
  type VirtualCluster,
  virtualCluster,
} from '../world/virtual-cluster.ts';

// Kubelets as the test bench of a node lifecycle controller: nobody does any of its work.

const withoutLifecycle = { without: ['conditionTaints'] } as const;

function renewTime({ api }: VirtualCluster, node: string): string {
  return stored(api, 'leases', 'kube-node-lease', node).spec.renewTime;
}

function readyOf({ api }: VirtualCluster, node: string) {
  const ready = conditionOf(stored(api, 'nodes', '', node), 'Ready');
  return [ready?.status, ready?.lastHeartbeatTime];
}

/** What a node lifecycle controller writes on a node that it takes for unreachable. */
function markUnknown({ api }: VirtualCluster, name: string): void {
  const node = stored(api, 'nodes', '', name);
  const conditions = node.status.conditions.map((condition: object) => ({
    ...condition,
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
  }));
  api.update('nodes', { ...node, status: { ...node.status, conditions } }, 'status');
}

function markNotReady({ api }: VirtualCluster, one: KubeObject): void {
  const { status } = one;
  const conditions = status.conditions.map((condition: { type: string }) =>
    condition.type === 'Ready' ? { ...condition, status: 'False' } : condition,
  );
  api.update('pods', { ...one, status: { ...status, conditions } }, 'status');
}

function withPod(): VirtualCluster {
  const running = virtualCluster({ topology: small(['a']), ...withoutLifecycle });
  running.pass(5000);
  const spec = { ...pod('', 'p').spec, nodeName: 'a-1' };
  running.api.create('pods', pod('default', 'p', { spec }));
  running.pass(7000);
  assert.ok(isReady(stored(running.api, 'pods', 'default', 'p')));
  return running;
}

describe('without a node lifecycle controller', () => {
  it('nothing is written on an unreachable, cordoned or pressed node or on its pods', () => {
    const running = virtualCluster({ topology: small(['a', 'b']), ...withoutLifecycle });
    const { api, cluster, pass } = running;
    pass(5000);
    const spec = { ...pod('', 'p').spec, nodeName: 'a-1' };
    api.create('pods', pod('default', 'p', { spec }));
    pass(5000);
    setSpec(api, 'nodes', stored(api, 'nodes', '', 'b-1'), { unschedulable: true });
    cluster.node('b-1').setCondition('MemoryPressure', true);
    pass(0);
    cluster.node('a-1').stop();
    const writes: string[] = [];
    api.subscribe(({ resource, object }) => {
      if (resource !== 'leases') writes.push(`${resource} ${object.metadata.name}`);
    });
    pass(200_000);
    assert.deepEqual(writes, []);
    const admitted = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
    assert.deepEqual(stored(api, 'nodes', '', 'b-1').spec.taints, admitted);
  });

  it('the old names of labels are there as a kubelet writes them, or left out', () => {
    const labels = { 'beta.kubernetes.io/os': null, 'beta.kubernetes.io/arch': 'arm64' };
    const topology = { ...small(['a']), nodes: { labels } };
    const { api, pass } = virtualCluster({ topology, ...withoutLifecycle });
    pass(5000);
    const written = stored(api, 'nodes', '', 'a-1').metadata.labels ?? {};
    assert.equal('beta.kubernetes.io/os' in written, false);
    assert.equal(written['beta.kubernetes.io/arch'], 'arm64');
    assert.equal(written['kubernetes.io/os'], 'linux');
  });
});

describe('a kubelet', () => {
  it('that renews its lease only leaves its status and its pods as they are', () => {
    const running = withPod();
    const { api, cluster, pass } = running;
    cluster.node('a-1').renewLeaseOnly();
    assert.equal(cluster.node('a-1').isRunning, false);
    markUnknown(running, 'a-1');
    markNotReady(running, stored(api, 'pods', 'default', 'p'));
    pass(600_000);
    assert.equal(renewTime(running, 'a-1'), '2026-01-01T00:10:12.000000Z');
    assert.equal(readyOf(running, 'a-1')[0], 'Unknown');
    assert.equal(isReady(stored(api, 'pods', 'default', 'p')), false);
    cluster.node('a-1').resume();
    pass(0);
    assert.deepEqual(readyOf(running, 'a-1'), ['True', '2026-01-01T00:10:12Z']);
    assert.ok(isReady(stored(api, 'pods', 'default', 'p')));
    pass(9999);
    assert.equal(
      renewTime(running, 'a-1'),
      '2026-01-01T00:10:12.000000Z',
      'one heartbeat, not two',
    );
  });

  it('that says it is not ready goes on with heartbeats and pods', () => {
    const running = withPod();
    const { api, cluster, pass } = running;
    cluster.node('a-1').setCondition('Ready', false);
    pass(20_000);
    const ready = conditionOf(stored(api, 'nodes', '', 'a-1'), 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'KubeletNotReady']);
    assert.equal(renewTime(running, 'a-1'), '2026-01-01T00:00:31.000000Z');
    assert.ok(isReady(stored(api, 'pods', 'default', 'p')));
    cluster.node('a-1').setCondition('Ready', true);
    pass(0);
    assert.equal(readyOf(running, 'a-1')[0], 'True');
  });

  it('that comes back makes its pods ready again, with everything else in their status kept', () => {
    const running = withPod();
    const { api, cluster, pass } = running;
    const before = stored(api, 'pods', 'default', 'p').status;
    cluster.node('a-1').stop();
    pass(60_000);
    markNotReady(running, stored(api, 'pods', 'default', 'p'));
    pass(60_000);
    assert.equal(isReady(stored(api, 'pods', 'default', 'p')), false);
    cluster.node('a-1').resume();
    pass(0);
    const after = stored(api, 'pods', 'default', 'p').status;
    const ready = conditionOf(stored(api, 'pods', 'default', 'p'), 'Ready');
    assert.equal(ready?.lastTransitionTime, '2026-01-01T00:02:12Z');
    const stamped = (condition: { type: string }) =>
      condition.type === 'Ready' ? { ...condition, lastTransitionTime: '' } : condition;
    assert.deepEqual(after.conditions.map(stamped), before.conditions.map(stamped));
    assert.deepEqual(after.containerStatuses, before.containerStatuses);
  });

  it('whose clock is off writes its own time, at the pace of everybody', () => {
    const running = withPod();
    const { cluster, pass } = running;
    cluster.node('a-1').setClockSkew(-3_600_000);
    cluster.node('a-1').setCondition('DiskPressure', true);
    pass(9000);
    assert.equal(renewTime(running, 'a-1'), '2025-12-31T23:00:21.000000Z');
    assert.deepEqual(readyOf(running, 'a-1'), ['True', '2025-12-31T23:00:12Z']);
    pass(10_000);
    assert.equal(renewTime(running, 'a-1'), '2025-12-31T23:00:31.000000Z');
  });
});

describe('the pressure conditions', () => {
  for (const [pressureByOthers, pressure, postedAt] of [
    [false, 'False', '2026-01-01T00:05:11Z'],
    [true, 'True', '2026-01-01T00:05:01Z'],
  ] as const) {
    it(`are left to others: ${pressureByOthers}`, () => {
      const topology = { ...small(['a']), nodes: { pressureByOthers } };
      const running = virtualCluster({ topology, ...withoutLifecycle });
      const { api, pass } = running;
      pass(5000);
      const node = stored(api, 'nodes', '', 'a-1');
      const conditions = node.status.conditions.map((condition: { type: string }) =>
        condition.type === 'MemoryPressure' ? { ...condition, status: 'True' } : condition,
      );
      api.update('nodes', { ...node, status: { ...node.status, conditions } }, 'status');
      pass(320_000);
      const after = stored(api, 'nodes', '', 'a-1');
      assert.equal(after.status.conditions.length, 4);
      assert.equal(conditionOf(after, 'MemoryPressure')?.status, pressure);
      assert.deepEqual(readyOf(running, 'a-1'), ['True', postedAt]);
    });
  }
});

describe('a zone', () => {
  it('stops and returns as a whole', () => {
    const topology = { ...small(['a', 'b']), nodesPerZone: 3 };
    const running = virtualCluster({ topology, ...withoutLifecycle });
    const { cluster, pass } = running;
    pass(5000);
    const names = cluster.zone('a').map(({ nodeName }) => nodeName);
    assert.deepEqual(names, ['a-1', 'a-2', 'a-3']);
    for (const kubelet of cluster.zone('a')) kubelet.stop();
    pass(100_000);
    const times = (): readonly string[] =>
      ['a-1', 'a-3', 'b-1'].map((name) => renewTime(running, name).slice(11, 19));
    assert.deepEqual(times(), ['00:00:01', '00:00:01', '00:01:41']);
    for (const kubelet of cluster.zone('a')) kubelet.resume();
    pass(0);
    assert.deepEqual(times(), ['00:01:45', '00:01:45', '00:01:41']);
  });

  it('is known by the nodes of a snapshot too, and refused when it has none', () => {
    const first = virtualCluster({ topology: small(['a']), ...withoutLifecycle });
    first.pass(5000);
    const snapshot = first.api.list('nodes');
    const { cluster } = virtualCluster({ snapshot, adopt: true });
    assert.deepEqual(
      cluster.zone('a').map(({ nodeName }) => nodeName),
      ['a-1'],
    );
    assert.throws(() => cluster.zone('b'), /no kubelet in zone b/);
  });
});

it('kubelets renew in step, or each at a moment of its own', () => {
  const phases = (spreadsHeartbeats: boolean): readonly number[] => {
    const topology = { ...small(['a']), nodesPerZone: 40 };
    const timing = { spreadsHeartbeats };
    const running = virtualCluster({ topology, timing, ...withoutLifecycle });
    running.pass(25_000);
    const seconds = running.api.list('leases').map(({ spec }) => Date.parse(spec.renewTime) / 1000);
    return [...new Set(seconds.map((second) => Math.floor(second) % 10))];
  };
  assert.ok(phases(false).length <= 3, 'as long as starting takes');
  assert.ok(phases(true).length >= 8, 'over the whole period');
});

it('a lease goes with its node, and comes back for the node that takes its name', () => {
  const running = virtualCluster({ topology: small(['a']), ...withoutLifecycle });
  const { api, cluster, pass } = running;
  pass(5000);
  api.delete('nodes', '', 'a-1');
  pass(30_000);
  assert.equal(api.get('leases', 'kube-node-lease', 'a-1'), null);
  cluster.node('a-1').stop();
  cluster.node('a-1').resume();
  pass(0);
  const [owner] = stored(api, 'leases', 'kube-node-lease', 'a-1').metadata.ownerReferences ?? [];
  const { uid = '' } = stored(api, 'nodes', '', 'a-1').metadata;
  assert.deepEqual(owner, { apiVersion: 'v1', kind: 'Node', name: 'a-1', uid });
});
