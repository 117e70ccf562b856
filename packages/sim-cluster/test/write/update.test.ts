import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

it('who writes a status changes no owners and no generation', () => {
  const { client } = fixture();
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u-1' };
  const given = podNamed('p', {}, { ownerReferences: [owner] });
  const { generation, ownerReferences } = client.post(pods, given).body.metadata;
  const other = { ...owner, name: 'm', uid: 'u-2' };
  for (const metadata of [{ ownerReferences: [other] }, { ownerReferences: null }]) {
    const patch = { metadata, status: { phase: 'Running' } };
    const { status, body } = client.patch(`${pods}/p/status`, patch);
    assert.deepEqual([status, body.status.phase], [200, 'Running']);
    assert.deepEqual(body.metadata.ownerReferences, ownerReferences);
    assert.equal(body.metadata.generation, generation);
  }
});

it('an object is written under its own name and namespace, or not at all', () => {
  const { client } = fixture();
  const { body } = client.post(pods, podNamed('p'));
  for (const wrong of [{ name: 'q' }, { namespace: 'kube-system' }]) {
    const metadata = { ...body.metadata, ...wrong, labels: { l: '1' } };
    assert.equal(client.put(`${pods}/p`, { ...body, metadata }).status, 400);
    assert.deepEqual(client.get(`${pods}/p`).body, body);
  }
});
