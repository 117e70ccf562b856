import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { createServer as createPlain } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { WebhookCall, WebhookOutcome } from '../../src/admission/webhooks/call.ts';
import { createCertificate } from '../../src/https/certificate.ts';
import { callOverHttps } from '../../src/https/webhook-call.ts';

const body = '{"kind":"AdmissionReview"}';

describe('the way to a webhook', () => {
  const own = createCertificate(Date.now());
  const other = createCertificate(Date.now(), {
    name: 'hook',
    authority: 'another',
    hosts: ['hook.ops.svc'],
  });
  const seen: { readonly request: IncomingMessage; readonly body: string }[] = [];
  const servers: Server[] = [];
  let port = 0;
  let otherPort = 0;

  async function listening(
    certificate: typeof own,
    answer: Parameters<typeof createServer>[1],
  ): Promise<number> {
    const { certificate: cert, key } = certificate;
    const server = createServer({ cert, key }, answer).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    return (server.address() as AddressInfo).port;
  }

  before(async () => {
    port = await listening(own, (request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += String(chunk);
      });
      request.on('end', () => {
        seen.push({ request, body: text });
        if (request.url?.startsWith('/gone')) response.destroy();
        else {
          const status = request.url?.startsWith('/teapot') ? 418 : 200;
          response.writeHead(status, { 'content-type': 'text/plain' }).end(`got ${text}`);
        }
      });
    });
    otherPort = await listening(other, (_request, response) => void response.end('from hook'));
  });
  after(() => {
    for (const server of servers) server.close();
  });

  function call(more: Partial<WebhookCall>): Promise<WebhookOutcome> {
    const at = more.port ?? port;
    const url = `https://127.0.0.1:${at}/deny?timeout=10s`;
    const common = { host: '127.0.0.1', port: at, serverName: '127.0.0.1', ca: own.ca, body };
    return new Promise((resolve) => void callOverHttps({ url, ...common, ...more }, resolve));
  }

  const answered = { kind: 'answered', contentType: 'text/plain' };

  it('carries the review there and the answer back', async () => {
    const outcome = await call({});
    assert.deepEqual(outcome, { ...answered, status: 200, body: `got ${body}` });
    const { request } = seen.at(-1) ?? assert.fail();
    assert.deepEqual(
      [request.method, request.url, request.headers['content-type'], request.headers.host],
      ['POST', '/deny?timeout=10s', 'application/json', `127.0.0.1:${port}`],
    );
  });

  it('tells of a status that is no success', async () => {
    const outcome = await call({ url: `https://127.0.0.1:${port}/teapot?timeout=1s` });
    assert.deepEqual(outcome, { ...answered, status: 418, body: `got ${body}` });
  });

  it('asks for the name of a Service, wherever it is', async () => {
    const hook = { port: otherPort, ca: other.ca, serverName: 'hook.ops.svc' };
    assert.deepEqual(await call(hook), {
      kind: 'answered',
      status: 200,
      contentType: '',
      body: 'from hook',
    });
  });

  const failures: readonly (readonly [string, () => Partial<WebhookCall>, string | RegExp])[] = [
    [
      'a certificate of another authority',
      () => ({ ca: other.ca }),
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ],
    [
      'no authority that the machine trusts',
      () => ({ ca: null }),
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ],
    [
      'a certificate for another name',
      () => ({ serverName: 'web.ops.svc' }),
      'tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match web.ops.svc',
    ],
    ['nobody there', () => ({ port: 1 }), 'dial tcp 127.0.0.1:1: connect: connection refused'],
    [
      'a connection that breaks',
      () => ({ url: `https://127.0.0.1:${port}/gone?timeout=1s` }),
      'EOF',
    ],
  ];
  for (const [what, more, why] of failures) {
    it(`says what went wrong as Go does: ${what}`, async () => {
      assert.deepEqual(await call(more()), { kind: 'failed', why });
    });
  }

  it('says that a server speaks no TLS', async () => {
    const plain = createPlain((_request, response) => void response.end('hi')).listen(
      0,
      '127.0.0.1',
    );
    await new Promise((resolve) => plain.once('listening', resolve));
    const outcome = await call({ port: (plain.address() as AddressInfo).port });
    plain.close();
    const why = 'http: server gave HTTP response to HTTPS client';
    assert.deepEqual(outcome, { kind: 'failed', why });
  });
});
