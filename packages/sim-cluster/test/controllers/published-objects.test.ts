import assert from 'node:assert/strict';
import { it } from 'node:test';
import { stored, virtualCluster } from '../world/virtual-cluster.ts';

const bundle = 'kube-root-ca.crt';

it('every namespace gets an account and the certificate, and gets them back', () => {
  const { api, pass } = virtualCluster({ ca: 'PEM' });
  api.create('namespaces', { metadata: { name: 'new' } });
  pass(1);
  for (const name of ['default', 'kube-system', 'new']) {
    stored(api, 'serviceaccounts', name, 'default');
    assert.deepEqual(stored(api, 'configmaps', name, bundle).data, { 'ca.crt': 'PEM' });
  }
  const { uid } = stored(api, 'serviceaccounts', 'new', 'default').metadata;
  api.delete('serviceaccounts', 'new', 'default');
  api.delete('configmaps', 'new', bundle);
  pass(1);
  assert.notEqual(stored(api, 'serviceaccounts', 'new', 'default').metadata.uid, uid);
  const map = stored(api, 'configmaps', 'new', bundle);
  api.update('configmaps', { ...map, metadata: { ...map.metadata, annotations: {} }, data: {} });
  pass(1);
  const restored = stored(api, 'configmaps', 'new', bundle);
  assert.deepEqual(restored.data, { 'ca.crt': 'PEM' });
  const [text = ''] = Object.values(restored.metadata.annotations ?? {});
  assert.match(text, /^Contains a CA bundle/);
});

it('a namespace on its way out gets nothing any more, and goes', () => {
  const { api, pass, until } = virtualCluster({ ca: 'PEM' });
  api.create('namespaces', { metadata: { name: 'old' } });
  pass(1);
  api.delete('namespaces', '', 'old');
  until(() => api.get('namespaces', '', 'old') === null, 'the namespace is gone');
  assert.deepEqual(api.list('configmaps', 'old'), []);
});

it('without a certificate namespaces stay empty', () => {
  const { api, pass } = virtualCluster();
  pass(10_000);
  assert.deepEqual([...api.list('configmaps'), ...api.list('serviceaccounts')], []);
});
