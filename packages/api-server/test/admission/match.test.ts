import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// @boundaries-ignore the cluster's own tests live in the same world
import { merge } from '../../../sim-cluster/test/world/client.ts';
import { installed, namespace, other, rule } from './installed.ts';

const constraints = (given: object): object => ({
  matchConstraints: { resourceRules: [rule()], ...given },
});
const about = (resources: readonly string[], operations: readonly string[]): object =>
  constraints({ resourceRules: [rule(resources, operations)] });
const selecting = { matchLabels: { judged: 'yes' } };
const dry = { query: { dryRun: 'All' } };

describe('which requests a policy is about', () => {
  const resources: readonly [readonly string[], readonly string[], readonly string[]][] = [
    [['pods'], ['CREATE', 'UPDATE'], ['create pod', 'update pod']],
    [['pods/status'], ['UPDATE'], ['update pods/status']],
    [
      ['pods/*'],
      ['*'],
      ['create pod', 'update pod', 'update pods/status', 'create pods/eviction', 'delete pod'],
    ],
    [['pods/eviction'], ['CREATE'], ['create pods/eviction']],
    [['*'], ['CREATE', 'UPDATE'], ['create pod', 'update pod', 'create node']],
    [
      ['*/*'],
      ['CREATE', 'UPDATE'],
      ['create pod', 'update pod', 'update pods/status', 'create pods/eviction', 'create node'],
    ],
    [['pods'], ['DELETE'], ['delete pod']],
    [['nodes'], ['CREATE'], ['create node']],
  ];
  for (const [names, operations, wanted] of resources) {
    it(`${operations.join()} of ${names.join()}`, () => {
      const { asked } = installed(about(names, operations));
      const judged = Object.keys(asked).filter((what) => asked[what]?.() === 422);
      assert.deepEqual(judged, wanted);
    });
  }

  it('names are those of the object, also one that is made up', () => {
    const named = rule(['configmaps'], ['CREATE'], { resourceNames: ['only'] });
    const { configMap } = installed(constraints({ resourceRules: [named] }));
    assert.deepEqual([configMap('only').status, configMap('x').status], [422, 201]);
  });

  it('what is excluded is not judged', () => {
    const spared = rule(['configmaps'], ['*'], { resourceNames: ['spared'] });
    const { configMap } = installed(constraints({ excludeResourceRules: [spared] }));
    assert.deepEqual([configMap('x').status, configMap('spared').status], [422, 201]);
  });

  it('a scope is that of the kind', () => {
    const any = { apiGroups: ['*'], apiVersions: ['*'], scope: 'Namespaced' };
    const given = constraints({ resourceRules: [rule(['*'], ['CREATE'], any)] });
    const { configMap, asked } = installed(given);
    assert.deepEqual([configMap('x').status, asked['create node']?.()], [422, 201]);
  });

  it('both the policy and the binding select namespaces', () => {
    for (const [policy, binding] of [
      [constraints({ namespaceSelector: selecting }), {}],
      [{}, { matchResources: { namespaceSelector: selecting } }],
    ]) {
      const { configMap } = installed(policy, binding);
      assert.equal(configMap('x').status, 201);
      assert.equal(configMap('x', {}, other).status, 422);
    }
  });

  it('a label of a namespace counts milliseconds after it was changed', () => {
    const { configMap, client, pass } = installed(constraints({ namespaceSelector: selecting }));
    client.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { judged: 'yes' } } });
    assert.equal(configMap('x').status, 201);
    pass(10);
    assert.equal(configMap('x').status, 422);
  });

  it('a namespace is known by its own labels, and an object of the cluster is always meant', () => {
    const { client, asked } = installed(
      constraints({
        namespaceSelector: selecting,
        resourceRules: [rule(['namespaces', 'nodes'], ['CREATE'])],
      }),
    );
    const create = (labels: object): number =>
      client.post('/api/v1/namespaces', { metadata: { name: 'new', labels } }, dry).status;
    assert.deepEqual(
      [create({ judged: 'yes' }), create({}), asked['create node']?.()],
      [422, 201, 422],
    );
  });

  it('an object is known by its labels, those it had as well', () => {
    const { configMap, client, api } = installed(
      constraints({ objectSelector: { matchLabels: { o: '1' } } }),
    );
    assert.deepEqual([configMap('x', { o: '1' }).status, configMap('x').status], [422, 201]);
    api.create('configmaps', { metadata: { name: 'had', namespace, labels: { o: '1' } } });
    const path = `/api/v1/namespaces/${namespace}/configmaps/had`;
    const patch = { metadata: { labels: { o: null } } };
    assert.equal(client.patch(path, patch, merge, dry).status, 422);
  });

  it('policies, bindings and reviews are judged by nobody', () => {
    const all = { apiGroups: ['*'], apiVersions: ['*'] };
    const { client, configMap } = installed(
      constraints({ resourceRules: [rule(['*'], ['*'], all)] }),
    );
    assert.equal(configMap('x').status, 422);
    const group = '/apis/admissionregistration.k8s.io/v1';
    const spec = { policyName: 'q', validationActions: ['Deny'] };
    const bindings = `${group}/validatingadmissionpolicybindings`;
    assert.equal(client.post(bindings, { metadata: { name: 'q' }, spec }, dry).status, 201);
    assert.equal(client.delete(`${bindings}/p`).status, 200);
    const review = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    assert.equal(client.post(reviews, review).status, 201);
  });

  it('an object is the same in every group and version, unless the policy wants it exactly', () => {
    const validations = [
      {
        expression: "!has(object.message) || request.requestKind.group == ''",
        messageExpression: "object.message + ' by ' + request.requestResource.group",
      },
    ];
    const send = (matchPolicy: string): string => {
      const resourceRules = [rule(['events'], ['CREATE'])];
      const matchConstraints = { resourceRules, matchPolicy };
      const { client } = installed({ matchConstraints, validations });
      const event = {
        metadata: { name: 'e', namespace: 'default' },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'c',
        reportingInstance: 'c-1',
        action: 'a',
        reason: 'r',
        note: 'said',
        type: 'Normal',
        regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
      };
      const answer = client.post('/apis/events.k8s.io/v1/namespaces/default/events', event);
      return answer.status === 201 ? 'created' : answer.body.message;
    };
    assert.match(
      send('Equivalent'),
      /^events.events.k8s.io "e" .*denied request: said by events.k8s.io$/,
    );
    assert.equal(send('Exact'), 'created');
  });
});
