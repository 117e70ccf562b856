import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isReady } from '../../src/controllers/pods.ts';
import { setSpec, setTaints, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

it('a node keeps the taint it was admitted with when nobody follows its conditions', () => {
  const topology = small(['a']);
  const { api, pass } = virtualCluster({ topology, without: ['conditionTaints'] });
  pass(5000);
  const node = stored(api, 'nodes', '', 'a-1');
  assert.ok(isReady(node));
  assert.deepEqual(node.spec.taints, [
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  ]);
});

it('cordons and pressure become taints, and go again', () => {
  const { api, cluster, pass } = virtualCluster({ topology: small(['a']) });
  pass(5000);
  const keys = (): readonly string[] =>
    (stored(api, 'nodes', '', 'a-1').spec.taints ?? [])
      .map(({ key, effect }: { key: string; effect: string }) => `${key}:${effect}`)
      .sort();
  const others = ['mine:NoSchedule', 'node.kubernetes.io/not-ready:NoExecute'];
  setTaints(api, 'a-1', ...others, 'node.kubernetes.io/memory-pressure:NoSchedule');
  setSpec(api, 'nodes', stored(api, 'nodes', '', 'a-1'), { unschedulable: true });
  cluster.node('a-1').setCondition('DiskPressure', true);
  pass(0);
  assert.deepEqual(keys(), [
    'mine:NoSchedule',
    'node.kubernetes.io/disk-pressure:NoSchedule',
    'node.kubernetes.io/not-ready:NoExecute',
    'node.kubernetes.io/unschedulable:NoSchedule',
  ]);
  setSpec(api, 'nodes', stored(api, 'nodes', '', 'a-1'), { unschedulable: false });
  cluster.node('a-1').setCondition('DiskPressure', false);
  pass(0);
  assert.deepEqual(keys(), others);
});

it('a node that is not heard of stays as it is: that is for a kube-controller-manager', () => {
  const { api, cluster, pass } = virtualCluster({ topology: small(['a']) });
  pass(5000);
  cluster.node('a-1').stop();
  const before = stored(api, 'nodes', '', 'a-1');
  pass(600_000);
  assert.deepEqual(stored(api, 'nodes', '', 'a-1'), before);
});
