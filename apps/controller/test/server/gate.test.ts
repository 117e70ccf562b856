import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import type { ApiRequest } from '@taintmgr/k8s-adapter';
import {
  createAuthenticator,
  createAuthorizer,
  createGate,
  type Gate,
} from '../../src/server/gate.ts';
import { TtlCache } from '../../src/server/reviews.ts';

// Answers as kube-apiserver gives them to reviews.

interface Api {
  readonly send: (request: ApiRequest) => Promise<unknown>;
  readonly asked: { readonly path: string; readonly spec: unknown }[];
  down: boolean;
}

/** What reviews of other tokens than "good" come to. */
const others: Readonly<Record<string, object>> = {
  admin: { authenticated: true, user: { username: 'a', groups: ['system:masters'] } },
  namesake: { authenticated: true, user: { username: 'prometheus', groups: ['h'] } },
  nameless: { authenticated: true, user: {} },
  expired: { authenticated: false, user: { username: 'prometheus' } },
};

/** Knows the token "good" of prometheus in the group g, who may get /metrics. */
function reviewer(): Api {
  const api: Api = {
    asked: [],
    down: false,
    send: async ({ path, body }) => {
      const { spec } = JSON.parse(body ?? '');
      api.asked.push({ path, spec });
      if (api.down) throw new Error('connect ECONNREFUSED');
      if (path.endsWith('/subjectaccessreviews')) {
        const { user, groups, nonResourceAttributes: attributes } = spec;
        const isMeant = user === 'prometheus' && groups.includes('g');
        const mayGet = isMeant && attributes.verb === 'get';
        return mayGet && attributes.path === '/metrics' ? { status: { allowed: true } } : {};
      }
      if (spec.token !== 'good')
        return { status: others[spec.token] ?? { error: 'invalid bearer token' } };
      const user = { username: 'prometheus', uid: 'u1', groups: ['g'], extra: { scope: ['x'] } };
      return { status: { authenticated: true, user } };
    },
  };
  return api;
}

function gateWith(api: Api, errors: unknown[] = []): Gate {
  const authenticate = createAuthenticator({
    client: api,
    cacheTtl: 60_000,
    onError: (error) => errors.push(error),
  });
  const authorize = createAuthorizer({
    client: api,
    alwaysAllowPaths: ['/healthz', '/open/*'],
    allowedTtl: 60_000,
    deniedTtl: 0,
  });
  return createGate(authenticate, authorize);
}

/** A request over a connection without a client certificate. */
function requestWith(authorization?: string, method = 'GET'): IncomingMessage {
  return { method, headers: { authorization }, socket: {} } as IncomingMessage;
}

describe('the gate', () => {
  const cases: readonly (readonly [
    credential: string | undefined,
    path: string,
    status: number | null,
    message?: string,
  ])[] = [
    [undefined, '/healthz', null],
    [undefined, '/open/everything', null],
    [undefined, '/metrics', 403, 'forbidden: User "system:anonymous" cannot get path "/metrics"'],
    [
      undefined,
      '/healthz/ping',
      403,
      'forbidden: User "system:anonymous" cannot get path "/healthz/ping"',
    ],
    ['Bearer good', '/metrics', null],
    ['bearer good', '/metrics', null],
    ['Bearer good', '/statusz', 403, 'forbidden: User "prometheus" cannot get path "/statusz"'],
    ['Bearer admin', '/statusz', null],
    ['Bearer bad', '/metrics', 401, 'Unauthorized'],
    ['Bearer expired', '/metrics', 401, 'Unauthorized'],
    ['Bearer nameless', '/metrics', 401, 'Unauthorized'],
    ['Bearer bad', '/healthz', 401, 'Unauthorized'],
    [
      'Basic Zm9vOmJhcg==',
      '/metrics',
      403,
      'forbidden: User "system:anonymous" cannot get path "/metrics"',
    ],
  ];
  for (const [credential, path, status, message] of cases) {
    it(`${credential ?? 'nobody'} at ${path}: ${status ?? 'let in'}`, async () => {
      const { refusal } = await gateWith(reviewer())(requestWith(credential), path);
      assert.equal(refusal?.status ?? null, status);
      if (!refusal) return;
      const { kind, status: failure, message: text, code } = JSON.parse(refusal.body);
      assert.deepEqual([kind, failure, text, code], ['Status', 'Failure', message, status]);
    });
  }

  it('asks with the whole identity, and the method as verb', async () => {
    const api = reviewer();
    const verdict = await gateWith(api)(requestWith('Bearer good', 'POST'), '/metrics');
    assert.deepEqual([verdict.isKnown, verdict.refusal?.status], [true, 403]);
    assert.deepEqual(api.asked, [
      { path: '/apis/authentication.k8s.io/v1/tokenreviews', spec: { token: 'good' } },
      {
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        spec: {
          user: 'prometheus',
          uid: 'u1',
          groups: ['g', 'system:authenticated'],
          extra: { scope: ['x'] },
          nonResourceAttributes: { path: '/metrics', verb: 'post' },
        },
      },
    ]);
  });

  it('asks once for as long as an answer holds', async () => {
    const api = reviewer();
    const gate = gateWith(api);
    for (let count = 0; count < 3; count += 1) await gate(requestWith('Bearer good'), '/metrics');
    assert.equal(api.asked.length, 2);
    // A refusal holds for no time here, the identity does.
    for (let count = 0; count < 2; count += 1) await gate(requestWith('Bearer good'), '/statusz');
    assert.equal(api.asked.length, 4);
  });

  it('keeps a permission for the one who asked, for what was asked and how', async () => {
    const gate = gateWith(reviewer());
    const statusOf = async (token: string, path: string, method = 'GET') =>
      (await gate(requestWith(`Bearer ${token}`, method), path)).refusal?.status ?? null;
    assert.equal(await statusOf('good', '/metrics'), null);
    assert.equal(await statusOf('good', '/metrics', 'POST'), 403);
    assert.equal(await statusOf('good', '/flagz'), 403);
    assert.equal(await statusOf('namesake', '/metrics'), 403);
    assert.equal(await statusOf('good', '/metrics'), null);
  });

  it('lets nobody in while the API server is away, but to what is open', async () => {
    const api = reviewer();
    const errors: unknown[] = [];
    const gate = gateWith(api, errors);
    api.down = true;
    assert.equal((await gate(requestWith(), '/healthz')).refusal, null);
    assert.equal((await gate(requestWith('Bearer good'), '/metrics')).refusal?.status, 401);
    assert.equal(errors.length, 1);
    assert.deepEqual(
      await gate(requestWith(), '/metrics').then(({ refusal }) => refusal?.body),
      'Internal Server Error: "/metrics": connect ECONNREFUSED\n',
    );
  });
});

describe('a cache of reviews', () => {
  it('forgets in time, and the oldest when it is full', () => {
    let now = 0;
    const cache = new TtlCache<number>(2, () => now);
    cache.set('a', 1, 10);
    cache.set('b', 2, 20);
    cache.set('none', 0, 0);
    assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('none')], [1, 2, undefined]);
    cache.set('c', 3, 20);
    assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [undefined, 2, 3]);
    now = 20;
    assert.deepEqual([cache.get('b'), cache.get('c')], [undefined, undefined]);
  });
});
