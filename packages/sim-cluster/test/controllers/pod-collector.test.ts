import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { node, pod } from '../../src/builders.ts';
import { conditionOf } from '../../src/controllers/pods.ts';
import type { Json, KubeObject } from '../../src/objects/kube-object.ts';
import { virtualCluster } from '../world/virtual-cluster.ts';

const outOfService = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };

/** Two pods of a node without a kubelet, of which one is to go. */
function start(isReady: boolean, taints: readonly { readonly [field: string]: Json }[]) {
  const running = virtualCluster();
  const { api } = running;
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'Unknown' }];
  const place = node('n-1', { spec: { taints }, status: { conditions } });
  api.create('nodes', place);
  const last: KubeObject[] = [];
  api.subscribe(
    ({ type, object }) => {
      if (type === 'DELETED') last.push(object);
    },
    new Set(['pods']),
  );
  for (const name of ['going', 'staying']) {
    const { spec, ...rest } = pod('default', name);
    const made = api.create('pods', { ...rest, spec: { ...spec, nodeName: 'n-1' } });
    api.update('pods', { ...made, status: { ...made.status, phase: 'Running' } }, 'status');
  }
  api.delete('pods', 'default', 'going');
  return { ...running, last };
}

const seen = (last: readonly KubeObject[]) =>
  last.map((one) => {
    const { reason } = conditionOf(one, 'DisruptionTarget') ?? {};
    return [one.metadata.name, one.status.phase, reason];
  });

describe('pods that no kubelet will end', () => {
  const cases: readonly (readonly [
    name: string,
    isReady: boolean,
    taints: readonly { readonly [field: string]: Json }[],
    collected: readonly (readonly unknown[])[],
  ])[] = [
    ['stay on a node that is only not ready', false, [], []],
    ['stay on a node that is ready, whatever its taints', true, [outOfService], []],
    [
      'go from a node out of service, those that are to go',
      false,
      [outOfService],
      [['going', 'Failed', undefined]],
    ],
  ];
  for (const [name, isReady, taints, collected] of cases) {
    it(name, () => {
      const { pass, last } = start(isReady, taints);
      pass(600_000);
      assert.deepEqual(seen(last), collected);
    });
  }

  it('all go in the pass 40 s after the one that has missed their node, and say why', () => {
    const { api, pass, last } = start(true, []);
    pass(1000);
    api.delete('nodes', '', 'n-1');
    pass(58_999);
    assert.deepEqual(last, []);
    pass(20);
    assert.deepEqual(seen(last), [
      ['going', 'Failed', 'DeletionByPodGC'],
      ['staying', 'Failed', 'DeletionByPodGC'],
    ]);
  });

  it('stay where their node comes back in time', () => {
    const { api, pass, last } = start(true, []);
    pass(1000);
    api.delete('nodes', '', 'n-1');
    pass(30_000);
    api.create('nodes', node('n-1'));
    pass(600_000);
    assert.deepEqual(last, []);
  });
});
