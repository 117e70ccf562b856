import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../src/objects/kube-object.ts';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';
import type { Response } from '../world/client.ts';

const names = ({ body }: Response): readonly string[] =>
  body.items.map(({ metadata }: KubeObject) => metadata.name);

const tokenOf = ({ body }: Response): string => {
  const metadata: { continue?: string; resourceVersion?: string } = body.metadata;
  return metadata.continue ?? '';
};

it('a list at any version is whole, whatever its limit', () => {
  const { client } = fixture();
  for (const name of ['a', 'b', 'c']) client.post(pods, podNamed(name));
  const limited = client.get(pods, { query: { limit: 2 } });
  assert.deepEqual(names(limited), ['a', 'b']);
  const token = tokenOf(limited);
  assert.notEqual(token, '');
  for (const [query, expected] of [
    [{ limit: 2, resourceVersion: '0' }, ['a', 'b', 'c']],
    [{ limit: 1, resourceVersion: '0', continue: token }, ['c']],
  ] as const) {
    const list = client.get(pods, { query });
    assert.deepEqual(names(list), expected);
    assert.equal(tokenOf(list), '');
  }
});

it('a token of a server that has come further is too old for this one, and can be gone on with', () => {
  const [older, younger] = [fixture(), fixture()];
  for (const name of ['a', 'b', 'c']) older.client.post(pods, podNamed(name));
  const token = tokenOf(older.client.get(pods, { query: { limit: 1 } }));
  for (const name of ['a', 'z']) younger.client.post(pods, podNamed(name));
  const refused = younger.client.get(pods, { query: { limit: 1, continue: token } });
  assert.deepEqual([refused.status, refused.body.reason], [410, 'Expired']);
  const query = { continue: tokenOf(refused) };
  assert.deepEqual(names(younger.client.get(pods, { query })), ['z']);
});

it('a list says how many are left, unless a selector leaves that open', () => {
  const { client } = fixture();
  for (const name of ['a', 'b', 'c']) client.post(pods, podNamed(name, {}, { labels: { l: '1' } }));
  const left = (query: object): unknown => {
    const { body } = client.get(pods, { query: { limit: 1, ...query } });
    const metadata: { remainingItemCount?: number; resourceVersion?: string } = body.metadata;
    return metadata.remainingItemCount;
  };
  assert.deepEqual(
    [left({}), left({ labelSelector: 'l=1' }), left({ fieldSelector: 'status.phase=Pending' })],
    [2, undefined, undefined],
  );
});

describe('a resourceVersion beyond any', () => {
  const asked = [
    // As kube-apiserver 1.36.2 answers.
    [`1${'0'.repeat(30)}`, 'pods', 400, 'value out of range'],
    ['18446744073709551616', 'pods', 400, 'value out of range'],
    ['18446744073709551616', 'namespaces/default', 500, 'value out of range'],
    ['abc', 'namespaces/default', 500, 'invalid syntax'],
    ['18446744073709551615', 'pods', 504, 'Too large resource version: 18446744073709551615, '],
    ['9007199254740993', 'pods', 504, 'Too large resource version: 9007199254740993, '],
  ] as const;
  for (const [resourceVersion, path, status, text] of asked) {
    it(`${resourceVersion} of ${path} is ${status}: ${text}`, () => {
      const { client, pass } = fixture();
      const answer = client.send('GET', `/api/v1/${path}`, { query: { resourceVersion } });
      pass(3000);
      assert.equal(answer().status, status);
      assert.ok(answer().body.message.includes(text), answer().body.message);
    });
  }
});
