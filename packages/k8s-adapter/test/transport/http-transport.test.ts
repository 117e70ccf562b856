import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { ApiRequest } from '../../src/proto/requests.ts';
import type { TlsMaterial } from '../../src/transport/access.ts';
import { dial } from '../../src/transport/dial.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { deferred, get, sink } from '../world/heard.ts';
import {
  bodyOf,
  certificates,
  type Handler,
  startHttp2Server,
  startServer,
  type TestServer,
} from '../world/http-server.ts';
import { access, fetched, transportTo } from './transport-server.ts';

it('asks kubelets over a connection of their own: who breaks it breaks no watch', async (t) => {
  const sessions: ServerHttp2Session[] = [];
  const handler: Handler = (request, response) => {
    if (request.url?.includes('/proxy/')) sessions.at(-1)?.destroy();
    else response.end('{}');
  };
  const onSession = (session: ServerHttp2Session) => sessions.push(session);
  const server = await startHttp2Server(t, handler, { onSession });
  const transport = transportTo(t, access(server.url));
  await fetched(transport, get('/'));
  const [failed] = await fetched(transport, get('/api/v1/nodes/n1/proxy/stats/summary'));
  assert.match(failed ?? '', /^failed/);
  assert.deepEqual(await fetched(transport, get('/')), ['head 200', '{}', 'end']);
  assert.equal(server.connections(), 2);
});

/** The same behaviour whatever the server speaks. */
const servers: [string, string, (t: TestContext, handler: Handler) => Promise<TestServer>][] = [
  ['HTTP/1.1', '1.1', (t, handler) => startServer(t, handler)],
  ['HTTP/1.1 over TLS', '1.1', (t, handler) => startServer(t, handler, certificates.server)],
  ['HTTP/2', '2.0', (t, handler) => startHttp2Server(t, handler)],
];

