import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestHeaders } from '../../src/transport/http2-connection.ts';

it('the headers of a request say what it is, and are the same list for all that are alike', () => {
  const all = new RequestHeaders('server:6443');
  const headers = { accept: 'application/json', 'x-group': ['a', 'b'], 'x-none': undefined };
  const post = { method: 'POST', path: '/a', headers, body: '{}' } as const;
  const body = new Uint8Array(2);
  const head = all.of(post, body);
  assert.deepEqual(head, {
    path: '/a',
    shared: [
      [':method', 'POST'],
      [':scheme', 'https'],
      [':authority', 'server:6443'],
      ['accept', 'application/json'],
      ['x-group', 'a'],
      ['x-group', 'b'],
    ],
    bodyBytes: 2,
  });
  const other = all.of({ ...post, method: 'DELETE', path: '/b', body: null }, null);
  assert.deepEqual(other.shared[0], [':method', 'DELETE']);
  assert.deepEqual([other.path, other.bodyBytes], ['/b', null]);
  assert.equal(all.of({ ...post, path: '/c' }, body).shared, head.shared);
  assert.equal(all.of({ ...post, headers: { ...headers } }, body).shared === head.shared, false);
});
