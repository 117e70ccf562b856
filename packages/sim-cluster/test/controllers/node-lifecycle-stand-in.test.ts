import assert from 'node:assert/strict';
import { it } from 'node:test';
import { conditionOf } from '../../src/controllers/pods.ts';
import { small, stored, virtualCluster } from '../world/virtual-cluster.ts';

it('a node that is not heard of is unreachable until it is ready again, not until it renews its lease', () => {
  const { api, cluster, pass } = virtualCluster({
    topology: small(['a']),
    nodeMonitorGraceMs: 40_000,
  });
  pass(21_000);
  const seen = (): readonly unknown[] => {
    const node = stored(api, 'nodes', '', 'a-1');
    const taints: readonly { readonly key: string; readonly effect: string }[] =
      node.spec.taints ?? [];
    const isTainted = taints.some(({ key, effect }) => {
      return key === 'node.kubernetes.io/unreachable' && effect === 'NoExecute';
    });
    return [conditionOf(node, 'Ready')?.status, isTainted];
  };
  cluster.node('a-1').stop();
  pass(39_999);
  assert.deepEqual(seen(), ['True', false]);
  pass(1);
  assert.deepEqual(seen(), ['Unknown', true]);
  cluster.node('a-1').renewLeaseOnly();
  pass(60_000);
  assert.deepEqual(seen(), ['Unknown', true]);
  cluster.node('a-1').resume();
  pass(0);
  assert.deepEqual(seen(), ['True', false]);
});
