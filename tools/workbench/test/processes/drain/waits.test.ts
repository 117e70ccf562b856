// A NodeDrain that waits for others, carried out by the controller, as the real kubectl shows it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { withoutKubectl } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import { deployment, type Topology } from '@taintmgr/sim-cluster';
import { until } from './programs.ts';
import { World } from './world.ts';

const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 2,
  workloads: [deployment('shop', 'web', { replicas: 4 })],
  budgets: [],
};

/** A Prometheus of one alert, while that fires. */
async function startPrometheus(t: TestContext): Promise<{ readonly url: string; fires: boolean }> {
  const server = createServer((_, response) => {
    const alerts = prometheus.fires ? [{ metric: { alertname: 'DiskFull' }, value: [0, '1'] }] : [];
    const data = { resultType: 'vector', result: alerts };
    response.end(JSON.stringify({ status: 'success', data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const prometheus = { url: `http://127.0.0.1:${port}`, fires: true };
  return prometheus;
}

const object = { apiVersion: 'v1', kind: 'Node', name: '{node}' };
const step = (key: string): object => {
  return {
    name: key,
    object: { ...object, annotation: { key: `example.com/${key}`, value: 'done' } },
  };
};
const closed = { schedule: '0 2 29 2 *', timeZone: 'Europe/Berlin', duration: '4h' };
const open = { schedule: '* * * * *', duration: '1h' };

describe('a NodeDrain that waits for others', () => {
  it('waits for its window, its gate, and the steps before and after a node', {
    skip: withoutKubectl,
  }, async (t) => {
    const world = await World.start(t, topology);
    const prometheus = await startPrometheus(t);
    const spec = {
      nodes: ['a-1'],
      taint: { key: 'maintenance' },
      nodeConditions: 'Publish',
      windows: [closed],
      gates: [{ name: 'alerts', noAlerts: { url: prometheus.url, query: 'ALERTS' } }],
      beforeNode: [step('backup')],
      afterNode: [step('upgrade')],
    };
    const drain = {
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'NodeDrain',
      metadata: { name: 'kernel' },
      spec,
    };
    assert.equal(await world.kubectl('apply -f -', drain), 'nodedrain.taintmgr.dev/kernel created');
    await world.blockedBy(
      /^waits for its window: opens [A-Z]\w\w 20\d\d-02-29 02:00 Europe\/Berlin$/,
    );
    const state = 'get nodedrain kernel -o jsonpath={.status.phase}/{.status.nodeStates[0].reason}';
    assert.equal(await world.kubectl(state), 'Blocked/OutsideWindow');
    await world.kubectl('apply -f -', { ...drain, spec: { ...spec, windows: [open] } });
    await world.blockedBy(/^waits for gate alerts: DiskFull fires$/);
    assert.equal(await world.kubectl(state), 'Blocked/GateClosed');
    assert.equal(await world.kubectl('get node a-1 -o jsonpath={.spec.taints}'), '');
    prometheus.fires = false;
    await world.blockedBy(
      /^node a-1: waits for backup: Node a-1 has no annotation example.com\/backup$/,
    );
    assert.equal(world.isDrained('a-1'), false);
    await world.kubectl('annotate node a-1 example.com/backup=done');
    await world.blockedBy(/^node a-1: waits for upgrade: Node a-1 has no annotation/);
    assert.equal(world.isDrained('a-1'), true);
    assert.equal(await world.kubectl(state), 'Blocked/AfterNode');
    await world.kubectl('annotate node a-1 example.com/upgrade=done');
    const waited = await world.kubectl(
      'wait --for=condition=Drained nodedrain/kernel --timeout=150s',
    );
    assert.equal(waited, 'nodedrain.taintmgr.dev/kernel condition met');
    const said = await world.kubectl('wait --for=condition=Drained node/a-1 --timeout=150s');
    assert.equal(said, 'node/a-1 condition met');
    await world.kubectl('delete nodedrain kernel');
    const takenBack = 'wait --for=condition=Drained=false node/a-1 --timeout=150s';
    assert.equal(await world.kubectl(takenBack), 'node/a-1 condition met');
  });

  it('takes a node back when its gate closes in the middle, and begins it anew', {
    skip: withoutKubectl,
  }, async (t) => {
    const world = await World.start(t, topology);
    const selector = { matchLabels: { app: 'web' } };
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { minAvailable: 4, selector },
    };
    await world.kubectl('apply -f -', budget);
    const annotation = { key: 'example.com/open', value: 'yes' };
    const gate = { name: 'fleet', object: { ...object, name: 'a-2', annotation } };
    const drain = {
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'NodeDrain',
      metadata: { name: 'kernel' },
      spec: {
        ...{ nodes: ['a-1'], taint: { key: 'maintenance' } },
        ...{ gates: [gate], whileClosed: 'RollBack' },
      },
    };
    await world.kubectl('annotate node a-2 example.com/open=yes');
    await world.kubectl('apply -f -', drain);
    await world.blockedBy(/^pod shop\/web-.* needs 4 healthy pods and has 4/);
    const set = 'get node a-1 -o jsonpath={.spec.taints[*].key}/{.spec.unschedulable}';
    assert.match(await world.kubectl(set), /maintenance.*\/true$/);
    await world.kubectl('annotate node a-2 --overwrite example.com/open=no');
    await world.blockedBy(/^waits for gate fleet: annotation .* is "no", want "yes"$/);
    await until('the node to be taken back', () => !world.isTainted('a-1'));
    assert.equal(await world.kubectl(set), '/');
    assert.equal(
      await world.kubectl('get nodedrain kernel -o jsonpath={.status.phase}'),
      'Blocked',
    );
    await world.kubectl('delete pdb web -n shop');
    await world.kubectl('annotate node a-2 --overwrite example.com/open=yes');
    const waited = await world.kubectl(
      'wait --for=condition=Drained nodedrain/kernel --timeout=150s',
    );
    assert.equal(waited, 'nodedrain.taintmgr.dev/kernel condition met', await world.drainAsIs());
  });
});
