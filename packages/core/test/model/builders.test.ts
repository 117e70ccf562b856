import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeNode, makePod } from '@taintmgr/core';

it('a pod gets what Kubernetes gives one by default', () => {
  assert.deepEqual(makePod({ name: 'web-0', tolerations: [{ key: 'bad', effect: 'NoExecute' }] }), {
    namespace: 'default',
    name: 'web-0',
    uid: 'default/web-0',
    nodeName: '',
    tolerations: [
      { key: 'bad', operator: '', value: '', effect: 'NoExecute', tolerationSeconds: null },
    ],
    boundAt: null,
    deletionTimestamp: null,
    phase: 'Running',
    generation: 0,
    mirror: false,
    owner: null,
    hasEmptyDir: false,
    ready: 'True',
  });
});

it('what is given stays', () => {
  const pod = makePod({ namespace: 'shop', name: 'web-0', phase: 'Pending', ready: null });
  assert.equal(pod.uid, 'shop/web-0');
  assert.equal(pod.phase, 'Pending');
  assert.equal(pod.ready, null);
  assert.equal(makePod({ name: 'web-0', uid: 'a1' }).uid, 'a1');
  const own = { key: 'a', value: 'b', effect: 'NoExecute', timeAdded: 5 };
  assert.deepEqual(makeNode({ name: 'n1', taints: ['bad:NoExecute', own], zone: 'eu/a' }), {
    name: 'n1',
    uid: 'n1',
    zone: 'eu/a',
    taints: [{ key: 'bad', value: '', effect: 'NoExecute', timeAdded: null }, own],
  });
});

it('a field that is there and undefined is left out', () => {
  const absent = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, undefined]));
  const tolerations = [{ key: 'bad', ...absent('effect', 'operator') }];
  assert.deepEqual(
    makePod({ name: 'web-0', ...absent('namespace', 'uid', 'phase', 'owner'), tolerations }),
    makePod({ name: 'web-0', tolerations: [{ key: 'bad' }] }),
  );
  const { zone, uid } = makeNode({ name: 'n1', ...absent('zone', 'uid', 'taints') });
  assert.deepEqual({ zone, uid }, { zone: undefined, uid: 'n1' });
});

it('a text that is no taint is refused', () => {
  assert.throws(() => makeNode({ name: 'n1', taints: ['bad'] }), RangeError);
});
