import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { fixture, nodes, podNamed, pods } from '../world/api-fixture.ts';
import { merge, strategic } from '../world/client.ts';

const as = (fieldManager: string) => ({ query: { fieldManager } });
/** Of a node that says nothing but its name, nobody is an owner. */
const made = { name: 'n1', labels: { made: '' } };
const taint = { key: 'maintenance', effect: 'NoExecute' };

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly time: string;
  readonly subresource?: string;
  readonly fieldsV1: { readonly [element: string]: Entry['fieldsV1'] };
}

function entriesOf(object: KubeObject): readonly Entry[] {
  return (object.metadata.managedFields ?? []) as unknown as readonly Entry[];
}

/** `manager[/subresource]@second`, of those who own `spec.<name>`. */
function ownersOf(object: KubeObject, name: string): readonly string[] {
  return entriesOf(object)
    .filter(({ fieldsV1 }) => fieldsV1['f:spec']?.[`f:${name}`])
    .map(({ manager, time }) => `${manager}@${time.slice(17, 19)}`);
}

describe('managed fields', () => {
  it('are kept of every write over the API, as a real server keeps them', () => {
    const { client } = fixture();
    const name = 'wire-mf';
    const labels = { 'kubernetes.io/hostname': name };
    client.post(nodes, { metadata: { name, labels } }, as('creator'));
    client.patch(`${nodes}/${name}`, { spec: { unschedulable: true } }, merge, as('myctl'));
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    client.patch(`${nodes}/${name}/status`, { status }, strategic, as('myctl'));
    const timeless = (object: KubeObject) =>
      entriesOf(object).map((entry) => ({ ...entry, time: '' }));
    const url = new URL('../testdata/write/recorded/node-managed-fields.json', import.meta.url);
    const recorded = JSON.parse(readFileSync(url, 'utf8')) as KubeObject;
    assert.deepEqual(timeless(client.get(`${nodes}/${name}`).body), timeless(recorded));
  });

  it('name the writer by its User-Agent, up to the first slash', () => {
    const { client } = fixture();
    const headers = { 'user-agent': 'kubectl/v1.36.2 (linux/amd64)' };
    const { body } = client.post(pods, podNamed('p'), { headers });
    assert.deepEqual(
      entriesOf(body).map(({ manager, operation }) => [manager, operation]),
      [['kubectl', 'Update']],
    );
  });

  it('pass to whoever changes a field, whose time alone is renewed', () => {
    const { client, pass } = fixture();
    const node = `${nodes}/n1`;
    client.post(nodes, { metadata: made }, as('maker'));
    pass(1000);
    client.patch(node, { spec: { taints: [taint] } }, merge, as('one'));
    pass(1000);
    client.patch(node, { spec: { unschedulable: true } }, merge, as('two'));
    const cordoned = client.get(node).body;
    assert.deepEqual(ownersOf(cordoned, 'taints'), ['one@01']);
    assert.deepEqual(ownersOf(cordoned, 'unschedulable'), ['two@02']);
    pass(1000);
    client.patch(node, { spec: { taints: [{ ...taint, value: 'x' }] } }, merge, as('two'));
    const taken = client.get(node).body;
    assert.deepEqual(ownersOf(taken, 'taints'), ['two@03']);
    assert.deepEqual(
      entriesOf(taken).map(({ manager }) => manager),
      ['maker', 'two'],
    );
  });

  it('keep the time of one who only removes fields, or changes nothing', () => {
    const { client, pass } = fixture();
    const node = `${nodes}/n1`;
    client.post(nodes, { metadata: { name: 'n1', labels: { a: '1', b: '1' } } }, as('maker'));
    pass(1000);
    client.patch(node, { metadata: { labels: { a: null } } }, merge, as('maker'));
    const same = client.patch(node, { metadata: { labels: { b: '1' } } }, merge, as('maker'));
    const [entry] = entriesOf(same.body);
    assert.equal(entry?.time, '2026-01-01T00:00:00Z');
    assert.deepEqual(entry?.fieldsV1['f:metadata'], { 'f:labels': { '.': {}, 'f:b': {} } });
  });

  it('of taints are new when a node is tainted again, even alike', () => {
    const { client, pass } = fixture();
    const node = `${nodes}/n1`;
    client.post(nodes, { metadata: { name: 'n1', labels: { l: '' } } }, as('maker'));
    client.patch(node, { spec: { taints: [taint] } }, merge, as('kubectl-taint'));
    pass(5000);
    const bare = client.patch(node, { spec: { taints: null } }, merge, as('kubectl-taint'));
    assert.deepEqual(ownersOf(bare.body, 'taints'), []);
    pass(5000);
    client.patch(node, { spec: { taints: [taint] } }, merge, as('kubectl-taint'));
    assert.deepEqual(ownersOf(client.get(node).body, 'taints'), ['kubectl-taint@10']);
  });

  it('are of ten updating managers at most; the oldest become one', () => {
    const { client, pass } = fixture();
    const node = `${nodes}/n1`;
    client.post(nodes, { metadata: made }, as('maker'));
    for (let index = 0; index < 11; index++) {
      pass(1000);
      client.patch(node, { metadata: { labels: { [`l${index}`]: '' } } }, merge, as(`m${index}`));
    }
    const entries = entriesOf(client.get(node).body);
    assert.equal(entries.length, 10);
    assert.equal(entries[0]?.manager, 'ancient-changes');
    assert.equal(entries[0]?.time, '2026-01-01T00:00:02Z');
    assert.deepEqual(entries[0]?.fieldsV1['f:metadata'], {
      'f:labels': { '.': {}, 'f:l0': {}, 'f:l1': {}, 'f:made': {} },
    });
  });

  it('of one manager are kept apart by the version that he writes', () => {
    const { client } = fixture();
    const node = `${nodes}/n1`;
    client.post(nodes, { metadata: { name: 'n1' } }, as('maker'));
    const fieldsV1 = { 'f:spec': { 'f:taints': {} } };
    const older = { manager: 'one', operation: 'Update', apiVersion: 'v0', fieldsV1 };
    client.patch(node, { metadata: { managedFields: [older] } }, merge, as('editor'));
    client.patch(node, { spec: { unschedulable: true } }, merge, as('one'));
    const { managedFields = [] } = client.get(node).body.metadata;
    assert.deepEqual(managedFields.map(({ manager, apiVersion }) => [manager, apiVersion]).sort(), [
      ['one', 'v0'],
      ['one', 'v1'],
    ]);
  });

  it('are kept through a PUT that leaves them out, and are not changed by a status', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: made }, as('maker'));
    const { managedFields: before, ...metadata } = client.get(`${nodes}/n1`).body.metadata;
    const put = client.put(
      `${nodes}/n1`,
      { metadata, spec: { unschedulable: true } },
      as('putter'),
    );
    assert.deepEqual(ownersOf(put.body, 'unschedulable'), ['putter@00']);
    const forged = { metadata: { managedFields: [{}] } };
    const status = client.patch(`${nodes}/n1/status`, forged, merge, as('forger'));
    assert.deepEqual(entriesOf(status.body), entriesOf(put.body));
    assert.equal(before?.length, 1);
  });

  it('that a client makes up are taken when they make sense, else ignored', () => {
    const { client } = fixture();
    const node = `${nodes}/n1`;
    client.post(nodes, { metadata: made }, as('maker'));
    const given = (fieldsV1: unknown) => [
      { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
    ];
    for (const nonsense of [5, { 'f:spec': 5 }, { 'k:{': {} }, { constructor: {} }]) {
      const patch = { metadata: { managedFields: given(nonsense) } };
      const { status, body } = client.patch(node, patch, merge, as('forger'));
      assert.deepEqual([status, entriesOf(body).map(({ manager }) => manager)], [200, ['maker']]);
    }
    const patch = { metadata: { managedFields: given({ 'f:spec': { 'f:taints': {} } }) } };
    assert.deepEqual(
      entriesOf(client.patch(node, patch, merge, as('forger')).body).map(({ manager }) => manager),
      ['m'],
    );
  });

  it('of what the cluster does itself name the part that did it', () => {
    const { api } = fixture();
    api.as('kubelet').create('nodes', { metadata: made });
    const node = api.get('nodes', '', 'n1') as KubeObject;
    const spec = { ...node.spec, taints: [taint] };
    api.as('kube-controller-manager').update('nodes', { ...node, spec });
    assert.deepEqual(ownersOf(api.get('nodes', '', 'n1') as KubeObject, 'taints'), [
      'kube-controller-manager@00',
    ]);
  });

  it('of a new pod are what its creator gave and the defaults, not what admission adds', () => {
    const { client } = fixture();
    const [owner] = entriesOf(client.post(pods, podNamed('p'), as('maker')).body);
    assert.deepEqual(Object.keys(owner?.fieldsV1 ?? {}), ['f:spec']);
    assert.deepEqual(Object.keys(owner?.fieldsV1['f:spec'] ?? {}), [
      'f:containers',
      'f:dnsPolicy',
      'f:enableServiceLinks',
      'f:restartPolicy',
      'f:schedulerName',
      'f:securityContext',
      'f:terminationGracePeriodSeconds',
    ]);
  });

  it('are of a whole reference, selector or condition of a node, not of its parts', () => {
    const { client } = fixture();
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }];
    const { spec } = podNamed('p');
    const valueFrom = { secretKeyRef: { name: 's', key: 'k' } };
    const containers = [{ ...spec.containers[0], env: [{ name: 'E', valueFrom }] }];
    const imagePullSecrets = [{ name: 'pull' }];
    const given = { ...spec, containers, imagePullSecrets, nodeSelector: { zone: 'a' } };
    const pod = { metadata: { name: 'p', ownerReferences }, spec: given };
    const [owner] = entriesOf(client.post(pods, pod).body);
    const { 'f:metadata': metadata, 'f:spec': fields } = owner?.fieldsV1 ?? {};
    assert.deepEqual(metadata?.['f:ownerReferences'], { '.': {}, 'k:{"uid":"u"}': {} });
    assert.deepEqual(fields?.['f:nodeSelector'], {});
    assert.deepEqual(fields?.['f:imagePullSecrets'], { '.': {}, 'k:{"name":"pull"}': {} });
    const [container] = Object.values(fields?.['f:containers'] ?? {});
    assert.deepEqual(container?.['f:env']?.['k:{"name":"E"}']?.['f:valueFrom'], {
      '.': {},
      'f:secretKeyRef': {},
    });
  });
});
