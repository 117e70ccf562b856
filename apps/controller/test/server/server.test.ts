import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { createCertificate } from '@taintmgr/api-server';
import { type Handler, jsonAnswer, textAnswer } from '../../src/server/answer.ts';
import { readServerIdentity, renewServerIdentity } from '../../src/server/certificate.ts';
import { createAuthenticator, openGate } from '../../src/server/gate.ts';
import { type StatusServer, startServer } from '../../src/server/server.ts';
import { type Ask, ask } from '../harness/https-client.ts';
import { folderWith, none, placeOf } from './certificate-files.ts';

const testdata = (name: string): string =>
  fileURLToPath(new URL(`../testdata/server/tls/${name}`, import.meta.url));

const routes = new Map<string, Handler>([
  ['/echo', ({ query, accept }) => textAnswer(`${query.get('word')} ${accept}`)],
  ['/slow', async () => textAnswer('late')],
  ['/broken', () => JSON.parse('{')],
]);

async function start(
  t: TestContext,
  files = none,
  errors: unknown[] = [],
  minVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.2',
): Promise<StatusServer> {
  const authenticate = createAuthenticator({
    client: { send: async () => assert.fail('no token is shown here') },
    cacheTtl: 0,
    onError: (error) => assert.fail(String(error)),
  });
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    tls: { minVersion, identity: readServerIdentity(files, placeOf) },
    // Says who asks.
    gate: async (request, path) => {
      if (path !== '/whoami') return openGate(request, path);
      const identity = await authenticate(request);
      const refusal = textAnswer(`${identity?.name} ${identity?.groups.join(' ')}`);
      return { isKnown: false, refusal };
    },
    routes,
    onError: (error) => errors.push(error),
    onDrop: (reason) => assert.fail(reason),
  });
  t.after(() => server.close());
  return server;
}

