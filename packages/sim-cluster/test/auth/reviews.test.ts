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
  const audience = 'https://kubernetes.default.svc.cluster.local';

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
  const impersonator = () =>
    bench(
      role('ClusterRole', 'speaker', [
        rule('impersonate', 'users', { resourceNames: ['alice'] }),
        rule('impersonate', 'groups', { resourceNames: ['staff'] }),
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
    [{}, 403],
  ] as const) {
    it(`with ${JSON.stringify(headers)} is answered ${status}`, () => {
      assert.equal(impersonator().ask('GET', pods, { headers }).status, status);
    });
  }
});
