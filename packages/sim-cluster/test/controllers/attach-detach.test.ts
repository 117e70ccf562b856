import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { statefulSet } from '../../src/builders.ts';
import { attachedTo } from '../../src/controllers/volumes.ts';
import { small, type VirtualCluster, virtualCluster } from '../world/virtual-cluster.ts';

const volumeClaimTemplates = [
  { metadata: { name: 'data' }, spec: { resources: { requests: { storage: '8Gi' } } } },
];

/** Two nodes, and a set of one pod with a volume. */
function started(detachMs = 5_000): VirtualCluster {
  const set = statefulSet('shop', 'db', { spec: { volumeClaimTemplates } });
  const attachTiming = { attachMs: 1_000, detachMs };
  const world = virtualCluster({ topology: small(['a', 'b'], [set]), attachTiming });
  world.untilIdle();
  return world;
}

/** `node: pv of which claim`, of each attachment. */
function attachments({ api }: VirtualCluster): readonly string[] {
  return api.list('volumeattachments').map(({ spec, status }) => {
    const volume = api.get('persistentvolumes', '', spec.source.persistentVolumeName);
    const { namespace, name } = volume?.spec.claimRef ?? {};
    return `${spec.nodeName}: ${namespace}/${name}${status?.attached ? '' : ' (not yet)'}`;
  });
}

/** Puts it on the other node; where it was and where it goes. */
function move(world: VirtualCluster): readonly [from: string, to: string] {
  const { api } = world;
  const from: string = api.get('pods', 'shop', 'db-0')?.spec.nodeName;
  const node = api.get('nodes', '', from) ?? assert.fail();
  api.update('nodes', { ...node, spec: { ...node.spec, unschedulable: true } });
  api.delete('pods', 'shop', 'db-0');
  return [from, from === 'a-1' ? 'b-1' : 'a-1'];
}

describe('volumes of the simulated cluster', () => {
  it('gives each pod of a StatefulSet its claim, a volume, and an attachment', () => {
    const world = started();
    const { api } = world;
    const { spec } = api.get('pods', 'shop', 'db-0') ?? assert.fail();
    assert.deepEqual(attachments(world), [`${spec.nodeName}: shop/data-db-0`]);
    const claim = api.get('persistentvolumeclaims', 'shop', 'data-db-0');
    assert.deepEqual(claim?.metadata.labels, { app: 'db' });
    assert.equal(claim?.status?.phase, 'Bound');
    const node = api.get('nodes', '', spec.nodeName);
    assert.equal(attachedTo(node).length, 1);
    assert.deepEqual(node?.status?.volumesInUse, attachedTo(node));
  });

  it('detaches it after its pod is gone, and only then attaches it where the next pod is', () => {
    const world = started();
    const { api } = world;
    const [from, to] = move(world);
    const isOn = (): boolean => api.get('pods', 'shop', 'db-0')?.spec.nodeName === to;
    world.until(isOn, 'the pod on the other node');
    world.pass(3_000);
    assert.deepEqual(attachments(world), [`${from}: shop/data-db-0`]);
    assert.deepEqual(api.get('nodes', '', from)?.status?.volumesInUse ?? [], []);
    assert.equal(api.get('pods', 'shop', 'db-0')?.status?.phase, 'Pending');
    world.untilIdle();
    assert.deepEqual(attachments(world), [`${to}: shop/data-db-0`]);
    assert.deepEqual(attachedTo(api.get('nodes', '', from)), []);
    assert.equal(api.get('pods', 'shop', 'db-0')?.status?.phase, 'Running');
  });

  it('does not detach what a kubelet that has stopped says to have in use', () => {
    const world = started();
    const { api, cluster } = world;
    const from: string = api.get('pods', 'shop', 'db-0')?.spec.nodeName;
    cluster.node(from).stop();
    api.delete('pods', 'shop', 'db-0', { gracePeriodSeconds: 0 });
    world.pass(60_000);
    assert.equal(attachments(world)[0], `${from}: shop/data-db-0`);
    cluster.node(from).resume();
    world.pass(60_000);
    assert.equal(api.get('pods', 'shop', 'db-0')?.status?.phase, 'Running');
  });

  it('takes the volume away with its claim', () => {
    const world = started();
    const { api } = world;
    api.delete('statefulsets', 'shop', 'db');
    world.until(() => api.list('pods').length === 0, 'no pod');
    api.delete('persistentvolumeclaims', 'shop', 'data-db-0');
    world.pass(30_000);
    assert.deepEqual(api.list('persistentvolumes'), []);
  });
});
