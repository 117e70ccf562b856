import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { ApiRequest } from '../src/proto/request.ts';
import type { Sink } from '../src/sink.ts';
import { type Access, HttpTransport, type TlsMaterial } from '../src/transport.ts';
import { bodyOf, startServer } from './http-server.ts';

/** What a sink was told, in order; resolves at the end. */
interface Heard {
  readonly lines: string[];
  readonly over: Promise<void>;
}

function sink(onHead: () => void = () => {}): Sink & Heard {
  const lines: string[] = [];
  const { promise: over, resolve: finish } = deferred();
  return {
    lines,
    over,
    head: (status) => {
      lines.push(`head ${status}`);
      onHead();
    },
    data: (chunk) => lines.push(String(chunk)),
    end: () => {
      lines.push('end');
      finish();
    },
    failed: (message) => {
      lines.push(`failed ${message}`);
      finish();
    },
  };
}

function get(path: string): ApiRequest {
  return { method: 'GET', path, headers: {}, body: null };
}

interface Keys {
  tls?: TlsMaterial;
  headers?: OutgoingHttpHeaders;
  rejected?: () => void;
}

function access(
  server: string,
  { tls = {}, headers = {}, rejected = () => {} }: Keys = {},
): Access {
  return { server, authorize: async () => ({ headers, tls, agent: null }), rejected };
}

function transportTo(t: TestContext, to: Access): HttpTransport {
  const transport = new HttpTransport(to, 'taintmgr/test');
  t.after(() => transport.close());
  return transport;
}

async function fetched(transport: HttpTransport, request: ApiRequest): Promise<string[]> {
  const heard = sink();
  transport.send(request, heard);
  await heard.over;
  return heard.lines;
}

describe('transport', () => {
  it('sends method, path below the base, headers and body, and tells the answer', async (t) => {
    const server = await startServer(t, async (request, response) => {
      const { method, url, headers } = request;
      const kept = [headers.authorization, headers['user-agent'], headers['content-length']];
      response.end(JSON.stringify([method, url, ...kept, await bodyOf(request)]));
    });
    const headers = { authorization: 'Bearer t' };
    const transport = transportTo(t, access(`${server.url}/k8s/c-1/`, { headers }));
    const lines = await fetched(transport, {
      method: 'DELETE',
      path: '/api/v1/pods?x=1',
      headers: { 'content-type': 'application/json' },
      body: '{"ü":1}',
    });
    assert.deepEqual(lines, [
      'head 200',
      '["DELETE","/k8s/c-1/api/v1/pods?x=1","Bearer t","taintmgr/test","8","{\\"ü\\":1}"]',
      'end',
    ]);
  });

  it('uses one connection for one request after the other, bodies or not', async (t) => {
    const server = await startServer(t, async (request, response) => {
      await bodyOf(request);
      response.end('{}');
    });
    const transport = transportTo(t, access(server.url));
    for (let n = 0; n < 20; n++) {
      await fetched(transport, n % 2 ? get('/') : { ...get('/'), method: 'DELETE', body: '{}' });
    }
    assert.equal(server.connections(), 1);
  });

  it('tells a stream as it comes, and is silent after hanging up', async (t) => {
    const closed = deferred();
    const server = await startServer(t, (request, response) => {
      request.once('close', closed.resolve);
      response.write('one\n');
    });
    const transport = transportTo(t, access(server.url));
    const first = deferred();
    const heard = sink();
    const hangUp = transport.send(get('/'), {
      ...heard,
      data: (chunk) => {
        heard.data(chunk);
        first.resolve();
      },
    });
    await first.promise;
    hangUp();
    await closed.promise;
    assert.deepEqual(heard.lines, ['head 200', 'one\n']);
  });

  it('is silent when hung up before it began', async (t) => {
    const server = await startServer(t, (_, response) => response.end());
    const transport = transportTo(t, access(server.url));
    const heard = sink();
    transport.send(get('/'), heard)();
    await fetched(transport, get('/'));
    assert.deepEqual(heard.lines, []);
  });

  it('tells an answer cut off in the middle', async (t) => {
    const server = await startServer(t, (_, response) => {
      response.write('half', () => response.destroy());
    });
    const lines = await fetched(transportTo(t, access(server.url)), get('/'));
    assert.deepEqual(lines, ['head 200', 'half', 'failed aborted']);
  });

  it('tells who refused the connection', async (t) => {
    const port = await freePort();
    const [line] = await fetched(transportTo(t, access(`http://127.0.0.1:${port}`)), get('/'));
    assert.equal(line, `failed connect ECONNREFUSED 127.0.0.1:${port}`);
  });

  const stale: [string, 'GET' | 'POST', RegExp][] = [
    ['tries again when a kept connection turns out to be closed', 'GET', /^head 200$/],
    ['but not with a POST, which may have been carried out', 'POST', /^failed .*(reset|hang up)/i],
  ];
  for (const [name, method, expected] of stale) {
    it(name, async (t) => {
      const served = new WeakSet<object>();
      const server = await startServer(t, (request, response) => {
        if (served.has(request.socket)) return request.socket.resetAndDestroy();
        served.add(request.socket);
        return response.end('{}');
      });
      const transport = transportTo(t, access(server.url));
      await fetched(transport, get('/'));
      const [line] = await fetched(transport, { ...get('/'), method });
      assert.match(line ?? '', expected);
    });
  }

  it('reports a 401, so that the next request logs in anew', async (t) => {
    const server = await startServer(t, (_, response) => {
      response.writeHead(401).end();
    });
    let rejections = 0;
    const rejected = (): void => {
      rejections += 1;
    };
    await fetched(transportTo(t, access(server.url, { rejected })), get('/'));
    assert.equal(rejections, 1);
  });

  it('tells why there are no credentials', async (t) => {
    const authorize = (): Promise<never> => Promise.reject(new Error('plugin is missing'));
    const to = { ...access('http://127.0.0.1:1'), authorize };
    assert.deepEqual(await fetched(transportTo(t, to), get('/')), ['failed plugin is missing']);
  });

  it('tells of a token that no header can carry', async (t) => {
    const headers = { authorization: 'Bearer a\nb' };
    const [line] = await fetched(
      transportTo(t, access('http://127.0.0.1:1', { headers })),
      get('/'),
    );
    assert.match(line ?? '', /^failed Invalid character in header/);
  });
});

