import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deployment } from '@taintmgr/sim-cluster';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const apps = '/apis/apps/v1/namespaces/default';

it('a watch of Tables has columns in its first event only', () => {
  const { client } = fixture();
  const watch = client.watch(pods, { headers: { accept: table } });
  client.post(pods, podNamed('a'));
  client.patch(`${pods}/a`, { metadata: { labels: { q: '1' } } });
  const [first, second] = watch.events.map(({ object }) => object);
  assert.deepEqual([first?.kind, first?.columnDefinitions.length], ['Table', 9]);
  assert.deepEqual([second?.kind, second?.columnDefinitions], ['Table', null]);
  assert.equal(second?.rows[0].object.kind, 'PartialObjectMetadata');
});

it('a watch of Tables from a version that is gone is one ERROR', () => {
  const { api, client } = fixture();
  const resourceVersion = client.get(pods).body.metadata.resourceVersion ?? '';
  for (const n of ['a', 'b', 'c']) client.post(pods, podNamed(n));
  api.compact();
  const watch = client.watch(pods, { query: { resourceVersion }, headers: { accept: table } });
  const [event] = watch.events;
  assert.deepEqual(
    [watch.response().status, watch.events.length, event?.type, event?.object.kind],
    [200, 1, 'ERROR', 'Status'],
  );
});

it('the scale of a workload is printed with what is wanted and what is there', () => {
  const { api, client } = fixture();
  api.create('deployments', deployment('default', 'web', { replicas: 3 }));
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { body } = client.get(`${apps}/deployments/web/scale`, { headers: { accept } });
  assert.deepEqual(
    body.columnDefinitions.map(({ name }: { readonly name: string }) => name),
    ['Name', 'Desired', 'Available', 'Age'],
  );
  assert.deepEqual(body.rows[0].cells, ['web', 3, 0, '0s']);
});
