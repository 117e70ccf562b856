// In which order pods leave by a NodeDrain, what holds them, and two drains of one node: the real kubectl.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutKubectl } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import type { Topology } from '@taintmgr/sim-cluster';
import { until } from './programs.ts';
import { World } from './world.ts';

const topology: Topology = {
  ...{ region: 'r', zones: ['a'], nodesPerZone: 2 },
  ...{ workloads: [], budgets: [] },
};
const apiVersion = 'taintmgr.dev/v1alpha1';
const gate = { apiVersion: 'v1', kind: 'Node', name: 'a-2' };

/** A pod of a-1 that nobody starts again. */
function podOf(name: string, { annotations = {}, ...spec }: Record<string, unknown> = {}): object {
  const containers = [{ name: 'main', image: 'example.com/main' }];
  const metadata = { name, namespace: 'default', labels: { app: name }, annotations };
  const where = { nodeName: 'a-1', terminationGracePeriodSeconds: 1 };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...where, containers, ...spec } };
}

const drainOf = (name: string, spec: object): object => {
  const pods = { withoutController: true };
  return {
    apiVersion,
    kind: 'NodeDrain',
    metadata: { name },
    spec: { nodes: ['a-1'], pods, ...spec },
  };
};
const wait = (what: string, of: string): string =>
  `wait --for=condition=${what} ${of} --timeout=150s`;

async function apply(world: World, ...objects: readonly object[]): Promise<void> {
  for (const object of objects)
    assert.match(await world.kubectl('apply -f -', object), / created$/);
}

async function pods(world: World): Promise<void> {
  const ready = await world.kubectl(
    'wait --for=condition=Ready pod --all -n default --timeout=150s',
  );
  assert.match(ready, /condition met/);
}