describe('the server', () => {
  it('answers over HTTPS with a certificate of its own making', async (t) => {
    const { port } = await start(t);
    const { status, body, headers } = await ask(port, '/echo?word=hello', {
      headers: { accept: 'text/x' },
    });
    assert.deepEqual([status, body], [200, 'hello text/x']);
    assert.equal(headers['content-length'], '12');
    assert.equal((await ask(port, '/slow')).body, 'late');
  });

  const others: readonly (readonly [method: string, path: string, status: number, body: string])[] =
    [
      ['GET', '/nothing', 404, '404 page not found\n'],
      ['GET', '/echo/', 404, '404 page not found\n'],
      ['GET', '/a/../echo?word=x', 200, 'x '],
      ['HEAD', '/slow', 200, ''],
      ['POST', '/slow', 405, '405 method not allowed\n'],
    ];
  for (const [method, path, status, body] of others) {
    it(`answers ${method} ${path} with ${status}`, async (t) => {
      const { port } = await start(t);
      const reply = await ask(port, path, { method });
      assert.deepEqual([reply.status, reply.body], [status, body]);
    });
  }

  it('answers with nothing that steers a terminal', async (t) => {
    const { port } = await start(t);
    const word = encodeURIComponent('a\u001b[2J\u009b\u202e\u061c\tb');
    const { body } = await ask(port, `/echo?word=${word}`);
    assert.equal(body, 'a\\u001b[2J\\u009b\\u202e\\u061c\tb ');
    const json = jsonAnswer({ a: '\u001b\u202e' }).body;
    assert.deepEqual([json.includes('\u202e'), JSON.parse(json)], [false, { a: '\u001b\u202e' }]);
  });

  it('makes one handshake with each connection', async (t) => {
    const { port } = await start(t);
    const where = { port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = tls.connect({ ...where, maxVersion: 'TLSv1.2' });
    await once(socket, 'secureConnect');
    socket.renegotiate({ rejectUnauthorized: false }, () => assert.fail('another one'));
    await once(socket, 'close');
  });

  it('survives a handler that throws, and tells of it', async (t) => {
    const errors: unknown[] = [];
    const { port } = await start(t, none, errors);
    const { status, body } = await ask(port, '/broken');
    assert.deepEqual([status, body], [500, 'internal server error\n']);
    assert.equal(errors.length, 1);
    assert.equal((await ask(port, '/slow')).status, 200);
  });

  it('shows the certificate it is given, and the next one without a new start', async (t) => {
    const [one, other] = [createCertificate(Date.now()), createCertificate(Date.now())];
    const folder = folderWith(t, { 'tls.crt': one.certificate, 'tls.key': one.key });
    const [tlsCertFile, tlsPrivateKeyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    const files = { ...none, tlsCertFile, tlsPrivateKeyFile };
    const server = await start(t, files);
    const fingerprint = async (): Promise<string> => (await ask(server.port, '/slow')).fingerprint;
    const before = await fingerprint();
    writeFileSync(tlsCertFile, other.certificate);
    writeFileSync(tlsPrivateKeyFile, other.key);
    assert.equal(await fingerprint(), before);
    server.identify(readServerIdentity(files, placeOf));
    assert.notEqual(await fingerprint(), before);
  });

  for (const clientCaFile of ['', testdata('ca.crt')]) {
    const how = clientCaFile === '' ? '' : ', where clients may show certificates too';
    it(`speaks no older TLS than it is told, also with a new certificate${how}`, async (t) => {
      const files = { ...none, clientCaFile };
      const server = await start(t, files, [], 'TLSv1.3');
      const old = { maxVersion: 'TLSv1.2' } as const;
      for (let times = 0; times < 2; times++) {
        await assert.rejects(ask(server.port, '/slow', old), /protocol version|EPROTO/);
        assert.equal((await ask(server.port, '/slow')).status, 200);
        server.identify(readServerIdentity(files, placeOf));
      }
      assert.equal((await ask((await start(t, files)).port, '/slow', old)).status, 200);
    });
  }

  const nobody = 'system:anonymous system:unauthenticated';
  const testClient = 'test-client system:masters system:authenticated';
  const [cert, key] = ['client.crt', 'client.key'].map((name) => readFileSync(testdata(name)));
  const whoami = async ({ port }: StatusServer, client: Ask): Promise<string> =>
    (await ask(port, '/whoami', client)).body;

  it('knows who shows a client certificate of --client-ca-file, and nobody else', async (t) => {
    const server = await start(t, { ...none, clientCaFile: testdata('ca.crt') });
    assert.equal(await whoami(server, {}), nobody);
    const foreign = createCertificate(Date.now());
    assert.equal(await whoami(server, { cert: foreign.certificate, key: foreign.key }), nobody);
    assert.equal(await whoami(server, { cert, key }), testClient);
  });

  it('takes a client certificate without a common name for none, whatever groups it has', async (t) => {
    const server = await start(t, { ...none, clientCaFile: testdata('nameless-ca.crt') });
    const [cert, key] = ['nameless.crt', 'nameless.key'].map((name) =>
      readFileSync(testdata(name)),
    );
    assert.equal(await whoami(server, { cert, key }), nobody);
  });

  it('takes over another client CA without a new start, and none that is being written', async (t) => {
    const [ours, foreign] = [readFileSync(testdata('ca.crt'), 'utf8'), createCertificate(0).ca];
    const clientCaFile = join(folderWith(t, { 'ca.crt': foreign }), 'ca.crt');
    const files = { ...none, clientCaFile };
    const server = await start(t, files);
    assert.equal(await whoami(server, { cert, key }), nobody);
    const first = readServerIdentity(files, placeOf);
    let identity = first;
    const errors: unknown[] = [];
    const renew = (text: string): void => {
      writeFileSync(clientCaFile, text);
      identity = renewServerIdentity(identity, files, placeOf, (error) => errors.push(error));
      server.identify(identity);
    };
    renew(ours);
    assert.equal(await whoami(server, { cert, key }), testClient);
    const cutOff = `${foreign}${ours.slice(0, 200)}`;
    for (const text of ['', 'junk', foreign.slice(0, 200), cutOff]) renew(text);
    assert.equal(errors.length, 4);
    assert.equal(await whoami(server, { cert, key }), testClient);
    assert.equal(identity.cert, first.cert, 'its own certificate stays');
    renew(foreign);
    assert.equal(await whoami(server, { cert, key }), nobody);
  });
});
