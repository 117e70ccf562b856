import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { threeZones } from '../../src/topology.ts';
import { Client, type Watching } from '../world/client.ts';
import { setTaints, type VirtualCluster, virtualCluster } from '../world/virtual-cluster.ts';

// A cluster of a topology that comes to rest by the short way.

interface Settled {
  readonly running: VirtualCluster;
  /** What was written on the way. */
  readonly writes: readonly string[];
  /** What a watch of all pods had heard of at rest, and then after the end. */
  readonly heard: readonly [before: readonly string[], after: readonly string[]];
}

/** The demo's cluster at rest; `taint` is on a node from the start. */
function atRest(way: 'long' | 'short' | 'held back', taint: string | null = null): Settled {
  const running = virtualCluster({
    topology: threeZones,
    apiServer: { brief: true },
    timing: { podStartMs: [500, 4000] },
  });
  const { cluster, api } = running;
  const writes: string[] = [];
  api.subscribe(({ resource, key }) => writes.push(`${resource} ${key}`));
  if (way !== 'long') cluster.settle(way === 'held back');
  const watching = new Client(api).watch('/api/v1/pods');
  const heard = (): readonly string[] => watching.events.map(nameIn);
  running.pass(1100);
  if (taint !== null) setTaints(api, 'zone-a-1', taint);
  for (let seconds = 0; seconds < 60 && !cluster.isIdle(); seconds++) running.pass(1000);
  assert.ok(cluster.isIdle());
  const before = heard();
  cluster.endSettling();
  running.pass(0);
  return { running, writes, heard: [before, heard().slice(before.length)] };
}

/** What a pod, workload or budget has come to, and when. */
function face({ metadata, spec, status }: KubeObject): object {
  const { name, uid, creationTimestamp, ownerReferences } = metadata;
  const { conditions: _, ...counts } = status ?? {};
  return { name, uid, creationTimestamp, ownerReferences, spec, counts };
}

it('comes to the same pods, workloads and budgets at the same time, with fewer writes', () => {
  const [long, short] = [atRest('long'), atRest('short')];
  assert.equal(short.running.clock.now(), long.running.clock.now());
  for (const resource of [
    'pods',
    'deployments',
    'replicasets',
    'statefulsets',
    'poddisruptionbudgets',
  ]) {
    const faces = ({ running }: typeof long): object[] => running.api.list(resource).map(face);
    assert.ok(faces(long).length > 0, resource);
    assert.deepEqual(faces(short), faces(long), resource);
  }
  const count = ({ writes }: typeof long, start: string): number => {
    return writes.filter((write) => write.startsWith(start)).length;
  };
  assert.ok(count(short, 'replicasets') < count(long, 'replicasets'));
  assert.ok(count(short, 'poddisruptionbudgets') < count(long, 'poddisruptionbudgets'));
});

function nameIn({ type, object }: Watching['events'][number]): string {
  return `${type} ${object.metadata.namespace}/${object.metadata.name}`;
}

it('a watch hears of each pod once, at the end and in the order of the last writes', () => {
  const { running, heard } = atRest('held back');
  const pods = [...running.api.list('pods')];
  pods.sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  const wanted = pods.map((object) => nameIn({ type: 'ADDED', object }));
  assert.ok(wanted.length > 0);
  assert.deepEqual(heard, [[], wanted]);
});

it('hears of all at once where nothing is held back, or a node has a taint NoExecute', () => {
  for (const { heard } of [atRest('short'), atRest('held back', 'spot:NoExecute')]) {
    const [before, after] = heard;
    assert.ok(before.some((one) => one.startsWith('MODIFIED ')));
    assert.deepEqual(after, []);
  }
});

it('writes and tells all again afterwards', () => {
  const { running, writes, heard } = atRest('held back');
  const [pod] = running.api.list('pods');
  const { namespace = '', name = '' } = pod?.metadata ?? {};
  running.api.delete('pods', namespace, name);
  const { length } = writes;
  running.untilIdle();
  const later = new Set(writes.slice(length).map((write) => write.split(' ')[0]));
  for (const resource of ['pods', 'replicasets', 'deployments']) assert.ok(later.has(resource));
  assert.ok(heard[1].includes(`ADDED ${namespace}/${name}`));
});
