import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import { Cluster } from '../../src/cluster.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { storedResource } from '../../src/resources/resources.ts';
import { threeZones } from '../../src/topology.ts';
import { decodeAs } from '../../src/write/canonical.ts';
import { evict, setSpec, setTaints } from '../world/virtual-cluster.ts';

const compared = [
  'nodes',
  'leases',
  'pods',
  'replicasets',
  'deployments',
  'statefulsets',
  'daemonsets',
  'poddisruptionbudgets',
];

/**
 * The objects of a cluster as they would be sent, without who owns their fields
 * and how many writes there were before.
 */
function asSent({ api }: Cluster): readonly unknown[] {
  return compared.flatMap((plural) => {
    return api.list(plural).map((object) => {
      const { value } = decodeAs(storedResource(plural), object);
      const {
        managedFields: _owners,
        resourceVersion: _writes,
        ...metadata
      } = (value as KubeObject).metadata;
      return { ...value, metadata };
    });
  });
}

/** Minutes with a lost node, evictions, a deletion and a new size. */
function play(cluster: Cluster, clock: VirtualClock, look: (cluster: Cluster) => void): void {
  const { api } = cluster;
  const pass = (seconds: number): void => {
    clock.advanceTo(clock.now() + seconds * 1000);
    look(cluster);
  };
  cluster.start();
  pass(60);
  const [first, second] = api.list('pods');
  assert.ok(first && second);
  evict(api, first.metadata.namespace ?? '', first.metadata.name);
  api.delete('pods', second.metadata.namespace ?? '', second.metadata.name);
  // Until what takes the place of both runs: that containers are being made is not written.
  pass(10);
  const [node] = api.list('nodes');
  assert.ok(node);
  cluster.node(node.metadata.name).stop();
  setTaints(api, node.metadata.name, 'k:NoSchedule');
  pass(120);
  cluster.node(node.metadata.name).resume();
  const [deployment] = api.list('deployments');
  assert.ok(deployment);
  setSpec(api, 'deployments', deployment, { replicas: 2 });
  pass(30);
  cluster.removeNode(node.metadata.name);
  pass(300);
}

function run(brief: boolean): readonly (readonly unknown[])[] {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const cluster = new Cluster({ clock, seed: 5, topology: threeZones, apiServer: { brief } });
  const looks: (readonly unknown[])[] = [];
  play(cluster, clock, (now) => looks.push(asSent(now)));
  return looks;
}

describe('the short way of writing', () => {
  // It leaves out that containers are being made.
  it('leaves the same objects, whatever is not written on the way', () => {
    const [short, long] = [run(true), run(false)];
    for (const [index, look] of long.entries()) assert.deepEqual(short[index], look);
  });

  it('shares what pods of one template have in common', () => {
    const clock = new VirtualClock(0);
    const apiServer = { brief: true };
    const cluster = new Cluster({ clock, seed: 5, topology: threeZones, apiServer });
    cluster.start();
    clock.advanceTo(60_000);
    const web = cluster.api.list('pods').filter(({ metadata }) => metadata.labels?.app === 'web');
    assert.equal(web.length, 6);
    assert.equal(new Set(web.map(({ spec }) => spec.containers)).size, 1);
    assert.equal(new Set(web.map(({ metadata }) => metadata.labels)).size, 1);
  });

  it('refuses what was read before somebody else wrote', () => {
    const clock = new VirtualClock(0);
    const apiServer = { brief: true };
    const { api } = new Cluster({ clock, seed: 5, topology: threeZones, apiServer });
    const kubelet = api.as('kubelet');
    const node = kubelet.create('nodes', { metadata: { name: 'n' } });
    kubelet.update('nodes', { ...node, status: { phase: 'Running' } }, 'status');
    const late = (): unknown => kubelet.update('nodes', { ...node, status: {} }, 'status');
    assert.throws(late, /the object has been modified/);
  });

  it('keeps who wants a pod to go and who wrote taints, and no other owners of what is written', () => {
    const apiServer = { brief: true };
    const cluster = new Cluster({
      ...{ clock: new VirtualClock(0), seed: 5, topology: threeZones, apiServer },
      without: ['scheduler', 'conditionTaints'],
    });
    const { api } = cluster;
    const named = (object: KubeObject): readonly string[] =>
      (object.metadata.managedFields ?? []).map(({ manager, subresource = '' }) =>
        `${manager} ${subresource}`.trim(),
      );
    const mark = (type: string, by: string): readonly string[] => {
      const one = api.get('pods', 'default', 'p') ?? assert.fail();
      const conditions = [...(one.status?.conditions ?? []), { type, status: 'True', reason: 'R' }];
      return named(api.as(by).update('pods', { ...one, status: { conditions } }, 'status'));
    };
    api.create('pods', pod('default', 'p'));
    assert.deepEqual(mark('Other', 'somebody'), ['unknown']);
    assert.deepEqual(mark('DisruptionTarget', 'evictor'), ['evictor status', 'unknown']);
    const node = api.create('nodes', { metadata: { name: 'n', labels: { zone: 'a' } } });
    const taints = [{ key: 'k', effect: 'NoSchedule' }];
    api.as('tainter').update('nodes', { ...node, spec: { taints } });
    assert.ok(named(api.get('nodes', '', 'n') ?? assert.fail()).includes('tainter'));
  });

  it('goes on with a rollout whose template mounts volumes that were not loaded', () => {
    const containers = [{ name: 'c', image: 'i', volumeMounts: [{ name: 'd', mountPath: '/d' }] }];
    const made = (
      kind: string,
      name: string,
      replicas: number,
      hash: object,
      more: object = {},
    ) => {
      const labels = { app: 'web', ...hash };
      const template = { metadata: { labels }, spec: { containers } };
      const metadata = { name, namespace: 'default', uid: name, labels, ...more };
      const spec = { replicas, selector: { matchLabels: labels }, template };
      return { apiVersion: 'apps/v1', kind, metadata, spec, status: {} };
    };
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'web' };
    const ownerReferences = [{ ...owner, controller: true }];
    const clock = new VirtualClock(0);
    const cluster = new Cluster({
      ...{ clock, seed: 5, apiServer: { brief: true } },
      snapshot: [
        made('Deployment', 'web', 3, {}),
        made('ReplicaSet', 'web-1', 1, { 'pod-template-hash': '1' }, { ownerReferences }),
      ],
    });
    cluster.start();
    clock.advanceTo(clock.now() + 60_000);
    const { api } = cluster;
    assert.equal(api.get('replicasets', 'default', 'web-1')?.spec.replicas, 3);
    assert.equal(api.list('pods').length, 3);
  });
});
