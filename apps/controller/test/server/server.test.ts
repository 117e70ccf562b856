import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { createCertificate } from '@taintmgr/api-server';
import { SettingError } from '../../src/flags/kind.ts';
import { type Handler, jsonAnswer, textAnswer } from '../../src/server/answer.ts';
import { createAuthenticator } from '../../src/server/authentication.ts';
import { readServerIdentity, renewServerIdentity } from '../../src/server/certificate.ts';
import { openGate } from '../../src/server/gate.ts';
import { type StatusServer, startServer } from '../../src/server/server.ts';
import { type Ask, ask } from '../harness/https-client.ts';

const bindAddress = '127.0.0.1';
const none = { bindAddress, tlsCertFile: '', tlsPrivateKeyFile: '', clientCaFile: '' };

const placeOf = (name: string): string => `the place of ${name}`;

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

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-server-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
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

describe('a certificate of its own making', () => {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const ofFamily = (...families: readonly string[]): readonly string[] =>
    addresses.filter(({ family }) => families.includes(family)).map(({ address }) => address);
  const cases: readonly (readonly [bound: string, reached: readonly string[]])[] = [
    ['0.0.0.0', ofFamily('IPv4', 'IPv6')],
    ['::', ofFamily('IPv4', 'IPv6')],
    ['192.0.2.7', ['192.0.2.7']],
    ['2001:db8::7', ['2001:db8::7', '2001:db8:0:0:0:0:0:7']],
    ['::ffff:192.0.2.7', ['::ffff:c000:207']],
  ];
  for (const [bound, reached] of cases) {
    it(`for ${bound} is the controller’s, and good for whoever comes there`, () => {
      const { cert } = readServerIdentity({ ...none, bindAddress: bound }, placeOf);
      const one = new X509Certificate(cert);
      assert.equal(one.subject, 'CN=taintmgr-controller');
      assert.equal(one.issuer, 'CN=taintmgr-controller-ca');
      for (const host of ['localhost', hostname().toLowerCase()])
        assert.equal(one.checkHost(host), host);
      for (const address of reached) assert.equal(one.checkIP(address), address);
      assert.equal(one.checkIP('198.51.100.1'), undefined);
      assert.equal(one.checkHost('kubernetes'), undefined);
    });
  }
});

describe('certificate files', () => {
  it('that cannot be used are named with their flag', (t) => {
    const { certificate, key } = createCertificate(Date.now());
    const other = createCertificate(Date.now());
    const broken = certificate.replace(/CERTIFICATE-----\n..../, 'CERTIFICATE-----\nAAAA');
    const junk = { empty: '', junk: 'junk', broken };
    const folder = folderWith(t, { crt: certificate, key, other: other.key, ...junk });
    const path = (name: string): string => join(folder, name);
    const cases: readonly (readonly [files: object, start: string])[] = [
      [
        { tlsCertFile: path('empty'), tlsPrivateKeyFile: path('key') },
        'the place of tlsCertFile: got ',
      ],
      [
        { tlsCertFile: path('crt'), tlsPrivateKeyFile: path('empty') },
        'the place of tlsPrivateKeyFile: got ',
      ],
      [{ clientCaFile: path('empty') }, 'the place of clientCaFile: got '],
      [{ clientCaFile: path('junk') }, 'the place of clientCaFile: got '],
      [{ clientCaFile: path('key') }, 'the place of clientCaFile: got '],
      [{ clientCaFile: path('broken') }, 'the place of clientCaFile: got '],
      [
        { tlsCertFile: path('no'), tlsPrivateKeyFile: path('key') },
        'the place of tlsCertFile: got ',
      ],
      [
        { tlsCertFile: path('junk'), tlsPrivateKeyFile: path('key') },
        'the place of tlsCertFile: got ',
      ],
      [
        { tlsCertFile: path('crt'), tlsPrivateKeyFile: path('no') },
        'the place of tlsPrivateKeyFile: got ',
      ],
      [
        { tlsCertFile: path('crt'), tlsPrivateKeyFile: path('other') },
        'the place of tlsPrivateKeyFile: got ',
      ],
      [{ clientCaFile: path('no') }, 'the place of clientCaFile: got '],
    ];
    for (const [files, begin] of cases) {
      assert.throws(
        () => readServerIdentity({ ...none, ...files }, placeOf),
        (error) => {
          assert.ok(error instanceof SettingError);
          assert.ok(error.message.startsWith(begin), error.message);
          return true;
        },
      );
    }
  });
});
