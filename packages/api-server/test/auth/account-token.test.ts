import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { User } from '@taintmgr/sim-cluster';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const own = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const server = 'https://kubernetes.default.svc';
const pod = podNamed('p', { serviceAccountName: 'agent' });

function world() {
  const admin: User = { name: 'admin', groups: ['system:masters'], rules: [] };
  const { client, pass } = fixture({ tokens: new Map([['admin', admin]]) });
  const token = 'admin';
  const made = client.post(accounts, { metadata: { name: 'agent' } }, { token });
  const podUid: string = client.post(pods, pod, { token }).body.metadata.uid ?? '';
  const request = (spec: object) =>
    client.post(`${accounts}/agent/token`, { spec }, { token: 'admin' });
  return {
    pass,
    uid: made.body.metadata.uid ?? '',
    podUid,
    request,
    issue: (spec: object = {}): string => request(spec).body.status.token,
    /** The status of what its bearer is answered. */
    asks: (bearer: string): number => client.post(own, {}, { token: bearer }).status,
    review: (spec: object) =>
      client.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec }, { token }).body.status,
    /** The uid of what it creates. */
    create: (path: string, object: object): string =>
      client.post(path, object, { token }).body.metadata.uid ?? '',
    remove: (path: string) => client.delete(path, { token, body: { gracePeriodSeconds: 0 } }),
  };
}

type World = ReturnType<typeof world>;
const toPod = { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } };
const removed = (w: World): string => {
  w.remove(`${accounts}/agent`);
  return '';
};
const podRemoved = (w: World): string => {
  w.remove(`${pods}/p`);
  return '';
};

describe('the token of a service account', () => {
  const ends: readonly (readonly [
    name: string,
    spec: object,
    step: (w: World) => string,
    error: string,
  ])[] = [
    [
      'is for somebody else',
      { audiences: ['vault', 'b'] },
      () => '',
      `token audiences ["vault" "b"] is invalid for the target audiences ["${server}"]`,
    ],
    ['has lost its account', {}, removed, 'serviceaccounts "agent" not found'],
    [
      'is of an account that was before',
      {},
      (w) => {
        removed(w);
        return w.create(accounts, { metadata: { name: 'agent' } });
      },
      'service account UID (NEW) does not match claim (ACCOUNT)',
    ],
    ['has lost its pod', toPod, podRemoved, 'service account token has been invalidated'],
    [
      'is of a pod that was before',
      toPod,
      (w) => {
        podRemoved(w);
        return w.create(pods, pod);
      },
      'pod UID (NEW) does not match service account pod ref claim (POD)',
    ],
  ];
  for (const [name, spec, step, error] of ends) {
    it(`lets nobody in when it ${name}`, () => {
      const w = world();
      const token = w.issue(spec);
      const uid = step(w);
      const text = error.replace('NEW', uid).replace('ACCOUNT', w.uid).replace('POD', w.podUid);
      assert.equal(w.asks(token), 401);
      const said = w.review({ token });
      assert.deepEqual(said, { user: {}, error: `[invalid bearer token, ${text}]` });
    });
  }

  it('lets its bearer in until it ends', () => {
    const w = world();
    const token = w.issue({ expirationSeconds: 600, ...toPod });
    assert.equal(w.asks(token), 201);
    w.pass(600_000);
    assert.equal(w.asks(token), 401);
    assert.deepEqual(w.review({ token }), { user: {}, error: 'invalid bearer token' });
  });

  const meant: readonly (readonly [
    issued: readonly string[],
    asked: readonly string[],
    answer: readonly string[] | null,
  ])[] = [
    [[], [], [server]],
    [[], ['vault'], null],
    [['vault'], ['vault'], ['vault']],
    [
      ['a', 'vault', server],
      ['vault', 'b', 'a'],
      ['a', 'vault'],
    ],
    [['vault', server], [], [server]],
  ];
  for (const [audiences, asked, answer] of meant) {
    const name = answer ? `is meant for ${answer}` : 'is refused';
    it(`with ${JSON.stringify(audiences)}, reviewed for ${JSON.stringify(asked)}, ${name}`, () => {
      const w = world();
      const said = w.review({ token: w.issue({ audiences }), audiences: asked });
      assert.deepEqual(
        [said.authenticated, said.audiences],
        [answer ? true : undefined, answer ?? undefined],
      );
    });
  }
});

describe('a token that is to end with an object', () => {
  const cases: readonly (readonly [reference: object, status: number, message: string])[] = [
    [{ kind: 'Pod', apiVersion: 'v1', name: 'none' }, 404, 'pods "none" not found'],
    [{ kind: 'Secret', apiVersion: 'v1', name: 'none' }, 404, 'secrets "none" not found'],
    [
      { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'x' },
      409,
      'Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
    ],
    [
      { kind: 'Pod', apiVersion: 'v1', name: 'other' },
      400,
      'cannot bind token for serviceaccount "agent" to pod running with different serviceaccount name.',
    ],
    [
      { kind: 'ReplicaSet', apiVersion: 'apps/v1', name: 'p' },
      400,
      'cannot bind token to object of type apps/v1, Kind=ReplicaSet',
    ],
  ];
  for (const [boundObjectRef, status, message] of cases) {
    it(`is answered ${status} for ${JSON.stringify(boundObjectRef)}`, () => {
      const w = world();
      w.create(pods, podNamed('other'));
      const answer = w.request({ boundObjectRef });
      assert.deepEqual([answer.status, answer.body.message], [status, message]);
    });
  }
});
