import assert from 'node:assert/strict';
import { it } from 'node:test';
import { statefulSet } from '../../src/builders.ts';
import { isReady, isTerminating } from '../../src/controllers/pods.ts';
import type { ClusterApi } from '../../src/store/cluster-api.ts';
import { podsOf, setSpec, small, stored, virtualCluster } from '../world/virtual-cluster.ts';

function start(spec = {}) {
  const set = statefulSet('default', 'db', { replicas: 3, spec });
  const running = virtualCluster({ topology: small(['a', 'b', 'c'], [set]) });
  running.untilIdle();
  return running;
}

const set = (api: ClusterApi) => api.get('statefulsets', 'default', 'db') ?? assert.fail();

it('a StatefulSet replaces a pod that has ended by one of its name', () => {
  const { api, untilIdle } = start();
  const ended = stored(api, 'pods', 'default', 'db-1');
  api.update('pods', { ...ended, status: { ...ended.status, phase: 'Failed' } }, 'status');
  untilIdle();
  const { metadata } = stored(api, 'pods', 'default', 'db-1');
  assert.notEqual(metadata.uid, ended.metadata.uid);
});

it('a StatefulSet makes no further pod while one before it is ending, though that is still ready', () => {
  const { api, pass, untilIdle } = start();
  api.delete('pods', 'default', 'db-0');
  setSpec(api, 'statefulsets', set(api), { replicas: 4 });
  pass(500);
  const ending = stored(api, 'pods', 'default', 'db-0');
  assert.deepEqual([isReady(ending), isTerminating(ending)], [true, true]);
  assert.equal(api.get('pods', 'default', 'db-3'), null);
  assert.equal(set(api).status.readyReplicas, 3);
  assert.equal(set(api).status.currentReplicas, 2);
  untilIdle();
  assert.equal(set(api).status.readyReplicas, 4);
});

it('a StatefulSet that makes its pods all at once rolls a template out one by one', () => {
  const { api, untilIdle } = start({ podManagementPolicy: 'Parallel' });
  let fewest = 3;
  api.subscribe(() => {
    fewest = Math.min(fewest, podsOf(api, 'db').filter(isReady).length);
  });
  const { template } = set(api).spec;
  const labels = { ...template.metadata.labels, version: '2' };
  setSpec(api, 'statefulsets', set(api), { template: { ...template, metadata: { labels } } });
  untilIdle();
  assert.equal(fewest, 2);
  assert.ok(podsOf(api, 'db').every(({ metadata }) => metadata.labels?.version === '2'));
});

it('a StatefulSet gives a pod that comes again the claims that it had', () => {
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claim }];
  const { api, untilIdle } = start({ volumeClaimTemplates });
  const claims = () =>
    api.list('persistentvolumeclaims').map(({ metadata }) => [metadata.name, metadata.uid]);
  const before = claims();
  assert.deepEqual(
    before.map(([name]) => name),
    ['data-db-0', 'data-db-1', 'data-db-2'],
  );
  const old = stored(api, 'pods', 'default', 'db-1');
  api.delete('pods', 'default', 'db-1');
  untilIdle();
  const { metadata, spec } = stored(api, 'pods', 'default', 'db-1');
  assert.notEqual(metadata.uid, old.metadata.uid);
  assert.deepEqual(spec.volumes, old.spec.volumes);
  assert.deepEqual(claims(), before);
});
