// kubectl applies by patches of its own, and then lets the server apply.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import { applyType, type Client, merge } from '../../../sim-cluster/test/world/client.ts';
import { fixture } from '../world/api-fixture.ts';

const note = 'kubectl.kubernetes.io/last-applied-configuration';
const configMaps = '/api/v1/namespaces/default/configmaps';
const path = `${configMaps}/c`;
const wanted = (data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c' },
  data,
});

/** As `kubectl apply` makes it. */
function applied({ client }: { readonly client: Client }, data: object, apiVersion = 'v1') {
  const annotations = { [note]: `${JSON.stringify({ ...wanted(data), apiVersion })}\n` };
  const query = { fieldManager: 'kubectl-client-side-apply' };
  client.post(configMaps, { ...wanted(data), metadata: { name: 'c', annotations } }, { query });
  return (next: object, fieldManager = 'kubectl') =>
    client.patch(path, wanted(next), applyType, { query: { fieldManager } });
}

describe('kubectl that lets the server apply what it applied by itself', () => {
  it('takes its fields over, and has its note written anew', () => {
    const { status, body } = applied(fixture(), { a: '1', b: '1' })({ b: '2', a: '2' });
    assert.deepEqual([status, body.data], [200, { a: '2', b: '2' }]);
    assert.equal(
      body.metadata.annotations?.[note],
      '{"apiVersion":"v1","data":{"a":"2","b":"2"},"kind":"ConfigMap","metadata":{"name":"c"}}\n',
    );
  });

  it('is refused what another has changed since', () => {
    const running = fixture();
    const apply = applied(running, { a: '1', b: '1' });
    running.client.patch(path, { data: { b: '3' } }, merge, { query: { fieldManager: 'other' } });
    assert.equal(
      apply({ a: '2', b: '2' }).body.message,
      'Apply failed with 1 conflict: conflict with "other" using v1: .data.b',
    );
  });

  it('is refused where it goes by another name, or noted another version', () => {
    const text =
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.a';
    assert.equal(applied(fixture(), { a: '1' })({ a: '2' }, 'other').body.message, text);
    assert.equal(applied(fixture(), { a: '1' }, 'v2')({ a: '2' }).body.message, text);
  });
});
