import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createCertificate } from '@taintmgr/api-server';
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
      for (const scheme of ['https', 'http']) {
        const { key, certificate: cert } = createCertificate(Date.now());
        const server = scheme === 'https' ? https.createServer({ key, cert }) : createServer();
        server.on('request', (_, response) => response.writeHead(404).end('{}'));
        t.after(() => server.close());
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const asked = once(server, 'request');
        const where = [`--server=${scheme}://127.0.0.1:${port}`, '--kubeconfig=/dev/null'];
        const how = [...where, '--insecure-skip-tls-verify', ...flags.split(' ')];
        const { code, err } = await run('explain', 'node', 'n1', ...how);
        assert.equal(code, 1);
        const [{ headers }] = await asked;
        const { authorization, ...others } = expected;
        for (const [name, value] of Object.entries(others)) {
          assert.equal(headers[name], value, name);
        }
        const isSecret = authorization !== undefined && scheme === 'http';
        assert.equal(headers.authorization, isSecret ? undefined : authorization);
        assert.equal(err.includes('Warning: no credentials are sent to http://127.'), isSecret);
      }
    });
  }
});

describe('where 200 brings something else', () => {
  const bodies: readonly (readonly [body: string, says: RegExp])[] = [
    ['{"error":"session expired"}', /what answers at \/api\S+ is no .*, but JSON without a kind/],
    ['<html>log in', /what answers at \/api\S+ does not speak JSON/],
    [
      '{"kind":"Status","apiVersion":"v1","status":"Failure","code":401,"message":"log in"}',
      /Error from server: log in/,
    ],
  ];
  const commands = ['pending -A', 'status', 'drain-by-taint -l x m=k', 'drain-by-taint m=k n1'];
  for (const command of [...commands, 'explain node n1', 'explain pod p', 'doctor', 'snapshot']) {
    it(`it ends: ${command}`, async (t) => {
      let body = '';
      const server = createServer((_, response) => response.end(body));
      t.after(() => server.close());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const where = [`--server=http://127.0.0.1:${port}`, '--kubeconfig=/dev/null'];
      for (const [given, says] of bodies) {
        body = given;
        const { code, err } = await run(...command.split(' '), ...where);
        assert.equal(code, 1);
        assert.match(err, says);
      }
    });
  }
});
