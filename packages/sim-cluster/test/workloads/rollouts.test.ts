import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlainServer } from '../../src/api/plain-server.ts';
import { deployment } from '../../src/builders.ts';
import { conditionOf, isTerminating } from '../../src/controllers/pods.ts';
import { podsOf, setSpec, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const zones = ['a', 'b', 'c'];

function start(spec = {}) {
  const web = deployment('default', 'web', { replicas: 2, spec });
  const running = virtualCluster({ topology: small(zones, [web]) });
  running.untilIdle();
  return running;
}

function change(api: PlainServer, spec: object): void {
  setSpec(api, 'deployments', stored(api, 'deployments', 'default', 'web'), spec);
}

function setVersion(api: PlainServer, version: string): void {
  const { template } = stored(api, 'deployments', 'default', 'web').spec;
  const labels = { ...template.metadata.labels, version };
  change(api, { template: { ...template, metadata: { labels } } });
}

const versionsOf = (api: PlainServer): readonly string[] =>
  podsOf(api, 'web').map(({ metadata }) => metadata.labels?.version ?? '1');

const progressOf = (api: PlainServer): string | undefined =>
  conditionOf(stored(api, 'deployments', 'default', 'web'), 'Progressing')?.reason;

describe('a paused Deployment', () => {
  it('follows its scale and rolls nothing out until it goes on', () => {
    const { api, untilIdle } = start();
    change(api, { paused: true });
    setVersion(api, '2');
    untilIdle();
    assert.deepEqual(versionsOf(api), ['1', '1']);
    assert.equal(api.list('replicasets').length, 1);
    for (const replicas of [3, 0, 2]) {
      change(api, { replicas });
      untilIdle();
      assert.deepEqual(versionsOf(api), Array(replicas).fill('1'));
    }
    const { status } = stored(api, 'deployments', 'default', 'web');
    assert.deepEqual([status.replicas, status.updatedReplicas], [2, undefined]);
    assert.equal(progressOf(api), 'DeploymentPaused');
    change(api, { paused: false });
    untilIdle();
    assert.deepEqual(versionsOf(api), ['2', '2']);
    assert.equal(progressOf(api), 'NewReplicaSetAvailable');
  });

  it('leaves a rollout where it is, and scales both templates in proportion', () => {
    const { api, pass } = start();
    setVersion(api, '2');
    pass(100);
    assert.deepEqual(versionsOf(api), ['1', '1', '2']);
    change(api, { paused: true });
    pass(60_000);
    assert.deepEqual(versionsOf(api), ['1', '1', '2']);
    // With a surge of 25 % there may be 7, where there were to be 3.
    change(api, { replicas: 5 });
    pass(60_000);
    assert.deepEqual([...versionsOf(api)].sort(), ['1', '1', '1', '1', '1', '2', '2']);
  });

  it('gets the pods of its latest revision where it had none', () => {
    const { api, untilIdle } = start();
    setVersion(api, '2');
    untilIdle();
    change(api, { replicas: 0 });
    untilIdle();
    change(api, { paused: true, replicas: 2 });
    untilIdle();
    assert.deepEqual(versionsOf(api), ['2', '2']);
  });

  it('makes no ReplicaSet', () => {
    const { api, cluster, pass } = virtualCluster({ topology: small(zones) });
    api.create('deployments', deployment('default', 'web', { spec: { paused: true } }));
    pass(60_000);
    assert.deepEqual(api.list('replicasets'), []);
    assert.equal(cluster.isIdle(), false);
  });
});

it('a Deployment that goes back to an older template gives it the latest revision', () => {
  const { api, untilIdle } = start();
  const revisions = (): readonly unknown[] =>
    api
      .list('replicasets')
      .map(({ spec, metadata }) => [
        spec.template.metadata.labels.version ?? '1',
        metadata.annotations?.['deployment.kubernetes.io/revision'],
      ])
      .sort();
  for (const version of ['2', '3', '2', '3']) {
    setVersion(api, version);
    untilIdle();
  }
  assert.deepEqual(revisions(), [
    ['1', '1'],
    ['2', '4'],
    ['3', '5'],
  ]);
});

it('a rollout is complete when no pod of the old template is left, and not before', () => {
  const { api, untilIdle } = start();
  const before = stored(api, 'deployments', 'default', 'web');
  const old = conditionOf(before, 'Progressing')?.message;
  const unavailable: number[] = [];
  const atCompletion: (readonly unknown[])[] = [];
  api.subscribe(
    ({ object }) => {
      const { reason, message } = conditionOf(object, 'Progressing') ?? {};
      unavailable.push(object.status.unavailableReplicas ?? 0);
      if (reason !== 'NewReplicaSetAvailable' || message === old) return;
      const there = podsOf(api, 'web').filter((pod) => !isTerminating(pod));
      atCompletion.push(there.map(({ metadata }) => metadata.labels?.version));
    },
    new Set(['deployments']),
  );
  setVersion(api, '2');
  untilIdle();
  assert.deepEqual(atCompletion[0], ['2', '2']);
  // The one that is made before an old one goes counts as unavailable, as in the real one.
  assert.deepEqual(new Set(unavailable), new Set([0, 1]));
});

describe('a Deployment is available while no more pods are down than its strategy allows', () => {
  const rolling = (rollingUpdate: object) => ({ type: 'RollingUpdate', rollingUpdate });
  const cases: readonly (readonly [
    replicas: number,
    strategy: { readonly type: string },
    down: number,
    available: string,
  ])[] = [
    [4, rolling({}), 1, 'True'],
    [4, rolling({}), 2, 'False'],
    [3, rolling({}), 1, 'False'],
    [4, rolling({ maxUnavailable: '50%' }), 2, 'True'],
    [4, rolling({ maxUnavailable: '50%' }), 3, 'False'],
    [3, rolling({ maxUnavailable: 1 }), 1, 'True'],
    [3, rolling({ maxUnavailable: 1 }), 2, 'False'],
    // Else it could not go on at all.
    [3, rolling({ maxSurge: 0 }), 1, 'True'],
    [3, rolling({ maxSurge: 0 }), 2, 'False'],
    [4, { type: 'Recreate' }, 1, 'False'],
  ];
  for (const [replicas, strategy, down, available] of cases) {
    it(`${down} of ${replicas} down, ${JSON.stringify(strategy)}: ${available}`, () => {
      const spec = { strategy };
      const web = deployment('default', 'web', { replicas, spec });
      const topology = small(['a', 'b', 'c', 'd'], [web]);
      const { api, cluster, pass, untilIdle } = virtualCluster({ topology });
      untilIdle();
      for (const pod of podsOf(api, 'web').slice(0, down)) {
        cluster.node(pod.spec.nodeName).stop();
        const conditions = [{ type: 'Ready', status: 'False' }];
        api.update('pods', { ...pod, status: { ...pod.status, conditions } }, 'status');
      }
      pass(1000);
      const now = stored(api, 'deployments', 'default', 'web');
      assert.equal(conditionOf(now, 'Available')?.status, available);
      assert.equal(now.status.unavailableReplicas, down);
      // It was complete once.
      assert.equal(conditionOf(now, 'Progressing')?.reason, 'NewReplicaSetAvailable');
    });
  }
});
