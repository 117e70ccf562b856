// Names that every JavaScript object has are names like others where a client gives them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pdb } from '@taintmgr/sim-cluster';
import { admitsNode } from '@taintmgr/sim-cluster/server';
// @boundaries-ignore the cluster's own tests live in the same world
import { jsonPatch, merge, strategic } from '../../../sim-cluster/test/world/client.ts';
import { goRegExp } from '../../src/cel/regular-expression.ts';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';
import { bench, binding } from '../world/rbac.ts';
import { stored, virtualCluster } from '../world/virtual-cluster.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

describe('a name that every object has', () => {
  it('is no cluster role', () => {
    const b = bench(binding('ClusterRoleBinding', 'agent', 'ClusterRole constructor'));
    assert.equal(b.ask('GET', pods).status, 403);
  });

  for (const kind of ['constructor', 'toString', '__proto__']) {
    it(`is no kind of owner: ${kind}`, () => {
      const { api, pass } = virtualCluster();
      const owner = { apiVersion: 'v1', kind, name: 'x', uid: 'u', controller: true };
      const selector = { matchLabels: { app: 'x' } };
      api.create('poddisruptionbudgets', pdb('default', 'all', { maxUnavailable: 1 }, selector));
      api.create('pods', podNamed('p', {}, { ownerReferences: [owner], labels: { app: 'x' } }));
      pass(1000);
      api.delete('pods', 'default', 'p');
      pass(1000);
      assert.equal(api.get('pods', 'default', 'p'), null);
      assert.equal(stored(api, 'poddisruptionbudgets', 'default', 'all').status.expectedPods, 0);
    });
  }

  it('is a key of a ConfigMap, and a patch may add it', () => {
    const { client } = fixture();
    const data = { constructor: 'x' };
    assert.equal(client.post(configMaps, { metadata: { name: 'a' }, data }).status, 201);
    client.post(configMaps, { metadata: { name: 'b' } });
    const types = ['merge-patch', 'strategic-merge-patch'];
    for (const type of types) {
      const { body } = client.patch(
        `${configMaps}/b`,
        { data: { [type]: '1', valueOf: type } },
        `application/${type}+json`,
      );
      assert.equal(body.data.valueOf, type);
    }
  });

  it('is no label of a node', () => {
    const term = { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] };
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
      },
    };
    assert.ok(!admitsNode({ affinity }, { metadata: { name: 'n', labels: {} } }));
  });

  it('is no class of characters', () => {
    assert.deepEqual(goRegExp('[[:constructor:]]'), {
      error: 'error parsing regexp: invalid character class range: `[:constructor:]`',
    });
  });
});

it('a ConfigMap keeps a key __proto__, however it is written', () => {
  const { client } = fixture();
  const path = '/api/v1/namespaces/default/configmaps';
  const data = (value: string): { readonly data: object } =>
    JSON.parse(`{"data":{"__proto__":"${value}","a":"b"}}`);
  const made = client.post(path, { metadata: { name: 'm' }, ...data('one') });
  assert.match(made.text, /"data":\{"__proto__":"one","a":"b"\}/);
  for (const type of [merge, strategic]) {
    const patched = client.patch(`${path}/m`, data(type), type);
    assert.equal(patched.status, 200, patched.text);
    assert.ok(client.get(`${path}/m`).text.includes(`"__proto__":"${type}"`));
  }
  client.patch(`${path}/m`, { data: null }, merge);
  const added = [
    { op: 'add', path: '/data', value: {} },
    { op: 'add', path: '/data/__proto__', value: strategic },
  ];
  assert.match(client.patch(`${path}/m`, added, jsonPatch).text, /"data":\{"__proto__":/);
  client.patch(`${path}/m`, { metadata: { labels: { c: 'd' } } }, merge);
  assert.ok(client.get(`${path}/m`).text.includes(`"__proto__":"${strategic}"`));
});
