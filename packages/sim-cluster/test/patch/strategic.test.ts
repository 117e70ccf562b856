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
});

// As kube-apiserver 1.36 answers, for a node with labels a and b and with conditions A and B.
describe('directives of a strategic patch', () => {
  const labelled = (labels: object) => ({ metadata: { labels } });
  const annotated = (annotations: object) => ({ metadata: { annotations } });
  const finalizers = (more: object) => ({ metadata: more });
  const conditions = (items: readonly unknown[], more: object = {}) => ({
    status: { conditions: items, ...more },
  });
  const refused: readonly (readonly [patch: object, code: number, text: string])[] = [
    [labelled({ $patch: 'merge' }), 500, 'unknown patch type: merge in map: map[$patch:merge]'],
    [labelled({ $retainKeys: ['a'], c: '1' }), 400, 'invalid patch format of retainKeys'],
    [labelled({ $retainKeys: 'a' }), 400, 'invalid patch format of retainKeys'],
    [finalizers({ $setElementOrder: ['x'] }), 400, 'invalid patch format of setElementOrder list'],
    [
      finalizers({ $deleteFromPrimitiveList: ['x'] }),
      400,
      'invalid patch format of primitive list',
    ],
    [
      finalizers({ finalizers: ['x.io/a'], '$setElementOrder/finalizers': ['x.io/b'] }),
      500,
      "The order in patch list:\n[x.io/a]\n doesn't match $setElementOrder list:\n[x.io/b]\n",
    ],
    [
      finalizers({ finalizers: null, '$setElementOrder/finalizers': ['x.io/b'] }),
      500,
      'expected a []interface {}, but received a %!s(<nil>)',
    ],
    [
      finalizers({ '$setElementOrder/foo': ['x.io/b'] }),
      500,
      'unable to find api field in struct ObjectMeta for the json field "foo"',
    ],
    [conditions([], { '$setElementOrder/conditions': ['A'] }), 500, 'value for key 0 is not a map'],
    [
      conditions([{ status: 'x' }]),
      500,
      'map: map[status:x] does not contain declared merge key: type',
    ],
    [
      conditions([{ $patch: 'merge', type: 'A' }]),
      500,
      'merging lists cannot yet be specified in the patch',
    ],
  ];
  const node = () => {
    const { client } = fixture();
    const status = { conditions: ['A', 'B'].map((type) => ({ type, status: 'True' })) };
    client.post(nodes, { metadata: { name: 'n1', labels: { a: '1', b: '1' } }, status });
    return (patch: object) => client.patch(`${nodes}/n1/status`, patch, strategic);
  };
  for (const [patch, code, text] of refused) {
    it(`are refused: ${JSON.stringify(patch)}`, () => {
      const { status, body } = node()(patch);
      assert.deepEqual([status, body.message], [code, text]);
    });
  }

  it('are left out of what is new', () => {
    const { body, headers } = node()({
      ...annotated({ $patch: 'replace', c: '1' }),
      status: {
        images: [{ $patch: 'delete', names: ['a'] }, { names: ['b'] }],
        addresses: [{ type: 'Hostname', address: 'h' }],
        '$setElementOrder/addresses': [{ type: 'Hostname' }],
      },
    });
    assert.equal(headers.warning, undefined);
    assert.equal(body.metadata.annotations, undefined);
    assert.deepEqual(body.status.images, [{ names: ['b'] }]);
    assert.deepEqual(body.status.addresses, [{ type: 'Hostname', address: 'h' }]);
  });

  it('put a list in the place of another, wherever they stand in it', () => {
    const { body } = node()(
      conditions([
        { $patch: 'replace' },
        { $patch: 'delete', type: 'B' },
        { type: 'C', status: '' },
      ]),
    );
    const left: readonly { readonly type: string }[] = body.status.conditions;
    assert.deepEqual(
      left.map(({ type }) => type),
      ['C'],
    );
  });

  it('take a list away whose values are null', () => {
    const { client } = fixture();
    client.post(nodes, { metadata: { name: 'n1', finalizers: ['x.io/a'] } });
    const patch = finalizers({ '$deleteFromPrimitiveList/finalizers': null });
    const { body } = client.patch(`${nodes}/n1`, patch, strategic);
    assert.equal(body.metadata.finalizers, undefined);
  });
});
