// Which functions rules and policies may call, as the real server was asked one by one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import type { Response } from '../../../sim-cluster/test/world/client.ts';
import { fixture } from '../world/api-fixture.ts';

type Recorded = Readonly<
  Record<string, { readonly result: string } & Readonly<Record<string, string>>>
>;

function recorded(folder: string): Recorded {
  const file = new URL(`../testdata/wire/${folder}/cel-functions.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).exchanges[0].response.body;
}

/** As the recording sums an answer up. */
function summed({ status, body }: Response): string {
  if (status === 201) return 'accepted';
  const messages = (body.details?.causes ?? []).map(({ message }: { message: string }) => message);
  const error = messages.map((text: string) => /ERROR: .*/.exec(text)?.[0]).find(Boolean);
  return error ?? messages.join(' | ');
}

const text = { type: 'string', maxLength: 10 };
const spec = {
  type: 'object',
  properties: {
    s: text,
    n: { type: 'integer' },
    l: { type: 'array', maxItems: 5, items: { type: 'integer' } },
  },
};
const names = { plural: 'widgets', kind: 'Widget' };

for (const [name, { rule, result }] of Object.entries(recorded('11-custom-resources'))) {
  test(`a rule: ${name}`, () => {
    const ruled = { ...spec, 'x-kubernetes-validations': [{ rule }] };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: ruled } } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const definition = {
      metadata: { name: 'widgets.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions },
    };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All';
    assert.equal(summed(fixture().client.post(path, definition)), result);
  });
}

/** The library that runs expressions does not read these. */
const unread: readonly string[] = ['ApplyConfiguration'];

for (const [name, { expression, result }] of Object.entries(recorded('12-admission-policy'))) {
  if (unread.includes(name)) continue;
  test(`a policy: ${name}`, () => {
    const resourceRules = [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
    ];
    const policy = {
      metadata: { name: 'p' },
      spec: { matchConstraints: { resourceRules }, validations: [{ expression }] },
    };
    const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All';
    assert.equal(summed(fixture().client.post(path, policy)), result);
  });
}

test('a time zone that does not exist is named, as Go names it', () => {
  const rule = 'timestamp("2026-03-01T12:34:56Z").getHours("Nowhere/Land") == 12';
  const ruled = { ...spec, 'x-kubernetes-validations': [{ rule }] };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: ruled } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const { client, pass } = fixture();
  const metadata = { name: 'widgets.example.com' };
  const definition = {
    metadata,
    spec: { group: 'example.com', scope: 'Cluster', names, versions },
  };
  client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  pass(2000);
  const { status, body } = client.post('/apis/example.com/v1/widgets', {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { n: 1 },
  });
  assert.equal(status, 422);
  assert.match(String(body.message), /"object": unknown time zone Nowhere\/Land evaluating rule: /);
});
