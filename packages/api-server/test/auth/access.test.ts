import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Rule, User } from '@taintmgr/sim-cluster';
import { allows } from '../../src/auth/authorizer.ts';
import { fixture, nodes, pods } from '../world/api-fixture.ts';

const resource = (plural: string, more: object = {}) => ({
  group: '',
  plural,
  subresource: '',
  namespace: '',
  name: '',
  ...more,
});

describe('a rule', () => {
  const pods: Rule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
  const cases: readonly (readonly [string, Rule, string, ReturnType<typeof resource>, boolean])[] =
    [
      ['allows its verb', pods, 'get', resource('pods'), true],
      ['allows no other verb', pods, 'delete', resource('pods'), false],
      ['allows no other resource', pods, 'get', resource('nodes'), false],
      ['allows no other group', pods, 'get', resource('pods', { group: 'x' }), false],
      [
        'does not reach subresources',
        pods,
        'get',
        resource('pods', { subresource: 'status' }),
        false,
      ],
      [
        'names subresources',
        { ...pods, resources: ['pods/status'] },
        'get',
        resource('pods', { subresource: 'status' }),
        true,
      ],
      [
        'names them for all resources',
        { ...pods, resources: ['*/status'] },
        'get',
        resource('nodes', { subresource: 'status' }),
        true,
      ],
      [
        'holds in its namespace',
        { ...pods, namespace: 'a' },
        'get',
        resource('pods', { namespace: 'a' }),
        true,
      ],
      [
        'holds nowhere else',
        { ...pods, namespace: 'a' },
        'get',
        resource('pods', { namespace: 'b' }),
        false,
      ],
      [
        'holds for its names',
        { ...pods, resourceNames: ['x'] },
        'get',
        resource('pods', { name: 'x' }),
        true,
      ],
      [
        'holds for no other name',
        { ...pods, resourceNames: ['x'] },
        'get',
        resource('pods', { name: 'y' }),
        false,
      ],
    ];

  for (const [name, rule, verb, wanted, expected] of cases) {
    it(name, () => {
      assert.equal(allows(rule, { verb, path: '', resource: wanted }), expected);
    });
  }

  it('matches paths by prefix', () => {
    const rule: Rule = { verbs: ['get'], nonResourceURLs: ['/logs/*'] };
    const may = (path: string) => allows(rule, { verb: 'get', path, resource: null });
    assert.deepEqual([may('/logs/a'), may('/logs/'), may('/log')], [true, true, false]);
    assert.deepEqual([may('/logs'), may('/logs.txt')], [false, false]);
  });
});

describe('reviews', () => {
  const tokens = new Map<string, User>([
    ['admin', { name: 'admin', groups: ['system:masters'], rules: [] }],
    [
      'evictor',
      {
        name: 'evictor',
        uid: 'e-1',
        groups: ['g'],
        rules: [
          {
            verbs: ['create'],
            apiGroups: [''],
            resources: ['pods/eviction'],
            namespace: 'default',
          },
        ],
      },
    ],
  ]);
  const { client } = fixture({ tokens });
  const review = (token: string, kind: string, spec: object) => {
    const group = kind === 'SelfSubjectReview' ? 'authentication' : 'authorization';
    const path = `/apis/${group}.k8s.io/v1/${kind.toLowerCase()}s`;
    return client.post(path, { apiVersion: `${group}.k8s.io/v1`, kind, spec }, { token });
  };

  for (const [token, attributes, allowed] of [
    ['admin', { verb: 'delete', resource: 'nodes' }, true],
    [
      'evictor',
      { verb: 'create', resource: 'pods', subresource: 'eviction', namespace: 'default' },
      true,
    ],
    ['evictor', { verb: 'create', resource: 'pods', subresource: 'eviction' }, false],
    ['evictor', { verb: 'create', resource: 'pods', namespace: 'default' }, false],
  ] as const) {
    it(`answer ${token} about ${JSON.stringify(attributes)}`, () => {
      const { status, body } = review(token, 'SelfSubjectAccessReview', {
        resourceAttributes: attributes,
      });
      assert.deepEqual([status, body.status], [201, { allowed }]);
    });
  }

  it('list the rules of a user', () => {
    const { body } = review('evictor', 'SelfSubjectRulesReview', { namespace: 'default' });
    const own = { verbs: ['create'], apiGroups: [''], resources: ['pods/eviction'] };
    assert.deepEqual(body.status.resourceRules.at(-1), own);
    const elsewhere = review('evictor', 'SelfSubjectRulesReview', { namespace: 'kube-system' });
    assert.notDeepEqual(elsewhere.body.status.resourceRules.at(-1), own);
  });

  it('tell a user who he is', () => {
    const userInfo = { username: 'evictor', uid: 'e-1', groups: ['g', 'system:authenticated'] };
    assert.deepEqual(review('evictor', 'SelfSubjectReview', {}).body.status, { userInfo });
  });

  it('are not asked by the anonymous', () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    assert.equal(client.post(path, {}).status, 403);
  });

  it('agree with what is answered', () => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'x' } };
    assert.equal(client.post(`${pods}/x/eviction`, eviction, { token: 'evictor' }).status, 404);
    assert.equal(client.get(pods, { token: 'evictor' }).status, 403);
  });
});

it('the proxy of a node is a right of its own, whatever path is asked for', () => {
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['nodes/proxy'] }];
  const tokens = new Map<string, User>([['t', { name: 'agent', groups: [], rules }]]);
  const { api, client } = fixture({ tokens });
  api.create('nodes', { metadata: { name: 'n' }, status: {} });
  const ask = (path: string, method = 'GET') => client.request(method, path, { token: 't' });
  assert.equal(ask(`${nodes}/n`).status, 403);
  assert.equal(ask(`${nodes}/n/proxy/run/x`, 'POST').status, 403);
  assert.match(
    ask(`${nodes}/n/proxy/run/x`, 'POST').body.message,
    /^nodes "n" is forbidden: User "agent" cannot create resource "nodes\/proxy" in API group "" at the cluster scope$/,
  );
  assert.deepEqual(
    [
      ask(`${nodes}/n/proxy/stats/summary`).status,
      ask(`${nodes}/n/proxy/stats/summary`).body.message,
    ],
    [500, 'no preferred addresses found; known addresses: []'],
  );
});
