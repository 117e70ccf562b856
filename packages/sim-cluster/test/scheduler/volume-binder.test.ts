import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { node, pod } from '../../src/builders.ts';
import { conditionOf } from '../../src/controllers/pods.ts';
import { small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const zoneLabel = 'topology.kubernetes.io/zone';
const allocatable = { cpu: '4', memory: '16Gi', pods: '10' };

/** Two zones of one node each, and a class that waits for the first consumer. */
function zones(provisioner = 'disk.example.com') {
  const running = virtualCluster({ topology: small([]), without: ['garbageCollection'] });
  const { api } = running;
  for (const zone of ['a', 'b']) {
    api.create(
      'nodes',
      node(`${zone}-1`, { labels: { [zoneLabel]: zone }, status: { allocatable } }),
    );
  }
  const volumeBindingMode = 'WaitForFirstConsumer';
  api.create('storageclasses', { metadata: { name: 'slow' }, provisioner, volumeBindingMode });
  addClaim(api, 'data', 'slow');
  running.pass(0);
  return running;
}

function addClaim(api: PlainServer, name: string, storageClassName: string): void {
  const resources = { requests: { storage: '5Gi' } };
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName, resources };
  api.create('persistentvolumeclaims', { metadata: { name, namespace: 'default' }, spec });
}

function addPod(api: PlainServer, name: string, more: object = {}): void {
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  api.create('pods', pod('default', name, { spec: { ...pod('', name).spec, volumes, ...more } }));
}

const claimed = (api: PlainServer) => stored(api, 'persistentvolumeclaims', 'default', 'data');
const nodeOf = (api: PlainServer, name: string) =>
  stored(api, 'pods', 'default', name).spec.nodeName;
const messageOf = (api: PlainServer, name: string) =>
  conditionOf(stored(api, 'pods', 'default', name), 'PodScheduled')?.message;

describe('a claim that waits for its first consumer', () => {
  it('gets a disk in the zone of the pod, and keeps the next pod there', () => {
    const { api, pass } = zones();
    pass(1000);
    assert.equal(claimed(api).spec?.volumeName, undefined);
    addPod(api, 'p-1', { nodeSelector: { [zoneLabel]: 'b' } });
    pass(0);
    assert.equal(nodeOf(api, 'p-1'), 'b-1');
    const volume = stored(api, 'persistentvolumes', '', claimed(api).spec?.volumeName);
    assert.equal(volume.spec?.csi?.driver, 'disk.example.com');
    const [term] = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    assert.deepEqual(term?.matchExpressions, [{ key: zoneLabel, operator: 'In', values: ['b'] }]);
    api.delete('pods', 'default', 'p-1', { gracePeriodSeconds: 0 });
    api.delete('nodes', '', 'b-1');
    addPod(api, 'p-2');
    pass(0);
    assert.match(
      messageOf(api, 'p-2') ?? '',
      /^0\/1 nodes are available: 1 node\(s\) didn't match PersistentVolume's node affinity\./,
    );
  });

  it('gets the smallest volume that somebody has made and that the node reaches', () => {
    const { api, pass } = zones('kubernetes.io/no-provisioner');
    addPod(api, 'p');
    pass(0);
    assert.match(messageOf(api, 'p') ?? '', /2 node\(s\) didn't find available persistent volumes/);
    for (const [name, storage, zone] of [
      ['small', '1Gi', 'a'],
      ['large', '50Gi', 'a'],
      ['right', '10Gi', 'a'],
    ] as const) {
      const matchExpressions = [{ key: zoneLabel, operator: 'In', values: [zone] }];
      api.create('persistentvolumes', {
        metadata: { name },
        spec: {
          ...{ accessModes: ['ReadWriteOnce'], storageClassName: 'slow', capacity: { storage } },
          nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
        },
      });
    }
    pass(0);
    assert.equal(nodeOf(api, 'p'), 'a-1');
    assert.equal(claimed(api).spec?.volumeName, 'right');
  });
});

it('a claim that is missing is waited for', () => {
  const { api, pass } = virtualCluster({ topology: small([]) });
  api.create('nodes', node('n', { status: { allocatable } }));
  addPod(api, 'p');
  pass(0);
  const text = '0/1 nodes are available: persistentvolumeclaim "data" not found. not found';
  assert.equal(messageOf(api, 'p'), text);
  addClaim(api, 'data', 'unknown');
  pass(0);
  assert.equal(nodeOf(api, 'p'), 'n');
});
