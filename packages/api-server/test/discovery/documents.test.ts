import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { resources } from '@taintmgr/sim-cluster/server';
import { fixture } from '../world/api-fixture.ts';

const aggregatedAccept =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const { client } = fixture();

interface Listed {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

describe('discovery', () => {
  it('says who it is and that it is well', () => {
    const { body } = client.get('/version');
    assert.deepEqual([body.major, body.minor, body.gitVersion], ['1', '36', 'v1.36.2']);
    for (const path of ['/healthz', '/livez', '/readyz', '/readyz/ping']) {
      assert.equal(client.get(path).text, 'ok');
    }
    assert.match(client.get('/readyz?verbose').text, /^\[\+\]ping ok\n.*readyz check passed\n$/s);
  });

  it('describes every resource that is served, both ways alike', () => {
    const legacy = new Map<string, string>();
    const groups = new Map(resources.map(({ group, version }) => [`${group}/${version}`, group]));
    for (const [path, group] of groups) {
      const { resources } = client.get(group ? `/apis/${path}` : `/api${path}`).body;
      for (const { name, kind, verbs } of resources as readonly Listed[]) {
        legacy.set(`${group}/${name}`, `${kind} ${verbs.join()}`);
      }
    }
    const aggregated = new Map<string, string>();
    for (const path of ['/api', '/apis']) {
      const { items } = client.get(path, { headers: { accept: aggregatedAccept } }).body;
      for (const { metadata, versions } of items as readonly KubeObject[]) {
        for (const resource of versions[0].resources as readonly KubeObject[]) {
          const name = `${metadata.name ?? ''}/${resource.resource}`;
          aggregated.set(name, `${resource.responseKind.kind} ${resource.verbs.join()}`);
          for (const { subresource, responseKind, verbs } of resource.subresources ?? []) {
            aggregated.set(`${name}/${subresource}`, `${responseKind.kind} ${verbs.join()}`);
          }
        }
      }
    }
    for (const [name, text] of legacy) assert.equal(aggregated.get(name), text, name);
    for (const { group, plural } of resources) assert.ok(legacy.has(`${group}/${plural}`), plural);
    assert.equal(legacy.get('/pods/eviction'), 'Eviction create');
  });

  it('is not sent again to a client that has it', () => {
    const first = client.get('/apis', { headers: { accept: aggregatedAccept } });
    const { etag = '' } = first.headers;
    const headers = { accept: aggregatedAccept, 'if-none-match': etag };
    const second = client.get('/apis', { headers });
    assert.deepEqual([first.status, second.status, second.text], [200, 304, '']);
  });

  it('has an OpenAPI document per group and version, immutable under its hash', () => {
    const { paths } = client.get('/openapi/v3').body;
    const url: string = paths['api/v1'].serverRelativeURL;
    const document = client.get(url);
    assert.equal(document.headers['cache-control'], 'public, immutable');
    const patch = document.body.paths['/api/v1/namespaces/{namespace}/pods/{name}'].patch;
    assert.deepEqual(patch['x-kubernetes-group-version-kind'], {
      group: '',
      version: 'v1',
      kind: 'Pod',
    });
    const names = patch.parameters.map(({ name }: { readonly name: string }) => name);
    assert.deepEqual(names, ['dryRun', 'fieldManager', 'fieldValidation']);
    const schema = document.body.components.schemas['io.k8s.api.core.v1.Node'];
    assert.equal(schema.properties.spec.properties.taints.type, 'array');
    const moved = client.get('/openapi/v3/api/v1?hash=00');
    assert.deepEqual([moved.status, moved.headers.location], [301, url]);
    assert.equal(client.get('/openapi/v3/apis/nope/v1').status, 404);
  });

  it('has an OpenAPI v2 document without kinds, for clients that want one', () => {
    const { status, body } = client.get('/openapi/v2');
    assert.equal(status, 200);
    assert.deepEqual([body.swagger, body.info.version, body.paths], ['2.0', 'v1.36.2', {}]);
  });

  for (const [path, status, isText] of [
    ['/apis/nope.example.com/v1/things', 404, true],
    ['/apis/nope', 404, true],
    ['/bogus', 404, true],
    ['/api/v2', 404, false],
    ['/apis/apps/v9', 404, false],
    ['/apis/apps/v9/deployments', 404, false],
    ['/api/v1/bogus', 404, false],
    ['/api/', 200, false],
  ] as const) {
    it(`answers ${path} with ${status}`, () => {
      const answer = client.get(path);
      assert.equal(answer.status, status);
      assert.equal(answer.headers['content-type']?.startsWith('text/plain'), isText);
    });
  }
});

it('only what keeps replicas has a scale', () => {
  const { client } = fixture();
  const { resources } = client.get('/apis/apps/v1').body;
  const scales = resources.filter(({ name }: { name: string }) => name.endsWith('/scale'));
  assert.deepEqual(
    scales.map(({ name, group, kind }: Record<string, string>) => `${name} ${group} ${kind}`),
    ['deployments', 'replicasets', 'statefulsets'].map((name) => `${name}/scale autoscaling Scale`),
  );
});
