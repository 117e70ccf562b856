// A NodeDrain that asks by EvictionRequests, beside whoever answers them, as the real kubectl shows it.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  evictionDefinition,
  evictionRequestDefinition,
  installDefinitions,
} from '@taintmgr/api-server';
import { execute, withoutKubectl } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import { deployment, type Topology } from '@taintmgr/sim-cluster';
import { startCluster, startController, until, type WatchedCluster } from './programs.ts';

const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 2,
  workloads: [deployment('shop', 'web', { replicas: 4 })],
  budgets: [],
};

const resource = 'evictionrequests.lifecycle.k8s.io';

function drainOf(name: string): object {
  const taint = { key: 'maintenance' };
  const spec = { nodes: ['a-1'], taint, pods: { evictBy: 'EvictionRequest' } };
  return { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'NodeDrain', metadata: { name }, spec };
}

class World {
  readonly watched: WatchedCluster;

  private constructor(watched: WatchedCluster) {
    this.watched = watched;
  }

  static async start(t: TestContext, evictionRequestMs?: number): Promise<World> {
    const answers = evictionRequestMs === undefined ? {} : { evictionRequestMs };
    const watched = await startCluster(t, topology, answers);
    await installDefinitions(watched.cluster.api, [
      evictionRequestDefinition(),
      evictionDefinition(),
    ]);
    return new World(watched);
  }

  async kubectl(line: string, input: object = {}): Promise<string> {
    const env = { ...process.env, KUBECONFIG: this.watched.kubeconfig };
    const { out, err } = await execute('kubectl', line.split(' '), env, JSON.stringify(input));
    return `${out}${err}`.trim();
  }

  get requests(): number {
    return this.watched.cluster.api.list(resource).length;
  }

  /** Which pods our controller has removed by itself. */
  get removed(): number {
    const { removals } = this.watched;
    return [...removals.values()].filter((by) => by.includes('taintmgr-controller')).length;
  }
}

describe('a NodeDrain and EvictionRequests', { skip: withoutKubectl }, () => {
  it('takes them back when it is undone', async (t) => {
    const world = await World.start(t, 3_600_000);
    await startController(t, world.watched);
    await world.kubectl('apply -f -', drainOf('kernel'));
    await until('the requests', () => world.requests > 0);
    const shown = await world.kubectl(
      'get evictionrequests -n shop -o jsonpath={.items[0].spec.requester}/{.items[0].spec.intent}',
    );
    assert.equal(shown, 'taintmgr.dev/node-drain/Eviction');
    const waits = 'get nodedrain kernel -o jsonpath={.status.blockers[0]}';
    await until('the status', () => {
      const { api } = world.watched.cluster;
      return (api.get('nodedrains.taintmgr.dev', '', 'kernel')?.status?.blockers ?? []).length > 0;
    });
    assert.match(
      await world.kubectl(waits),
      /its eviction is requested \(EvictionRequest\); by pods\/eviction at /,
    );
    await world.kubectl('delete nodedrain kernel --timeout=150s');
    assert.equal(world.requests, 0);
    assert.equal(world.watched.isDrained('a-1'), false);
    assert.equal(world.removed, 0);
  });

  it('leaves pods to whoever answers, also when the leader is killed in between', async (t) => {
    const world = await World.start(t, 6_000);
    const first = await startController(t, world.watched);
    await world.kubectl('apply -f -', drainOf('kernel'));
    await until('the first request', () => world.requests > 0);
    first.child.kill('SIGKILL');
    await first.ended;
    await startController(t, world.watched);
    const waited = await world.kubectl(
      'wait --for=condition=Drained nodedrain/kernel --timeout=150s',
    );
    assert.equal(waited, 'nodedrain.taintmgr.dev/kernel condition met');
    await until('no request', () => world.requests === 0);
    assert.equal(world.removed, 0);
  });

  it('goes on by pods/eviction when the API vanishes, and says so', async (t) => {
    const world = await World.start(t, 3_600_000);
    await startController(t, world.watched);
    await world.kubectl('apply -f -', drainOf('kernel'));
    await until('the requests', () => world.requests > 0);
    await world.kubectl(`delete crd ${resource}`);
    const waited = await world.kubectl(
      'wait --for=condition=Drained nodedrain/kernel --timeout=150s',
    );
    assert.equal(waited, 'nodedrain.taintmgr.dev/kernel condition met');
    assert.ok(world.removed > 0);
    const said = await world.kubectl('get nodedrain kernel -o jsonpath={.status.blockers}');
    assert.match(said, /the cluster has no EvictionRequests/);
    await world.kubectl('delete nodedrain kernel --timeout=150s');
  });

  it('by pods/eviction leaves a pod to whoever else moves it', async (t) => {
    const world = await World.start(t);
    const { cluster } = world.watched;
    const { metadata, spec: where } = cluster.api.list('pods', 'shop')[0] ?? assert.fail();
    const { name, uid, namespace } = metadata;
    const [apiVersion, target] = ['lifecycle.k8s.io/v1alpha1', { pod: { name, uid } }];
    const named = { apiVersion, metadata: { namespace, name: 'of-web' } };
    const spec = { target, requester: 'acme.io/mover', intent: 'Eviction' };
    await world.kubectl('create -f -', { ...named, kind: 'EvictionRequest', spec });
    await world.kubectl('create -f -', { ...named, kind: 'Eviction', spec: { target } });
    const responder = 'vm.example.com/migrator';
    const heartbeatTime = new Date().toISOString();
    const status = {
      targetResponders: [{ name: responder, priority: 10_000, state: 'Active' }],
      responders: [{ name: responder, heartbeatTime, message: 'copied 40 %' }],
    };
    const patch = JSON.stringify({ status });
    await world.kubectl(
      `patch evictions.lifecycle.k8s.io of-web -n shop --type=merge --subresource=status -p ${patch.replaceAll(' ', '_')}`,
    );
    await startController(t, world.watched);
    const kernel = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'NodeDrain' };
    await world.kubectl('apply -f -', {
      ...{ ...kernel, metadata: { name: 'kernel' } },
      spec: { nodes: [where.nodeName], taint: { key: 'maintenance' } },
    });
    await until('the others', () => {
      const pods = cluster.api.list('pods', 'shop');
      return pods.filter((pod) => pod.spec.nodeName === where.nodeName).length === 1;
    });
    const waits = 'get nodedrain kernel -o jsonpath={.status.blockers[0]}';
    await until('the status', () => {
      const { blockers = [] } =
        cluster.api.get('nodedrains.taintmgr.dev', '', 'kernel')?.status ?? {};
      return String(blockers[0]).includes('answers');
    });
    assert.match(
      await world.kubectl(waits),
      new RegExp(
        `^pod shop/${name}: another program is moving it: acme.io/mover has requested its eviction ` +
          `.EvictionRequest of-web.; ${responder} answers: copied_40_%, last heard of at `,
      ),
    );
    assert.notEqual(cluster.api.get('pods', 'shop', name), null);
    await world.kubectl('delete evictionrequest of-web -n shop');
    const waited = await world.kubectl(
      'wait --for=condition=Drained nodedrain/kernel --timeout=60s',
    );
    assert.equal(waited, 'nodedrain.taintmgr.dev/kernel condition met');
  });
});
