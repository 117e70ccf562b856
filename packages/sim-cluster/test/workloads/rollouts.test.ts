import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiServer } from '../../src/api/api-server.ts';
import { deployment } from '../../src/builders.ts';
import { conditionOf } from '../../src/controllers/pods.ts';
import { podsOf, setSpec, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

const zones = ['a', 'b', 'c'];

function start(spec = {}) {
  const web = deployment('default', 'web', { replicas: 2, spec });
  const running = virtualCluster({ topology: small(zones, [web]) });
  running.untilIdle();
  return running;
}

function change(api: ApiServer, spec: object): void {
  setSpec(api, 'deployments', stored(api, 'deployments', 'default', 'web'), spec);
}

function setVersion(api: ApiServer, version: string): void {
  const { template } = stored(api, 'deployments', 'default', 'web').spec;
  const labels = { ...template.metadata.labels, version };
  change(api, { template: { ...template, metadata: { labels } } });
}

const versionsOf = (api: ApiServer): readonly string[] =>
  podsOf(api, 'web').map(({ metadata }) => metadata.labels?.version ?? '1');

const progressOf = (api: ApiServer): string | undefined =>
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