describe('TLS', () => {
  const pem = (name: string): Buffer =>
    readFileSync(new URL(`testdata/tls/${name}`, import.meta.url));
  const [ca, cert, key] = [pem('ca.crt'), pem('client.crt'), pem('client.key')];
  const settings = { cert: pem('server.crt'), key: pem('server.key'), ca, requestCert: true };

  const cases: [string, TlsMaterial, RegExp][] = [
    ['the right authority and name', { ca, servername: 'api.test' }, /^head 200 anonymous$/],
    ['a client certificate', { ca, cert, key, servername: 'api.test' }, /^head 200 test-client$/],
    ['no verification', { rejectUnauthorized: false }, /^head 200 anonymous$/],
    ['an unknown authority', { servername: 'api.test' }, /^failed self-signed certificate/],
    ['another name', { ca, servername: 'evil.test' }, /^failed .*does not match certificate/],
    ['a certificate that is none', { ca: 'nonsense', cert: 'x', key: 'y' }, /^failed .*PEM/],
  ];
  for (const [name, tls, expected] of cases) {
    it(name, async (t) => {
      const server = await startServer(
        t,
        (request, response) => {
          const socket = request.socket as import('node:tls').TLSSocket;
          response.end(socket.getPeerCertificate().subject?.CN ?? 'anonymous');
        },
        { ...settings, rejectUnauthorized: false },
      );
      const lines = await fetched(transportTo(t, access(server.url, { tls })), get('/'));
      assert.match(lines.join(' ').replace(/ end$/, ''), expected);
    });
  }

  it('takes up a renewed certificate with the next request', async (t) => {
    const server = await startServer(
      t,
      (request, response) => {
        const socket = request.socket as import('node:tls').TLSSocket;
        response.end(socket.getPeerCertificate().subject?.CN ?? 'anonymous');
      },
      { ...settings, rejectUnauthorized: false },
    );
    let tls: TlsMaterial = { ca, servername: 'api.test' };
    const to = {
      server: server.url,
      authorize: async () => ({ headers: {}, tls, agent: null }),
      rejected: () => {},
    };
    const transport = transportTo(t, to);
    const seen = [await fetched(transport, get('/')), await fetched(transport, get('/'))];
    tls = { ...tls, cert, key };
    seen.push(await fetched(transport, get('/')));
    assert.deepEqual(
      seen.map(([, body]) => body),
      ['anonymous', 'anonymous', 'test-client'],
    );
    assert.equal(server.connections(), 2);
  });
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
