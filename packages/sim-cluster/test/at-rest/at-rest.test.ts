import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { bringToRest, type RestingCluster } from '../../src/at-rest/at-rest.ts';
import { daemonSet, deployment, job, pdb, statefulSet } from '../../src/builders.ts';
import { Cluster } from '../../src/cluster.ts';
import { VirtualClock } from '../../src/kernel/clock.ts';
import type { NodeDescription } from '../../src/kubelet/node-status.ts';
import { defaultTiming } from '../../src/kubelet/timing.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { topologyObjects } from '../../src/topology.ts';
import { start } from '../world/virtual-cluster.ts';

// A cluster at rest that was made in one go is the one that all its parts would have come to.

interface World {
  readonly seed: number;
  readonly nodes: readonly NodeDescription[];
  readonly workloads: readonly KubeObject[];
  readonly budgets: readonly KubeObject[];
}

const timing = { ...defaultTiming, spreadsHeartbeats: true };
const apiServer = { brief: true };

function settle({ seed, nodes, workloads, budgets }: World): RestingCluster {
  const objects = topologyObjects({ workloads, budgets });
  const work = bringToRest({ startsAt: start, seed, timing, nodes, objects });
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** A cluster that goes on from there. */
function made({ seed }: World, from: RestingCluster): Cluster {
  const clock = new VirtualClock(from.at);
  return new Cluster({ clock, seed, timing, apiServer, resting: from });
}

/** The same cluster, with all its parts at work from the beginning until then. */
function played({ seed, nodes, workloads, budgets }: World, at: number): Cluster {
  const clock = new VirtualClock(start);
  const topology = { region: '', zones: [], nodesPerZone: 0, workloads, budgets };
  const cluster = new Cluster({ clock, seed, timing, apiServer, topology });
  for (const node of nodes) cluster.addNode(node);
  cluster.start();
  clock.advanceTo(at);
  return cluster;
}

const resources = [
  'namespaces',
  'nodes',
  'leases',
  'pods',
  'replicasets',
  'deployments',
  'statefulsets',
  'daemonsets',
  'jobs',
  'poddisruptionbudgets',
];

/** All that is stored, but for versions, owners of fields, and when a budget was first kept. */
function faces({ api }: Cluster): readonly object[] {
  return resources.flatMap((resource) => api.list(resource).map((object) => face(object)));
}

function face({ metadata, spec, status, ...rest }: KubeObject): object {
  const { resourceVersion: _, managedFields: __, ...named } = metadata;
  const { taints = [], ...others } = spec ?? {};
  const isBudget = status?.disruptionsAllowed !== undefined;
  const shown = isBudget ? { ...status, conditions: undefined } : status;
  return JSON.parse(
    JSON.stringify({ ...rest, metadata: named, spec: { ...others, taints }, status: shown }),
  );
}

function storedIn({ store }: RestingCluster): readonly object[] {
  return resources.flatMap((resource) => store.collection(resource).list(''));
}

const zones = ['zone-a', 'zone-b', 'zone-c'];
const spot = [{ key: 'spot', effect: 'NoSchedule' }];

const nodesDrawn = fc
  .array(fc.record({ zone: fc.constantFrom(...zones), isSpot: fc.boolean() }), {
    minLength: 2,
    maxLength: 8,
  })
  .map((drawn) =>
    drawn.map(({ zone, isSpot }, index) => {
      const taints = isSpot && index > 0 ? { taints: spot } : {};
      return { name: `node-${index}`, zone, region: 'region-1', ...taints };
    }),
  );

const kinds = ['Deployment', 'StatefulSet', 'Parallel', 'DaemonSet', 'Job'] as const;

const workloadsDrawn = fc
  .array(fc.record({ kind: fc.constantFrom(...kinds), replicas: fc.integer({ min: 0, max: 6 }) }), {
    minLength: 1,
    maxLength: 5,
  })
  .map((drawn) => drawn.map(({ kind, replicas }, index) => workload(kind, index, replicas)));

function workload(kind: (typeof kinds)[number], index: number, replicas: number): KubeObject {
  const name = `app-${index}`;
  const space = `team-${index % 2}`;
  const spec = { podManagementPolicy: 'Parallel' };
  if (kind === 'Deployment') return deployment(space, name, { replicas });
  if (kind === 'DaemonSet')
    return daemonSet(space, name, { tolerations: [{ operator: 'Exists' }] });
  if (kind === 'Job') return job(space, name, 600);
  return statefulSet(space, name, { replicas, ...(kind === 'Parallel' ? { spec } : {}) });
}

const worlds = fc
  .record({
    seed: fc.integer({ min: 1, max: 1_000_000 }),
    nodes: nodesDrawn,
    workloads: workloadsDrawn,
    limit: fc.constantFrom({ maxUnavailable: '30%' }, { minAvailable: 1 }),
  })
  .map(({ limit, ...world }) => {
    const budgets = world.workloads
      .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
      .map(({ metadata: { namespace = '', name } }) => pdb(namespace, name, limit));
    return { ...world, budgets };
  });

it('is object by object what all parts of a cluster come to', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const from = settle(world);
      const all = played(world, from.at);
      assert.ok(all.isIdle());
      assert.deepEqual(faces(made(world, from)), faces(all));
    }),
    { numRuns: 20 },
  );
});

