import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fixture, podNamed, pods } from '../world/api-fixture.ts';

const names = ({ body }: { readonly body: { readonly items?: unknown } }): readonly string[] => {
  const items = (body.items ?? []) as readonly { readonly metadata: { readonly name: string } }[];
  return items.map(({ metadata }) => metadata.name);
};

it('a list at any version is whole, whatever its limit', () => {
  const { client } = fixture();
  for (const name of ['a', 'b', 'c']) client.post(pods, podNamed(name));
  const limited = client.get(pods, { query: { limit: 2 } });
  assert.deepEqual(names(limited), ['a', 'b']);
  const { continue: token = '' } = limited.body.metadata as { readonly continue?: string };
  for (const [query, expected] of [
    [{ limit: 2, resourceVersion: '0' }, ['a', 'b', 'c']],
    [{ limit: 1, resourceVersion: '0', continue: token }, ['c']],
  ] as const) {
    const list = client.get(pods, { query });
    assert.deepEqual(names(list), expected);
    assert.equal('continue' in list.body.metadata, false);
  }
});

it('a token of a server that has come further is too old for this one, and can be gone on with', () => {
  const [older, younger] = [fixture(), fixture()];
  for (const name of ['a', 'b', 'c']) older.client.post(pods, podNamed(name));
  const { metadata } = older.client.get(pods, { query: { limit: 1 } }).body;
  for (const name of ['a', 'z']) younger.client.post(pods, podNamed(name));
  const query = { limit: 1, continue: (metadata as { readonly continue?: string }).continue ?? '' };
  const refused = younger.client.get(pods, { query });
  assert.deepEqual([refused.status, refused.body.reason], [410, 'Expired']);
  const rest = (refused.body.metadata as { readonly continue?: string }).continue ?? '';
  assert.deepEqual(names(younger.client.get(pods, { query: { continue: rest } })), ['z']);
});
