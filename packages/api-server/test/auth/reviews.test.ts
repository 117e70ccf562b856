import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pods } from '../world/api-fixture.ts';
import { bench, binding, role, rule } from '../world/rbac.ts';

describe('a server that reviews its callers', () => {
  const tokenReviews = '/apis/authentication.k8s.io/v1/tokenreviews';
  const accessReviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const delegator = () =>
    bench(
      role('ClusterRole', 'metrics', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }]),
      binding('ClusterRoleBinding', 'a', 'ClusterRole system:auth-delegator'),
      binding('ClusterRoleBinding', 'm', 'ClusterRole metrics', [{ kind: 'User', name: 'alice' }]),
      binding('ClusterRoleBinding', 'g', 'ClusterRole metrics', [
        { kind: 'Group', name: 'scrape' },
      ]),
    );
  const audience = 'https://kubernetes.default.svc';

  it('is told whose token it is', () => {
    const b = delegator();
    const { status, body } = b.ask('POST', tokenReviews, { body: { spec: { token: 'alice' } } });
    assert.equal(status, 201);
    assert.deepEqual(body.status, {
      authenticated: true,
      user: { username: 'alice', groups: ['staff', 'system:authenticated'] },
      audiences: [audience],
    });
  });

  for (const [what, spec] of [
    ['a token that is not known', { token: 'nobody' }],
    ['a token for somebody else', { token: 'alice', audiences: ['vault'] }],
  ] as const) {
    it(`is told of ${what}`, () => {
      const { status, body } = delegator().ask('POST', tokenReviews, { body: { spec } });
      assert.equal(status, 201);
      assert.deepEqual(body.status, { user: {}, error: 'invalid bearer token' });
    });
  }

  it('has to show a token', () => {
    const { status, body } = delegator().ask('POST', tokenReviews, { body: { spec: {} } });
    assert.deepEqual(
      [status, body.message],
      [400, 'token is required for TokenReview in authentication'],
    );
  });

  const metrics = { nonResourceAttributes: { path: '/metrics', verb: 'get' } };
  for (const [spec, allowed, reason] of [
    [
      { ...metrics, user: 'alice' },
      true,
      'ClusterRoleBinding "m" of ClusterRole "metrics" to User "alice"',
    ],
    [
      { ...metrics, user: 'x', groups: ['scrape'] },
      true,
      'ClusterRoleBinding "g" of ClusterRole "metrics" to Group "scrape"',
    ],
    [{ ...metrics, user: 'x' }, false, undefined],
    [{ ...metrics, groups: ['system:masters'] }, true, undefined],
    [{ resourceAttributes: { verb: 'get', resource: 'nodes' }, user: 'alice' }, false, undefined],
  ] as const) {
    it(`is told ${allowed} about ${JSON.stringify(spec)}`, () => {
      const { status, body } = delegator().ask('POST', accessReviews, { body: { spec } });
      const said = reason === undefined ? {} : { reason: `RBAC: allowed by ${reason}` };
      assert.deepEqual([status, body.status], [201, { allowed, ...said }]);
    });
  }

  it('has to say whom it means', () => {
    const { status, body } = delegator().ask('POST', accessReviews, { body: { spec: metrics } });
    assert.equal(status, 422);
    assert.equal(
      body.message,
      '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
    );
  });

  it('needs the right to ask', () => {
    const body = { spec: { token: 'alice' } };
    assert.equal(bench().ask('POST', tokenReviews, { body }).status, 403);
  });
});

