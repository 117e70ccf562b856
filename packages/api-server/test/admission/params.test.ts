import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture } from '../world/api-fixture.ts';
import { install, installed, namespace, other, rule } from './installed.ts';

const paramKind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
const byHolder = {
  paramKind,
  validations: [
    {
      expression: 'params.spec.holderIdentity != object.metadata.name',
      messageExpression:
        "'held by ' + params.spec.holderIdentity + ' in ' + params.metadata.namespace",
    },
  ],
};
type Made = ReturnType<typeof installed>;

function lease({ api, pass }: Made, holderIdentity: string, more: object = {}): void {
  api.create('leases', {
    metadata: { name: 'p', namespace, ...more },
    spec: { holderIdentity },
  });
  pass(10);
}

const ref = (more: object = {}): object => ({
  paramRef: { name: 'p', namespace, parameterNotFoundAction: 'Allow', ...more },
});
/** What comes after `denied request: `. */
const told = (text: string): string => /denied request: (.*?)","reason"/.exec(text)?.[1] ?? text;
const notFound =
  'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';

const unsynced =
  'failed to configure binding: paramKind kind `&ParamKind{APIVersion:coordination.k8s.io/v1,Kind:Lease,}` ' +
  'not yet synced to use for admission';
const kinds = [
  ...['namespaces', 'leases'],
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
];

describe('the parameters of a policy', () => {
  it('are known milliseconds after they were written', () => {
    const made = installed(byHolder, ref());
    const { api, configMap, pass } = made;
    assert.equal(configMap('x').status, 201);
    api.create('leases', { metadata: { name: 'p', namespace }, spec: { holderIdentity: 'x' } });
    assert.equal(configMap('x').status, 201);
    pass(10);
    assert.equal(told(configMap('x').text), 'held by x in wire-vap');
    const stored = api.get('leases', namespace, 'p');
    assert.ok(stored);
    api.update('leases', { ...stored, spec: { holderIdentity: 'y' } });
    pass(10);
    assert.deepEqual([configMap('x').status, configMap('y').status], [201, 422]);
    api.delete('leases', namespace, 'p');
    pass(10);
    assert.equal(configMap('y').status, 201);
  });

  it('that are missing let pass, refuse, or are a failure like others', () => {
    const deny = ref({ parameterNotFoundAction: 'Deny' });
    assert.equal(installed(byHolder, ref()).configMap('x').status, 201);
    const refused = installed(byHolder, deny).configMap('x');
    assert.deepEqual([refused.status, told(refused.text)], [422, notFound]);
    const ignoring = installed({ ...byHolder, failurePolicy: 'Ignore' }, deny);
    assert.equal(ignoring.configMap('x').status, 201);
  });

  it('are looked for where the object is, unless the binding says where', () => {
    const made = installed(byHolder, ref({ namespace: undefined }));
    lease(made, 'x');
    lease(made, 'z', { namespace: other });
    const { configMap } = made;
    assert.equal(told(configMap('x').text), 'held by x in wire-vap');
    assert.equal(told(configMap('z', {}, other).text), 'held by z in wire-vap2');
    assert.equal(configMap('z').status, 201);
    const elsewhere = installed(byHolder, ref());
    lease(elsewhere, 'x');
    lease(elsewhere, 'z', { namespace: other });
    assert.equal(told(elsewhere.configMap('x', {}, other).text), 'held by x in wire-vap');
    assert.equal(elsewhere.configMap('z', {}, other).status, 201);
  });

  it('may be several, each of which counts', () => {
    const selector = { matchLabels: { p: '1' } };
    const made = installed(byHolder, ref({ name: undefined, selector }));
    lease(made, 'a', { name: 'one', labels: { p: '1' } });
    lease(made, 'b', { name: 'two', labels: { p: '1' } });
    lease(made, 'c', { name: 'three' });
    const status = (name: string): number => made.configMap(name).status;
    assert.deepEqual(['a', 'b', 'c'].map(status), [422, 422, 201]);
  });

  it('are null where the binding names none', () => {
    const validations = [{ expression: 'params != null', message: 'none' }];
    const { configMap } = installed({ paramKind, validations });
    assert.equal(told(configMap('x').text), 'none');
  });

  it('of a kind that nobody serves refuse whatever matches', () => {
    const unknown = { apiVersion: 'nope.example.com/v1', kind: 'Nope' };
    const { configMap } = installed({ ...byHolder, paramKind: unknown }, ref());
    assert.match(
      configMap('x').text,
      /ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'nope.example.com\/v1, Kind=Nope'/,
    );
    const ignoring = { ...byHolder, paramKind: unknown, failurePolicy: 'Ignore' };
    assert.equal(installed(ignoring, ref()).configMap('x').status, 201);
  });

  it('have a namespace exactly where their kind has one', () => {
    const nodes = { apiVersion: 'v1', kind: 'Node' };
    const clustered = installed({ ...byHolder, paramKind: nodes }, ref());
    assert.match(told(clustered.configMap('x').text), /must not be provided for a cluster-scoped/);
    const matchConstraints = { resourceRules: [rule(['nodes'], ['CREATE'])] };
    const made = installed({ ...byHolder, matchConstraints }, ref({ namespace: undefined }));
    const answer = made.client.post('/api/v1/nodes', { metadata: { name: 'n' } });
    assert.match(told(answer.text), /cannot use namespaced paramRef/);
  });

  it('are not known at first to a server that begins, and are a failure then', () => {
    for (const [failurePolicy, atFirst] of [
      ['Fail', 422],
      ['Ignore', 201],
    ] as const) {
      const before = installed({ ...byHolder, failurePolicy }, ref());
      lease(before, 'x');
      const stored = kinds.flatMap((kind) => before.api.list(kind));
      const { api, client, pass } = fixture({ startRv: 1_000_000, paramsSyncMs: 2000 });
      api.load(structuredClone(stored));
      const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
      const ask = () => client.post(path, { metadata: { name: 'x' }, data: {} });
      const { status, text } = ask();
      assert.equal(status, atFirst);
      if (failurePolicy === 'Fail') assert.equal(told(text), unsynced);
      pass(2000);
      assert.equal(told(ask().text), 'held by x in wire-vap');
    }
  });

  it('are watched again by a policy that comes after the last one has gone', () => {
    const made = installed(byHolder, ref());
    const { api, configMap, pass } = made;
    for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings']) {
      api.delete(resource, '', 'p');
    }
    pass(1000);
    lease(made, 'x');
    assert.equal(configMap('x').status, 201);
    install(made, 'again', byHolder, ref());
    pass(1000);
    assert.equal(told(configMap('x').text), 'held by x in wire-vap');
  });
});
