import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { run } from '../world/run.ts';

// kubectl's connection flags reach the API server.

describe('connection flags', () => {
  const cases: readonly (readonly [flags: string, expected: IncomingHttpHeaders])[] = [
    ['--token=t', { authorization: 'Bearer t' }],
    ['--username=me --password=secret', { authorization: 'Basic bWU6c2VjcmV0' }],
    [
      '--as=jane --as-group=a --as-group=b',
      {
        'impersonate-user': 'jane',
        'impersonate-group': 'a, b',
      },
    ],
    ['--as=jane --as-uid=7', { 'impersonate-user': 'jane', 'impersonate-uid': '7' }],
    [
      '--as=jane --as-user-extra=scopes=a --as-user-extra=scopes=b --as-user-extra=x/y=z',
      {
        'impersonate-user': 'jane',
        'impersonate-extra-scopes': 'a, b',
        'impersonate-extra-x%2fy': 'z',
      },
    ],
    ['--cache-dir=/x --disable-compression', {}],
  ];
  for (const [flags, expected] of cases) {
    it(flags, async (t) => {
      const server = createServer((_, response) => response.writeHead(404).end('{}'));
      t.after(() => server.close());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const asked = once(server, 'request');
      const where = [`--server=http://127.0.0.1:${port}`, '--kubeconfig=/dev/null'];
      const { code } = await run('explain', 'node', 'n1', ...where, ...flags.split(' '));
      assert.equal(code, 1);
      const [{ headers }] = await asked;
      for (const [name, value] of Object.entries(expected)) {
        assert.equal(headers[name], value, name);
      }
    });
  }
});
