import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixture, nodes } from '../world/api-fixture.ts';
import { strategic } from '../world/client.ts';

describe('a strategic patch of conditions A, B and C', () => {
  const cases: readonly (readonly [types: readonly string[], order: readonly string[]])[] = [
    [['A'], ['A', 'B', 'C']],
    [['B'], ['A', 'B', 'C']],
    [['C'], ['A', 'B', 'C']],
    [
      ['A', 'C'],
      ['A', 'B', 'C'],
    ],
    [['D'], ['D', 'A', 'B', 'C']],
    [
      ['C', 'D'],
      ['A', 'B', 'C', 'D'],
    ],
  ];
  for (const [types, order] of cases) {
    it(`that names ${types.join(' and ')} leaves them in the order ${order.join(', ')}`, () => {
      const { client } = fixture();
      const status = (names: readonly string[], value: string) => ({
        status: { conditions: names.map((type) => ({ type, status: value })) },
      });
      client.post(nodes, { metadata: { name: 'n1' }, ...status(['A', 'B', 'C'], 'False') });
      const { body } = client.patch(`${nodes}/n1/status`, status(types, 'True'), strategic);
      const left: readonly { readonly type: string; readonly status: string }[] =
        body.status.conditions;
      assert.deepEqual(
        left.map(({ type, status }) => [type, status]),
        order.map((type) => [type, types.includes(type) ? 'True' : 'False']),
      );
    });
  }
});

it('a strategic patch puts new finalizers before those that it does not name', () => {
  const { client } = fixture();
  client.post(nodes, { metadata: { name: 'n1', finalizers: ['x.io/a', 'x.io/b'] } });
  const patched = (finalizers: readonly string[]): unknown =>
    client.patch(`${nodes}/n1`, { metadata: { finalizers } }, strategic).body.metadata.finalizers;
  assert.deepEqual(patched(['x.io/c']), ['x.io/c', 'x.io/a', 'x.io/b']);
  assert.deepEqual(patched(['x.io/b', 'x.io/d']), ['x.io/c', 'x.io/a', 'x.io/b', 'x.io/d']);
});

it('a strategic patch can take all away from a map, or put all else in its place', () => {
  const { client } = fixture();
  const patched = (labels: object): unknown => {
    client.delete(`${nodes}/n1`);
    client.post(nodes, { metadata: { name: 'n1', labels: { a: '1', b: '1' } } });
    const { status, body } = client.patch(`${nodes}/n1`, { metadata: { labels } }, strategic);
    assert.equal(status, 200);
    return body.metadata.labels;
  };
  assert.deepEqual(patched({ $patch: 'delete' }), undefined);
  assert.deepEqual(patched({ $patch: 'replace', c: '1' }), { c: '1' });
  assert.deepEqual(patched({ $patch: 'merge', c: '1' }), { a: '1', b: '1', c: '1' });
});