for (const [name, version, start] of servers) {
  describe(`transport over ${name}`, () => {
    it('sends method, path below the base, headers and body, and tells the answer', async (t) => {
      const server = await start(t, async (request, response) => {
        const { method, url, headers, httpVersion } = request;
        const kept = [headers.authorization, headers['user-agent'], headers['content-length']];
        const groups = headers['impersonate-group'];
        const body = await bodyOf(request);
        response.end(JSON.stringify([httpVersion, method, url, ...kept, groups, body]));
      });
      const headers = { Authorization: 'Bearer t', 'impersonate-group': ['a', 'b'] };
      const transport = transportTo(t, access(`${server.url}/k8s/c-1/`, { headers }));
      const lines = await fetched(transport, {
        method: 'DELETE',
        path: '/api/v1/pods?x=1',
        headers: { 'content-type': 'application/json' },
        body: '{"ü":1}',
      });
      // Who impersonates shows nothing that others could use.
      const token = server.url.startsWith('https:') ? '"Bearer t"' : 'null';
      const kept = `${token},"taintmgr/test","8","a, b"`;
      assert.deepEqual(lines, [
        'head 200',
        `["${version}","DELETE","/k8s/c-1/api/v1/pods?x=1",${kept},"{\\"ü\\":1}"]`,
        'end',
      ]);
    });

    it('uses one connection for one request after the other, bodies or not', async (t) => {
      const server = await start(t, async (request, response) => {
        await bodyOf(request);
        response.end('{}');
      });
      const transport = transportTo(t, access(server.url));
      for (let n = 0; n < 20; n++) {
        await fetched(transport, n % 2 ? get('/') : { ...get('/'), method: 'DELETE', body: '{}' });
      }
      assert.equal(server.connections(), 1);
    });

    it('brings a long answer whole', async (t) => {
      const page = 'x'.repeat(1_000_000);
      const server = await start(t, (_, response) => {
        for (let n = 0; n < 12; n++) response.write(page);
        response.end();
      });
      const lines = await fetched(transportTo(t, access(server.url)), get('/'));
      assert.equal(lines.shift(), 'head 200');
      assert.equal(lines.pop(), 'end');
      assert.equal(lines.join('').length, 12_000_000);
    });

    it('tells a stream as it comes, and is silent after hanging up', async (t) => {
      const closed = deferred();
      const server = await start(t, (request, response) => {
        request.once('close', closed.resolve);
        response.write('one\n');
      });
      const transport = transportTo(t, access(server.url));
      const first = deferred();
      const heard = sink(first.resolve);
      const hangUp = transport.send(get('/'), heard);
      await first.promise;
      hangUp();
      await closed.promise;
      assert.deepEqual(heard.lines, ['head 200', 'one\n']);
    });

    it('is silent when hung up before it began', async (t) => {
      const server = await start(t, (_, response) => response.end());
      const transport = transportTo(t, access(server.url));
      const heard = sink();
      transport.send(get('/'), heard)();
      await fetched(transport, get('/'));
      assert.deepEqual(heard.lines, []);
    });

    it('tells an answer cut off in the middle', async (t) => {
      const server = await start(t, (_, response) => response.write('half'));
      const half = deferred();
      const heard = sink(half.resolve);
      transportTo(t, access(server.url)).send(get('/'), heard);
      await half.promise;
      server.breakAll();
      await heard.over;
      const [head, body, end = ''] = heard.lines;
      assert.deepEqual([head, body], ['head 200', 'half']);
      assert.match(end, /^failed (aborted|.*reset|the connection was (closed|cut off))/i);
    });

    it('tells who refused the connection', async (t) => {
      const scheme = version === '2.0' ? 'https' : 'http';
      // Nobody listens on the first port, and no system gives it to anybody.
      const transport = transportTo(t, access(`${scheme}://127.0.0.1:1`));
      const [line] = await fetched(transport, get('/'));
      assert.equal(line, 'failed connect ECONNREFUSED 127.0.0.1:1');
    });

    const stale: [string, 'GET' | 'POST', RegExp][] = [
      ['tries again when a kept connection turns out to be closed', 'GET', /^head 200$/],
      ['but not with a POST, which may have been carried out', 'POST', /^failed ./],
    ];
    for (const [what, method, expected] of stale) {
      it(what, async (t) => {
        let asked = 0;
        const server = await start(t, (_, response) => {
          asked += 1;
          if (asked === 2) server.breakAll();
          else response.end('{}');
        });
        const transport = transportTo(t, access(server.url));
        await fetched(transport, get('/'));
        const [line] = await fetched(transport, { ...get('/'), method });
        assert.match(line ?? '', expected);
      });
    }

    it('reports a 401, so that the next request logs in anew', async (t) => {
      const server = await start(t, (_, response) => {
        response.statusCode = 401;
        response.end();
      });
      let rejections = 0;
      const rejected = (): void => {
        rejections += 1;
      };
      await fetched(transportTo(t, access(server.url, { rejected })), get('/'));
      assert.equal(rejections, 1);
    });

    const unsendable: [string, Partial<ApiRequest>, RegExp][] = [
      ['path that is not encoded', { path: '/a b' }, /^failed the path is not encoded: "\/a b"$/],
      ['path in other letters', { path: '/\u4e2d' }, /^failed the path is not encoded/],
      ['header of two lines', { headers: { a: 'b\nc' } }, /^failed Invalid character in header/],
    ];
    for (const [what, request, expected] of unsendable) {
      it(`tells of a ${what}, and sends on`, async (t) => {
        const server = await start(t, (_, response) => response.end());
        const transport = transportTo(t, access(server.url));
        // Over HTTP/1.1 a first request has made way for those after it.
        await fetched(transport, get('/'));
        const [line] = await fetched(transport, { ...get('/'), ...request });
        assert.match(line ?? '', expected);
        assert.deepEqual(await fetched(transport, get('/')), ['head 200', 'end']);
      });
    }

    it('tells of a user that no header can carry', async (t) => {
      const server = await start(t, (_, response) => response.end());
      const headers = { 'impersonate-user': 'a\nb' };
      const transport = transportTo(t, access(server.url, { headers }));
      const [line] = await fetched(transport, get('/'));
      assert.match(line ?? '', /^failed Invalid character in header/);
    });
  });
}