describe('a NodeDrain and the pods of a node', { skip: withoutKubectl }, () => {
  it('lets them go by priority, and the last groups one after the other', async (t) => {
    const world = await World.start(t, topology);
    const gone: string[] = [];
    const order: string[] = [];
    t.after(
      world.api.subscribe(({ resource, type, object: { metadata } }) => {
        if (resource !== 'pods') return;
        if (type === 'DELETED') gone.push(metadata.name);
        else if (
          metadata.deletionTimestamp &&
          !order.some((one) => one.startsWith(`${metadata.name} `))
        )
          order.push(`${metadata.name} after ${[...gone].sort().join(',')}`);
      }),
    );
    const critical = { priorityClassName: 'system-cluster-critical' };
    await apply(world, podOf('shipper'), podOf('storage'), podOf('web'), podOf('dns', critical));
    await pods(world);
    const last = [
      { podSelector: { matchLabels: { app: 'shipper' } } },
      { podSelector: { matchLabels: { app: 'storage' } } },
    ];
    const taint = { key: 'maintenance' };
    await apply(
      world,
      drainOf('kernel', { taint, pods: { withoutController: true, order: 'ByPriority', last } }),
    );
    assert.equal(
      await world.kubectl(wait('Drained', 'nodedrain/kernel')),
      'nodedrain.taintmgr.dev/kernel condition met',
    );
    assert.deepEqual(order, [
      'web after ',
      'dns after web',
      'shipper after dns,web',
      'storage after dns,shipper,web',
    ]);
  });

  it('heeds a label of nodes and annotations of pods, and holds pods while its gate is closed', async (t) => {
    const world = await World.start(t, topology);
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    await apply(world, podOf('busy', { annotations }), podOf('web'));
    await pods(world);
    await world.kubectl('annotate node a-2 example.com/gate=open');
    await world.kubectl('label node a-1 example.com/keep=');
    const annotation = { key: 'example.com/gate', value: 'open' };
    await apply(
      world,
      drainOf('kernel', {
        taint: { key: 'maintenance' },
        heeds: { podAnnotations: ['karpenter.sh/do-not-disrupt'], pauseLabel: 'example.com/keep' },
        gates: [{ name: 'weekend', object: { ...gate, annotation } }],
        whileClosed: 'HoldPods',
        nodeConditions: 'Publish',
      }),
    );
    await world.blockedBy(/^node a-1: it has the label example.com\/keep$/);
    assert.equal(await world.kubectl('get node a-1 -o jsonpath={.spec.taints}'), '');
    assert.match(await world.kubectl(wait('MaintenancePlanned', 'node/a-1')), /condition met$/);
    await world.kubectl('label node a-1 example.com/keep-');
    await world.blockedBy(
      /^pod default\/busy: its annotation karpenter.sh\/do-not-disrupt is true$/,
    );
    assert.match(await world.kubectl(wait('DrainInProgress', 'node/a-1')), /condition met$/);
    assert.match(await world.kubectl('get pod web -n default'), /NotFound/);
    await world.kubectl('annotate node a-2 --overwrite example.com/gate=closed');
    await world.blockedBy(
      /^waits for gate weekend: annotation example.com\/gate of Node a-2 is "closed", want "open"$/,
    );
    const freed = await world.kubectl('annotate pod busy -n default karpenter.sh/do-not-disrupt-');
    assert.equal(freed, 'pod/busy annotated');
    const said = (): string =>
      JSON.stringify(world.api.get('nodedrains.taintmgr.dev', '', 'kernel')?.status?.pods ?? []);
    await until('the annotation to be gone', () => !/do-not-disrupt/.test(said()), said);
    assert.match(
      await world.kubectl('get pod busy -n default -o jsonpath={.metadata.deletionTimestamp}'),
      /^$/,
    );
    await world.kubectl('annotate node a-2 --overwrite example.com/gate=open');
    assert.match(await world.kubectl(wait('Drained', 'nodedrain/kernel')), /condition met$/);
    assert.match(await world.kubectl(wait('Drained', 'node/a-1')), /condition met$/);
  });

  it('waits for the drain that is at work on its node, and inherits the cordon', async (t) => {
    const world = await World.start(t, topology);
    await apply(world, podOf('busy', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }));
    await pods(world);
    const heeds = { podAnnotations: ['karpenter.sh/do-not-disrupt'] };
    await apply(world, drainOf('kernel', { taint: { key: 'maintenance' }, heeds }));
    await world.blockedBy(/^pod default\/busy: its annotation/);
    await apply(world, drainOf('disk', { taint: { key: 'disk' } }));
    const reason =
      'get nodedrain disk -o jsonpath={.status.nodeStates[0].reason}/{.status.blockers[0]}';
    const status = (): string =>
      world.api.get('nodedrains.taintmgr.dev', '', 'disk')?.status?.phase;
    await until('disk to wait', () => status() === 'Blocked', status);
    assert.equal(
      await world.kubectl(reason),
      'AnotherDrain/node a-1: drain kernel is at work there',
    );
    const freed = await world.kubectl('annotate pod busy -n default karpenter.sh/do-not-disrupt-');
    assert.equal(freed, 'pod/busy annotated');
    for (const name of ['kernel', 'disk']) {
      const said = await world.kubectl(wait('Drained', `nodedrain/${name}`));
      const drains = (): string =>
        JSON.stringify(world.api.list('nodedrains.taintmgr.dev').map(({ status }) => status));
      assert.match(said, /condition met$/, `${drains()}\n${world.log}`);
    }
    const node = 'get node a-1 -o jsonpath={.spec.unschedulable}/{.spec.taints[*].key}';
    assert.equal(
      await world.kubectl('delete nodedrain kernel'),
      'nodedrain.taintmgr.dev "kernel" deleted',
    );
    assert.match(await world.kubectl(node), /^true\/.*disk/);
    await world.kubectl('delete nodedrain disk');
    assert.doesNotMatch(await world.kubectl(node), /true|disk|maintenance/);
  });
});