describe('one who speaks for another', () => {
  const authentication = 'authentication.k8s.io';
  const impersonator = () =>
    bench(
      role('ClusterRole', 'speaker', [
        rule('impersonate', 'users', { resourceNames: ['alice'] }),
        rule('impersonate', 'groups', { resourceNames: ['staff'] }),
        rule('impersonate', 'uids', { apiGroups: [authentication], resourceNames: ['7'] }),
        rule('impersonate', 'userextras/example.com/team', {
          apiGroups: [authentication],
          resourceNames: ['a'],
        }),
      ]),
      role('ClusterRole', 'reader', [rule('list', 'pods')]),
      binding('ClusterRoleBinding', 's', 'ClusterRole speaker'),
      binding('ClusterRoleBinding', 'r', 'ClusterRole reader', [{ kind: 'User', name: 'alice' }]),
    );
  for (const [headers, status] of [
    [{ 'impersonate-user': 'alice' }, 200],
    [{ 'impersonate-user': 'alice', 'impersonate-group': 'staff' }, 200],
    [{ 'impersonate-user': 'alice', 'impersonate-group': 'staff, root' }, 403],
    [{ 'impersonate-user': 'bob' }, 403],
    [{ 'impersonate-user': 'alice', 'impersonate-uid': '7' }, 200],
    [{ 'impersonate-user': 'alice', 'impersonate-uid': '8' }, 403],
    [{ 'impersonate-user': 'alice', 'impersonate-extra-example.com%2Fteam': 'a' }, 200],
    [{ 'impersonate-user': 'alice', 'impersonate-extra-example.com%2Fteam': 'a, b' }, 403],
    [{ 'impersonate-user': 'alice', 'impersonate-extra-other': 'a' }, 403],
    [{ 'impersonate-user': '' }, 403],
    [{}, 403],
  ] as const) {
    it(`with ${JSON.stringify(headers)} is answered ${status}`, () => {
      assert.equal(impersonator().ask('GET', pods, { headers }).status, status);
    });
  }

  const nobody: readonly (readonly [headers: Record<string, string>, user: string])[] = [
    [
      { 'impersonate-group': 'system:masters' },
      'Name:"", UID:"", Groups:[]string{"system:masters"}, Extra:map[string][]string(nil)',
    ],
    [
      { 'impersonate-uid': '7' },
      'Name:"", UID:"7", Groups:[]string(nil), Extra:map[string][]string(nil)',
    ],
    [
      { 'impersonate-extra-b': 'x, y', 'impersonate-extra-A': 'z' },
      'Name:"", UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"z"}, "b":[]string{"x", "y"}}',
    ],
  ];
  for (const [headers, user] of nobody) {
    it(`has to name him beside ${Object.keys(headers).join(' and ')}`, () => {
      const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
      const { status, body } = bench().client.get(pods, {
        token: 'admin',
        headers: Object.fromEntries(lower),
      });
      const message = `requested &user.DefaultInfo{${user}} without impersonating a user name`;
      assert.deepEqual([status, body.message], [400, message]);
    });
  }

  const himself = (headers: Record<string, string>) =>
    bench().client.post(
      `/apis/${authentication}/v1/selfsubjectreviews`,
      {},
      { token: 'admin', headers },
    ).body.status.userInfo;

  it('is taken for him in all that he is said to be', () => {
    const headers = {
      'impersonate-user': 'bob',
      'impersonate-uid': '7',
      'impersonate-group': 'ops',
      'impersonate-extra-example.com%2fteam': 'a, b',
    };
    assert.deepEqual(himself(headers), {
      username: 'bob',
      uid: '7',
      groups: ['ops', 'system:authenticated'],
      extra: { 'example.com/team': ['a', 'b'] },
    });
  });

  for (const [name, given, groups] of [
    ['system:serviceaccount:ops:agent', 'staff', ['staff', 'system:authenticated']],
    ['bob', 'system:authenticated', ['system:authenticated']],
  ] as const) {
    it(`belongs as ${name} of ${given} to ${groups.join(' and ')}`, () => {
      const headers = { 'impersonate-user': name, 'impersonate-group': given };
      assert.deepEqual(himself(headers), { username: name, groups });
    });
  }

  it('may do as a member of a group what he may not do without it', () => {
    const b = bench(
      role('ClusterRole', 'reader', [rule('list', 'pods')]),
      binding('ClusterRoleBinding', 'r', 'ClusterRole reader', [{ kind: 'Group', name: 'ops' }]),
    );
    const list = (group: object): number => {
      const headers = { 'impersonate-user': 'bob', ...group };
      return b.client.get(pods, { token: 'admin', headers }).status;
    };
    const ops = { 'impersonate-group': 'ops' };
    assert.deepEqual([list({}), list(ops), list({})], [403, 200, 403]);
  });

  for (const [name, groups] of [
    // A name brings no groups with it, not even that of an administrator.
    ['admin', ['system:authenticated']],
    [
      'system:serviceaccount:ops:agent',
      ['system:serviceaccounts', 'system:serviceaccounts:ops', 'system:authenticated'],
    ],
  ] as const) {
    it(`belongs as ${name} to ${groups.join(' and ')}`, () => {
      assert.deepEqual(himself({ 'impersonate-user': name }), { username: name, groups });
    });
  }

  for (const [name, group] of [
    ['system:anonymous', ''],
    ['system:anonymous', 'staff'],
    ['bob', 'system:unauthenticated'],
  ] as const) {
    it(`is as ${name} of ${group || 'no group'} none of those who are known`, () => {
      const { client } = bench();
      const headers = { 'impersonate-user': name, 'impersonate-group': group };
      const answers = ['/version', '/apis'].map((path) =>
        client.get(path, { token: 'admin', headers }),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 403],
      );
    });
  }
});
