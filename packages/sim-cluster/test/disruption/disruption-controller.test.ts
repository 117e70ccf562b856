import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { daemonSet, deployment, namespace, pdb, pod } from '../../src/builders.ts';
import { conditionOf, isActive, isReady } from '../../src/controllers/pods.ts';
import type { Json, KubeObject } from '../../src/objects/kube-object.ts';
import { formatTime } from '../../src/objects/time.ts';
import { evict, podsOf, setSpec, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const ns = 'wire-evict';
const x = { matchLabels: { app: 'x' } };

interface Exchange {
  readonly note?: string;
  readonly response: { readonly body: KubeObject };
}
const recorded: { readonly exchanges: readonly Exchange[] } = JSON.parse(
  readFileSync(
    new URL('../testdata/disruption/real-disruption-controller.json', import.meta.url),
    'utf8',
  ),
);

/** The status in the recording with that note, times replaced as the recording replaces them. */
function recordedStatus(note: string): Json {
  const exchange = recorded.exchanges.find((candidate) => candidate.note === note);
  assert.ok(exchange, note);
  return exchange.response.body.status;
}

function status(api: PlainServer, name: string): Json {
  const text = JSON.stringify(stored(api, 'poddisruptionbudgets', ns, name).status);
  return JSON.parse(text.replace(/"\d{4}-\d\d-\d\dT[^"]*Z"/g, '"<time>"'));
}

function addPod(api: PlainServer, name: string, isReady: boolean, owner?: KubeObject): void {
  const plain = pod(ns, name, { labels: { app: 'x' } });
  const reference = owner && {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? '',
    controller: true,
  };
  const ownerReferences = reference ? [reference] : [];
  const created = api.create('pods', {
    ...plain,
    metadata: { ...plain.metadata, ownerReferences },
    spec: { ...plain.spec, nodeName: 'n' },
  });
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  api.update('pods', { ...created, status: { phase: 'Running', conditions } }, 'status');
}

/** What the eviction subresource writes into a budget before it deletes the pod. */
function recordEviction(api: PlainServer, budgetName: string, podName: string): void {
  const budget = stored(api, 'poddisruptionbudgets', ns, budgetName);
  const disruptedPods = { [podName]: formatTime(api.clock.now()) };
  const disruptionsAllowed = budget.status.disruptionsAllowed - 1;
  const next = { ...budget.status, disruptionsAllowed, disruptedPods };
  api.update('poddisruptionbudgets', { ...budget, status: next }, 'status');
}

/** Pods and budgets as objects only: no kubelets, no workload controllers. */
function start() {
  const running = virtualCluster({ without: ['workloads', 'garbageCollection'] });
  running.api.create('namespaces', namespace(ns));
  return running;
}

describe('budgets as the real disruption controller counts them', () => {
  it('counts bare pods against a whole minAvailable', () => {
    const { api, pass } = start();
    for (const name of ['r-1', 'r-2', 'r-3']) addPod(api, name, name !== 'r-3');
    api.create('poddisruptionbudgets', pdb(ns, 'int-min', { minAvailable: 1 }, x));
    pass(0);
    const first = recordedStatus('minAvailable 1, three bare pods of which two Ready');
    assert.deepEqual(status(api, 'int-min'), first);

    recordEviction(api, 'int-min', 'r-1');
    pass(0);
    const evicted = recordedStatus('right after: the controller has already recounted');
    assert.deepEqual(status(api, 'int-min'), evicted);

    api.delete('pods', ns, 'r-1');
    pass(0);
    assert.equal(evict(api, ns, 'r-2'), 429);
    const terminating = recordedStatus(
      'after the controller saw the pod terminate: entry removed, counts redone',
    );
    assert.deepEqual(status(api, 'int-min'), terminating);
  });

  it('allows nothing when the scale of bare pods is asked for', () => {
    const { api, pass } = start();
    addPod(api, 'r-2', true);
    addPod(api, 'r-3', false);
    api.create('poddisruptionbudgets', pdb(ns, 'max', { maxUnavailable: 1 }, x));
    pass(0);
    const expected = recordedStatus('maxUnavailable with bare pods: nothing is allowed');
    assert.deepEqual(status(api, 'max'), expected);
  });

  it('takes percentages of the scale of the ReplicaSet', () => {
    const { api, pass } = start();
    const { spec } = deployment(ns, 'x', { replicas: 4 });
    const set = api.create('replicasets', {
      metadata: { name: 'o', namespace: ns },
      spec: { ...spec, selector: x },
    });
    for (const name of ['o-1', 'o-2', 'o-3', 'o-4']) addPod(api, name, true, set);
    api.create('poddisruptionbudgets', pdb(ns, 'pct', { maxUnavailable: '25%' }, x));
    pass(0);
    const full = recordedStatus('maxUnavailable 25% of a ReplicaSet with replicas 4');
    assert.deepEqual(status(api, 'pct'), full);
    assert.equal(evict(api, ns, 'o-1'), 201);
    assert.equal(evict(api, ns, 'o-2'), 429);
    pass(0);
    assert.deepEqual(status(api, 'pct'), recordedStatus('one pod terminating'));
    assert.equal(evict(api, ns, 'o-2'), 429);
  });
});

describe('the disruption controller', () => {
  const counts = (api: PlainServer, name: string): readonly number[] => {
    const found = stored(api, 'poddisruptionbudgets', 'default', name).status;
    return [
      found.expectedPods,
      found.desiredHealthy,
      found.currentHealthy,
      found.disruptionsAllowed,
    ];
  };
  const limits: readonly (readonly [
    limit:
      | { readonly minAvailable: number | string }
      | { readonly maxUnavailable: number | string },
    counts: readonly number[],
  ])[] = [
    [{ minAvailable: 2 }, [5, 2, 5, 3]],
    [{ minAvailable: '50%' }, [5, 3, 5, 2]],
    [{ minAvailable: '100%' }, [5, 5, 5, 0]],
    [{ minAvailable: 9 }, [5, 9, 5, 0]],
    [{ maxUnavailable: 1 }, [5, 4, 5, 1]],
    [{ maxUnavailable: '30%' }, [5, 3, 5, 2]],
    [{ maxUnavailable: 9 }, [5, 0, 5, 5]],
    [{ maxUnavailable: 0 }, [5, 5, 5, 0]],
  ];
  for (const [limit, expected] of limits) {
    it(`counts ${JSON.stringify(limit)} of a Deployment of 5`, () => {
      const web = deployment('default', 'web', { replicas: 5 });
      const { api, untilIdle } = virtualCluster({
        topology: small(['a', 'b'], [web], [pdb('default', 'web', limit)]),
      });
      untilIdle();
      assert.deepEqual(counts(api, 'web'), expected);
    });
  }

  it('follows the scale of the workload and the generation of the budget', () => {
    const web = deployment('default', 'web', { replicas: 2 });
    const budget = pdb('default', 'web', { maxUnavailable: 1 });
    const { api, untilIdle } = virtualCluster({ topology: small(['a', 'b'], [web], [budget]) });
    untilIdle();
    setSpec(api, 'deployments', stored(api, 'deployments', 'default', 'web'), { replicas: 4 });
    untilIdle();
    assert.deepEqual(counts(api, 'web'), [4, 3, 4, 1]);
    const first = stored(api, 'poddisruptionbudgets', 'default', 'web');
    setSpec(api, 'poddisruptionbudgets', first, { maxUnavailable: 2 });
    untilIdle();
    assert.deepEqual(counts(api, 'web'), [4, 2, 4, 2]);
    const second = stored(api, 'poddisruptionbudgets', 'default', 'web');
    assert.equal(second.status.observedGeneration, 2);
  });

  it('follows pods into and out of its selector', () => {
    const { api, pass } = start();
    addPod(api, 'r-1', true);
    api.create('poddisruptionbudgets', pdb(ns, 'b', { minAvailable: 1 }, x));
    pass(0);
    const expected = () => stored(api, 'poddisruptionbudgets', ns, 'b').status.expectedPods;
    assert.equal(expected(), 1);
    for (const [app, count] of [
      ['y', 0],
      ['x', 1],
    ] as const) {
      const labelled = stored(api, 'pods', ns, 'r-1');
      api.update('pods', { ...labelled, metadata: { ...labelled.metadata, labels: { app } } });
      pass(0);
      assert.equal(expected(), count);
    }
    const budget = stored(api, 'poddisruptionbudgets', ns, 'b');
    setSpec(api, 'poddisruptionbudgets', budget, { selector: { matchLabels: { app: 'z' } } });
    pass(0);
    assert.equal(expected(), 0);
  });

  it('never lets evictions take more than the budget has', () => {
    const web = deployment('default', 'web', { replicas: 6 });
    const budget = pdb('default', 'web', { maxUnavailable: 2 });
    const { api, pass, untilIdle } = virtualCluster({
      topology: small(['a', 'b', 'c'], [web], [budget]),
    });
    untilIdle();
    const first = new Set(podsOf(api, 'web').map(({ metadata }) => metadata.name));
    const codes = new Set<number>();
    for (let round = 0; round < 200; round++) {
      for (const { metadata } of podsOf(api, 'web')) {
        if (first.has(metadata.name)) codes.add(evict(api, 'default', metadata.name));
      }
      const healthy = podsOf(api, 'web').filter((pod) => isReady(pod) && isActive(pod));
      assert.ok(healthy.length >= 4, `round ${round}`);
      pass(100);
    }
    untilIdle();
    assert.deepEqual([...codes].sort(), [201, 429]);
    assert.ok(!podsOf(api, 'web').some(({ metadata }) => first.has(metadata.name)));
  });

  it('asks the Deployment above a ReplicaSet for the scale', () => {
    const { api, pass } = start();
    const web = api.create('deployments', deployment(ns, 'web', { replicas: 4 }));
    const above = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      uid: web.metadata.uid ?? '',
      controller: true,
    };
    for (const [name, replicas] of [
      ['old', 1],
      ['new', 4],
    ] as const) {
      const set = api.create('replicasets', {
        metadata: { name, namespace: ns, ownerReferences: [above] },
        spec: { replicas, selector: web.spec.selector, template: web.spec.template },
      });
      for (let count = 0; count < replicas; count++) addPod(api, `${name}-${count}`, true, set);
    }
    api.create('poddisruptionbudgets', pdb(ns, 'b', { maxUnavailable: 1 }, x));
    pass(0);
    const { expectedPods, desiredHealthy, disruptionsAllowed } = stored(
      api,
      'poddisruptionbudgets',
      ns,
      'b',
    ).status;
    assert.deepEqual([expectedPods, desiredHealthy, disruptionsAllowed], [4, 3, 2]);
  });

  it('says which pod has a controller that is not there', () => {
    const { api, pass } = start();
    const ghost = { metadata: { name: 'ghost', uid: 'no-such-uid' } };
    addPod(api, 'r-1', true, ghost);
    // One that is another of its name.
    const { spec } = deployment(ns, 'x');
    const metadata = { name: 'ghost', namespace: ns };
    api.create('replicasets', { metadata, spec: { ...spec, selector: x } });
    api.create('poddisruptionbudgets', pdb(ns, 'b', { maxUnavailable: 1 }, x));
    pass(0);
    const condition = conditionOf(
      stored(api, 'poddisruptionbudgets', ns, 'b'),
      'DisruptionAllowed',
    );
    assert.equal(condition?.message, 'found no controllers for pod "r-1"');
  });

  it('fails for kinds that have no scale', () => {
    const agent = daemonSet('default', 'agent');
    const budget = pdb('default', 'agent', { maxUnavailable: 1 });
    const { api, untilIdle } = virtualCluster({ topology: small(['a'], [agent], [budget]) });
    untilIdle();
    const found = stored(api, 'poddisruptionbudgets', 'default', 'agent');
    const condition = conditionOf(found, 'DisruptionAllowed');
    assert.equal(condition?.reason, 'SyncFailed');
    assert.equal(condition?.message, 'daemonsets.apps does not implement the scale subresource');
    assert.equal(found.status.disruptionsAllowed, 0);
  });

  it('forgets an eviction that was not followed by a deletion after 2 min', () => {
    const { api, pass } = start();
    addPod(api, 'r-1', true);
    addPod(api, 'r-2', true);
    api.create('poddisruptionbudgets', pdb(ns, 'b', { minAvailable: 1 }, x));
    pass(0);
    recordEviction(api, 'b', 'r-1');
    pass(119_999);
    const found = () => stored(api, 'poddisruptionbudgets', ns, 'b').status;
    assert.equal(found().disruptionsAllowed, 0);
    pass(1);
    assert.equal(found().disruptionsAllowed, 1);
    assert.equal(found().disruptedPods, undefined);
  });

  it('leaves a status made by hand alone when it is switched off', () => {
    const { api, pass } = virtualCluster({ without: ['disruption'] });
    const budget = api.create('poddisruptionbudgets', pdb('default', 'b', { minAvailable: 1 }, x));
    const byHand = {
      observedGeneration: 1,
      expectedPods: 7,
      desiredHealthy: 1,
      currentHealthy: 7,
      disruptionsAllowed: 6,
    };
    api.update('poddisruptionbudgets', { ...budget, status: byHand }, 'status');
    pass(600_000);
    assert.deepEqual(counts(api, 'b'), [7, 1, 7, 6]);
  });

  it('counts a pod that is not ready once, also while its eviction is on the list', () => {
    const { api, pass } = start();
    for (const name of ['r-1', 'r-2', 'r-3']) addPod(api, name, name !== 'r-3');
    api.create('poddisruptionbudgets', pdb(ns, 'b', { minAvailable: 1 }, x));
    pass(0);
    recordEviction(api, 'b', 'r-3');
    pass(0);
    const found = stored(api, 'poddisruptionbudgets', ns, 'b').status;
    assert.deepEqual([found.currentHealthy, found.disruptionsAllowed], [2, 1]);
  });

  it('allows nothing any more when it cannot count', () => {
    const { api, pass } = start();
    addPod(api, 'r-1', true, { metadata: { name: 'ghost', uid: 'no-such-uid' } });
    addPod(api, 'r-2', true);
    const budget = api.create('poddisruptionbudgets', pdb(ns, 'b', { minAvailable: 1 }, x));
    pass(0);
    const allowed = () => stored(api, 'poddisruptionbudgets', ns, 'b').status.disruptionsAllowed;
    assert.equal(allowed(), 1);
    const { minAvailable: _none, ...spec } = budget.spec;
    const now = stored(api, 'poddisruptionbudgets', ns, 'b');
    api.update('poddisruptionbudgets', { ...now, spec: { ...spec, maxUnavailable: 1 } });
    pass(0);
    assert.equal(allowed(), 0);
    assert.equal(evict(api, ns, 'r-1'), 429);
  });

  it('follows the scale of a ReplicaSet whose pods stay as they are', () => {
    const { api, pass } = start();
    const { spec } = deployment(ns, 'x', { replicas: 4 });
    const metadata = { name: 'o', namespace: ns };
    const set = api.create('replicasets', { metadata, spec: { ...spec, selector: x } });
    for (const name of ['o-1', 'o-2', 'o-3', 'o-4']) addPod(api, name, true, set);
    api.create('poddisruptionbudgets', pdb(ns, 'b', { maxUnavailable: '50%' }, x));
    for (const [replicas, allowed] of [
      [4, 2],
      [8, 0],
      [2, 3],
      [0, 0],
    ] as const) {
      setSpec(api, 'replicasets', set, { replicas });
      pass(0);
      const found = stored(api, 'poddisruptionbudgets', ns, 'b').status;
      assert.deepEqual([found.expectedPods, found.disruptionsAllowed], [replicas, allowed]);
    }
  });
});