const shop: World = {
  seed: 7,
  nodes: zones.map((zone) => ({ name: zone, zone })),
  workloads: [
    deployment('shop', 'web', { replicas: 6 }),
    statefulSet('shop', 'db', { replicas: 2 }),
  ],
  budgets: [pdb('shop', 'web', { maxUnavailable: 1 })],
};

/** Deletes the first pod, lets ten minutes pass, and says what there is then. */
function afterLoss(cluster: Cluster): readonly object[] {
  const { api } = cluster;
  cluster.start();
  const [pod] = api.list('pods');
  assert.ok(pod);
  api.delete('pods', pod.metadata.namespace ?? '', pod.metadata.name);
  (api.clock as VirtualClock).advanceTo(start + 600_000);
  assert.ok(cluster.isIdle());
  return faces(cluster);
}

it('goes on as the cluster that was played would: renewals, addresses and new pods are the same', () => {
  const from = settle(shop);
  const all = played(shop, from.at);
  assert.deepEqual(afterLoss(made(shop, from)), afterLoss(all));
});

it('is the beginning of any number of clusters, none of which changes it', () => {
  const from = settle(shop);
  const before = faces(made(shop, from));
  const stored = JSON.stringify(storedIn(from));
  const first = afterLoss(made(shop, from));
  assert.notDeepEqual(first, before);
  assert.deepEqual(faces(made(shop, from)), before);
  assert.deepEqual(afterLoss(made(shop, from)), first);
  // Pods are not frozen there: that nothing of them is changed in place is seen by their text.
  assert.equal(JSON.stringify(storedIn(from)), stored);
  const [one] = made(shop, from).api.list('pods');
  const [other] = made(shop, from).api.list('pods');
  assert.ok(one);
  assert.equal(one, other);
});

it('leaves a pod pending that fits nowhere; the scheduler of the cluster says why', () => {
  const podSpec = { nodeSelector: { disk: 'ssd' } };
  const world = { ...shop, workloads: [deployment('shop', 'web', { replicas: 1, podSpec })] };
  const cluster = made(world, settle(world));
  cluster.start();
  (cluster.api.clock as VirtualClock).advanceTo(cluster.api.clock.now() + 1_000);
  assert.ok(!cluster.isIdle());
  const [pod] = cluster.api.list('pods');
  assert.equal(pod?.spec.nodeName, undefined);
  assert.match(pod?.status.conditions[0].message, /^0\/3 nodes are available: 3 node\(s\) didn't/);
});

it('reports and renews on the way where pods take longer than a report is good for', () => {
  const slow = { ...timing, podStartMs: [700_000, 700_000] as const };
  const objects = topologyObjects(shop);
  const work = bringToRest({ ...shop, startsAt: start, timing: slow, objects });
  let step = work.next();
  while (!step.done) step = work.next();
  const clock = new VirtualClock(start);
  const { workloads, budgets } = shop;
  const topology = { region: '', zones: [], nodesPerZone: 0, workloads, budgets };
  const cluster = new Cluster({ clock, seed: shop.seed, timing: slow, apiServer, topology });
  for (const node of shop.nodes) cluster.addNode(node);
  cluster.start();
  clock.advanceTo(step.value.at);
  assert.deepEqual(faces(made(shop, step.value)), faces(cluster));
});
