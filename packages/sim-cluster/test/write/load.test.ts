import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { equal } from '../../src/objects/json.ts';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { ServedResources } from '../../src/resources/served.ts';
import { decode } from '../../src/schema/decode.ts';
import { fixture, pods, start } from '../world/api-fixture.ts';

const served = new ServedResources();

// Objects recorded from a real kube-apiserver 1.36.2, single ones and lists.

const root = new URL('../testdata/write/recorded/', import.meta.url);
const files = readdirSync(root).sort();

const read = (file: string): KubeObject => JSON.parse(readFileSync(new URL(file, root), 'utf8'));

/** The single objects of a file, with the kind a list implies. */
function objectsOf(file: string): readonly KubeObject[] {
  const whole = read(file);
  if (!whole.items) return [whole];
  const kind = whole.kind === 'List' ? {} : { kind: whole.kind?.replace(/List$/, '') };
  return whole.items.map((item: KubeObject) => ({
    ...(whole.kind === 'List' ? {} : { ...kind, apiVersion: whole.apiVersion }),
    ...item,
  }));
}

function pathOf({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  const resource = served.findKind(apiVersion, kind);
  assert.ok(resource, kind);
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const scope = resource.namespaced ? `/namespaces/${metadata.namespace}` : '';
  return `${root}${scope}/${resource.plural}/${metadata.name}`;
}

function withoutVersion(object: KubeObject): unknown {
  const { resourceVersion: _rv, ...metadata } = object.metadata;
  return { ...object, metadata };
}

describe('recorded objects', () => {
  for (const file of files) {
    for (const [index, object] of objectsOf(file).entries()) {
      const name = `${file} ${index} ${object.apiVersion} ${object.kind} ${object.metadata.name}`;

      it(`${name} loads and reads back as it was`, () => {
        const { api, client } = fixture();
        const before = structuredClone(object);
        const { loaded, unloaded } = api.load([object]);
        assert.deepEqual([loaded, unloaded], [1, []]);
        const { body } = client.get(pathOf(object));
        assert.deepEqual(withoutVersion(body), withoutVersion(before));
      });

      it(`${name} has no field that the schema lacks, and is written as the schema says`, () => {
        const resource = served.findKind(object.apiVersion ?? '', object.kind ?? '');
        const { value, unknown } = decode(resource!.schema, object);
        assert.deepEqual(unknown, []);
        assert.ok(equal(value, object), JSON.stringify(value));
      });
    }
  }

  it('load as the lists they came in, and can be worked with', () => {
    const { api, client } = fixture();
    const report = api.load(['namespace.json', 'node.json', 'pods.json'].map(read));
    assert.deepEqual(report, {
      ...{ loaded: 6, unloaded: [] },
      ...{ createdNamespaces: [], createdClaims: [] },
    });
    const [pod] = objectsOf('pods.json');
    const path = pathOf(pod!);
    assert.equal(client.patch(path, { metadata: { labels: { x: 'y' } } }).status, 200);
    assert.equal(
      client.patch(path, { metadata: { labels: { x: 'y' } } }).body.metadata.uid,
      pod?.metadata.uid,
    );
  });
});

/** The owners of a node's taints. */
function ofTaints({ metadata }: KubeObject): readonly { readonly time?: string }[] {
  const owners = (metadata.managedFields ?? []) as readonly { readonly time?: string }[];
  return owners.filter((owner) => JSON.stringify(owner).includes('"f:taints"'));
}

describe('load', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: {} };
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['a number', 5, 'not an object'],
    ['no kind', { metadata: { name: 'x' } }, 'no kind or apiVersion'],
    ['an unknown kind', { ...node, kind: 'Gadget' }, 'v1 Gadget is not served'],
    ['an unknown group', { ...node, apiVersion: 'x.io/v1' }, 'x.io/v1 Node is not served'],
    ['no name', { ...node, metadata: {} }, 'no name'],
    [
      'a namespaced node',
      { ...node, metadata: { name: 'n', namespace: 'd' } },
      'Node is not namespaced',
    ],
    ['a pod of no namespace', { ...node, kind: 'Pod' }, 'no namespace'],
    ['no spec', { ...node, spec: undefined }, 'no spec'],
    [
      'a workload without a template',
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'd' },
        spec: { replicas: 3, template: null },
      },
      'no spec.template',
    ],
    [
      'a wrong type',
      { ...node, spec: { unschedulable: 'yes' } },
      'json: cannot unmarshal string into Go struct field NodeSpec.spec.unschedulable of type bool',
    ],
  ];

  for (const [name, value, reason] of cases) {
    it(`reports ${name}`, () => {
      const { loaded, unloaded } = fixture().api.load([value, node]);
      assert.equal(loaded, 1);
      assert.deepEqual(
        unloaded.map((entry) => entry.reason),
        [reason],
      );
    });
  }

  it('reports what is there already, and names it', () => {
    const { api } = fixture();
    const { unloaded } = api.load([{ kind: 'NodeList', apiVersion: 'v1', items: [node, node] }]);
    const named = { apiVersion: 'v1', kind: 'Node', namespace: '', name: 'n1' };
    assert.deepEqual(unloaded, [{ ...named, reason: 'already there' }]);
  });

  it('makes up missing namespaces, uids and ages, and takes given namespaces over', () => {
    const { api } = fixture();
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'lost' },
      spec: {},
    };
    const space = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default', uid: 'u' },
      spec: {},
    };
    const { createdNamespaces } = api.load([pod, space]);
    assert.deepEqual(createdNamespaces, ['lost']);
    assert.equal(api.get('namespaces', '', 'default')?.metadata.uid, 'u');
    const { uid, creationTimestamp } = api.get('pods', 'lost', 'p')!.metadata;
    assert.match(uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    assert.equal(Date.parse(creationTimestamp ?? ''), start);
  });

  it('makes up the claims and volumes that pods on nodes have and that are not among them', () => {
    const { api } = fixture();
    const pod = (name: string, claimName: string, nodeName: string): object => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop' } },
      spec: { nodeName, volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] },
    });
    const claim = {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
      metadata: { name: 'half', namespace: 'shop' },
      spec: { volumeName: 'pv-half' },
    };
    const pods = [pod('a', 'lost', 'n'), pod('b', 'half', 'n'), pod('c', 'awaited', '')];
    const { createdClaims, unloaded } = api.load([claim, ...pods]);
    assert.deepEqual(unloaded, []);
    assert.deepEqual(createdClaims, ['shop/lost', 'shop/half']);
    const lost = api.get('persistentvolumeclaims', 'shop', 'lost');
    assert.equal(lost?.status?.phase, 'Bound');
    for (const name of [lost?.spec?.volumeName, 'pv-half']) {
      assert.equal(api.get('persistentvolumes', '', name)?.status?.phase, 'Bound');
    }
    assert.equal(api.get('persistentvolumeclaims', 'shop', 'awaited'), null);
  });

  it('makes up the PriorityClasses that pods name and that are not among them', () => {
    const { api } = fixture();
    const named = (priorityClassName: string, more: object = {}): object => ({
      ...{ containers: [{ name: 'c', image: 'i' }], priorityClassName },
      ...more,
    });
    const pod = (name: string, spec: object): object => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec },
    });
    const metadata = { name: 'web', namespace: 'default' };
    const spec = { selector: {}, template: { spec: named('low') } };
    const known = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 7 };
    api.load([
      ...[pod('a', named('high')), pod('b', named('high', { priority: 100 }))],
      pod('f', named('high')),
      ...[pod('c', named('known', { priority: 9 })), pod('d', named('system-node-critical'))],
      pod('e', named('Bad_Name')),
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
      { ...known, metadata: { name: 'known' } },
    ]);
    const classes = api.list('priorityclasses').map((one) => [one.metadata.name, one.value]);
    assert.deepEqual(classes.sort(), [
      ['high', 100],
      ['known', 7],
      ['low', 0],
    ]);
  });

  it('takes null for nothing, as the server does', () => {
    const { api } = fixture();
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'd', ownerReferences: null, labels: null },
      spec: { nodeName: null, tolerations: null, containers: [{ name: 'c', env: null }] },
      status: { phase: 'Running', conditions: null },
    };
    assert.deepEqual(api.load([pod]).unloaded, []);
    const { metadata, spec, status } = api.get('pods', 'd', 'p')!;
    assert.deepEqual(Object.keys(metadata).sort(), [
      'creationTimestamp',
      'name',
      'namespace',
      'resourceVersion',
      'uid',
    ]);
    assert.deepEqual([spec, status], [{ containers: [{ name: 'c' }] }, { phase: 'Running' }]);
    api.delete('pods', 'd', 'p');
  });

  it('refuses null in a list, and names the place', () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const metadata = { name: 'x', namespace: 'default' };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec: {} };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
    const { api } = fixture();
    const { loaded, unloaded } = api.load([
      { ...pod, spec: { ...spec, tolerations: [null] } },
      { ...pod, spec: { containers: [...spec.containers, null] } },
      { ...pod, metadata: { ...metadata, ownerReferences: [null] } },
      { ...node, spec: { taints: [{ key: 'a', effect: 'NoSchedule' }, null] } },
      { ...node, status: { conditions: [null] } },
      { ...role, metadata: { name: 'r' }, rules: [{ verbs: [null] }] },
    ]);
    assert.equal(loaded, 0);
    assert.deepEqual(
      unloaded.map(({ reason }) => reason),
      [
        'spec.tolerations[0] is null',
        'spec.containers[1] is null',
        'metadata.ownerReferences[0] is null',
        'spec.taints[1] is null',
        'status.conditions[0] is null',
        'rules[0].verbs[0] is null',
      ],
    );
  });

  it('keeps who wrote the taints of a node and when, until somebody writes them anew', () => {
    const { api } = fixture();
    const owner = {
      manager: 'kubectl-taint',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:taints': {} } },
    };
    const taints = [{ key: 'bad', effect: 'NoExecute' }];
    const metadata = { name: 'n1', managedFields: [owner] };
    api.load([{ ...node, metadata, spec: { taints } }]);
    const loaded = api.get('nodes', '', 'n1')!;
    api.update('nodes', { ...loaded, metadata: { ...loaded.metadata, labels: { a: 'b' } } });
    const labelled = api.get('nodes', '', 'n1')!;
    assert.deepEqual(ofTaints(labelled), [owner]);
    api.update('nodes', { ...labelled, spec: { taints: [{ key: 'worse', effect: 'NoExecute' }] } });
    const [anew, ...more] = ofTaints(api.get('nodes', '', 'n1')!);
    assert.deepEqual([more, Date.parse(anew?.time ?? '')], [[], start]);
  });

  it('leaves the caller its objects', () => {
    const { api } = fixture();
    const mine = structuredClone(node);
    api.load([mine]);
    assert.equal(Object.isFrozen(mine), false);
  });

  it('takes 20,000 pods, which are then listed, paged and selected', () => {
    const { api, client } = fixture();
    const items = Array.from({ length: 20_000 }, (_, index) => ({
      metadata: { name: `p-${(index * 7919) % 20_000}`, namespace: 'default' },
      spec: { nodeName: `n${index % 500}` },
    }));
    assert.equal(api.load([{ kind: 'PodList', apiVersion: 'v1', items }]).loaded, 20_000);
    let [count, token] = [0, ''];
    do {
      const { body } = client.get(pods, { query: { limit: 500, continue: token } });
      count += body.items.length;
      token = (body.metadata as { continue?: string }).continue ?? '';
    } while (token !== '');
    assert.equal(count, 20_000);
    const onNode = client.get(pods, { query: { fieldSelector: 'spec.nodeName=n7' } }).body.items;
    assert.equal(onNode.length, 40);
  });
});