describe('transport', () => {
  it('tells why there are no credentials', async (t) => {
    const authorize = (): Promise<never> => Promise.reject(new Error('plugin is missing'));
    const to = { ...access('http://127.0.0.1:1'), authorize };
    assert.deepEqual(await fetched(transportTo(t, to), get('/')), ['failed plugin is missing']);
  });

  it('trusts no certificate that nobody vouches for, whatever the environment says', async (t) => {
    const { url } = await startServer(t, (_, response) => response.end(), certificates.server);
    const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env;
    t.after(() => {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    const endpoint = { host: '127.0.0.1', port: Number(new URL(url).port), proxy: null };
    for (const tls of [{}, { rejectUnauthorized: undefined }]) {
      await assert.rejects(dial({ ...endpoint, tls }, ['http/1.1']), /certificate|self.signed/);
    }
  });

  it('speaks HTTP/2 where the server can, over one connection', async (t) => {
    const server = await startHttp2Server(t, (request, response) =>
      response.end(request.httpVersion),
    );
    const transport = transportTo(t, access(server.url));
    const all = await Promise.all(Array.from({ length: 50 }, () => fetched(transport, get('/'))));
    assert.ok(all.every(([, body]) => body === '2.0'));
    assert.equal(server.connections(), 1);
  });
});

describe('a transport that is closed', () => {
  // Else a program that is done would wait for a server that never answers, for ten seconds.
  it('ends a connection that is being made', { timeout: 60_000 }, async (t) => {
    const [accepted, ended] = [deferred(), deferred()];
    const mute = net.createServer((socket) => {
      accepted.resolve();
      socket.on('error', () => {});
      socket.resume().once('close', () => ended.resolve());
    });
    t.after(() => mute.close());
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as AddressInfo;
    const transport = new HttpTransport(access(`https://127.0.0.1:${port}`), 'taintmgr/test');
    const heard = fetched(transport, get('/'));
    await accepted.promise;
    transport.close();
    await ended.promise;
    assert.deepEqual(await heard, ['failed the connection is not wanted any more']);
  });

  it('begins no connection', async () => {
    const endpoint = { host: '192.0.2.1', port: 443, tls: {}, proxy: null };
    const dialled = dial(endpoint, ['h2'], AbortSignal.abort());
    await assert.rejects(dialled, new Error('the connection is not wanted any more'));
  });
});

describe('TLS', () => {
  const { ca, client } = certificates;
  const { cert, key } = client;
  const asksForCertificate = { ...certificates.server, ca, requestCert: true };

  const cases: [string, TlsMaterial, RegExp][] = [
    ['the right authority and name', { ca, servername: 'api.test' }, /^head 200 anonymous$/],
    ['a client certificate', { ca, cert, key, servername: 'api.test' }, /^head 200 test-client$/],
    ['no verification', { rejectUnauthorized: false }, /^head 200 anonymous$/],
    [
      'an unknown authority',
      { servername: 'api.test' },
      /^failed its certificate is signed by an authority that is not trusted/,
    ],
    ['another name', { ca, servername: 'evil.test' }, /^failed .*does not match certificate/],
    ['a certificate that is none', { ca: 'nonsense', cert: 'x', key: 'y' }, /^failed .*PEM/],
  ];

  function startTls(t: TestContext): Promise<TestServer> {
    const settings = { ...asksForCertificate, rejectUnauthorized: false };
    return startServer(
      t,
      (request, response) => {
        const socket = request.socket as import('node:tls').TLSSocket;
        response.end(socket.getPeerCertificate().subject?.CN ?? 'anonymous');
      },
      settings,
    );
  }

  for (const [name, tls, expected] of cases) {
    it(name, async (t) => {
      const server = await startTls(t);
      const lines = await fetched(transportTo(t, access(server.url, { tls })), get('/'));
      assert.match(lines.join(' ').replace(/ end$/, ''), expected);
    });
  }

  it('takes up a renewed certificate with the next request', async (t) => {
    const server = await startTls(t);
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

/** What a server elsewhere is asked, and what is heard of it. */
async function ask(
  path: string,
  answer: RequestListener,
  timeoutMs = 60_000,
): Promise<readonly string[]> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const authorize = () => assert.fail('nobody logs in');
  const access = { server: 'https://api.invalid', authorize, rejected: () => {} };
  const transport = new HttpTransport(access, 'taintmgr/test');
  const heard = sink();
  const dates: unknown[] = [];
  const elsewhere = { url: `http://127.0.0.1:${port}/prefix/`, timeoutMs };
  const head = (status: number, headers: object): void => {
    dates.push(...Object.keys(headers));
    heard.lines.push(`head ${status}`);
  };
  const data = (chunk: Uint8Array | string): void => {
    heard.lines.push(Buffer.from(chunk).toString());
  };
  transport.send({ ...get(path), elsewhere }, { ...heard, head, data });
  await heard.over;
  transport.close();
  server.closeAllConnections();
  server.close();
  assert.deepEqual(dates, []);
  return heard.lines;
}

describe('a request to another server', () => {
  it('carries no credentials, and its headers say nothing of the cluster', async () => {
    const lines = await ask('/api/v1/query?query=up', ({ url, headers }, response) => {
      response.end(`${url} ${headers.authorization ?? 'nobody'}`);
    });
    assert.deepEqual(lines, ['head 200', '/prefix/api/v1/query?query=up nobody', 'end']);
  });

  it('follows no redirect', async () => {
    const lines = await ask('/', (_, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    assert.match(lines.join(), /^failed /);
  });

  it('ends when its time is over', async () => {
    const lines = await ask('/', () => {}, 1000);
    assert.deepEqual(lines, ['failed no answer within 1s']);
  });

  it('waits for longer than a timer of the runtime can', async () => {
    const lines = await ask('/', (_, response) => void response.end('late'), 2 ** 31);
    assert.deepEqual(lines, ['head 200', 'late', 'end']);
  });

  it('says why nobody answers', async () => {
    const lines = await ask('/', ({ socket }) => socket.destroy());
    assert.doesNotMatch(lines.join(), /fetch failed/);
    assert.match(lines.join(), /^failed .+/);
  });
});
