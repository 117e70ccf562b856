import http, { type OutgoingHttpHeaders } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';
import net from 'node:net';
import type { TestContext } from 'node:test';
import type { ApiRequest } from '../../src/proto/requests.ts';
import type { Access, TlsMaterial } from '../../src/transport/access.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { sink } from '../world/heard.ts';
import {
  bodyOf,
  certificates,
  type Handler,
  startHttp2Server,
  startServer,
  startWire,
} from '../world/http-server.ts';
import type { Servers } from './transport-scenarios.ts';

const megabyte = 'x'.repeat(1_000_000);

/** Starts the servers of the transport scenarios; they are gone when the test is over. */
export async function startServers(t: TestContext): Promise<Servers> {
  const behaviour = new Behaviour();
  const both = await startHttp2Server(t, behaviour.handle, {
    settings: { maxConcurrentStreams: 100 },
    onSession: (session) => behaviour.sessions.add(session),
  });
  const old = await startServer(t, behaviour.handle, certificates.server);
  const wire = await startWire(t, both.port);
  const proxy = await startProxy(t, behaviour);
  behaviour.breakAll = both.breakAll;
  behaviour.closeAll = both.closeAll;
  behaviour.silence = wire.silence;
  behaviour.mend = wire.mend;
  behaviour.connections = old.connections;
  return {
    both: both.url,
    old: old.url,
    wire: `https://127.0.0.1:${wire.port}`,
    proxy,
    ca: certificates.ca.toString(),
  };
}

/** What the servers do, by path. */
class Behaviour {
  readonly sessions = new Set<ServerHttp2Session>();
  readonly #seen = new Set<string>();
  breakAll = (): void => {};
  closeAll = (): void => {};
  silence = (): void => {};
  mend = (): void => {};
  connections = (): number => 0;
  proxied = 0;
  #closed: Promise<void> = Promise.resolve();

  readonly handle: Handler = async (request, response) => {
    const { method, url = '', headers, httpVersion } = request;
    const [path] = url.split('?');
    switch (path) {
      case '/echo': {
        const body = await bodyOf(request);
        const groups = headers['impersonate-group'];
        response.end(JSON.stringify([httpVersion, method, headers.authorization, groups, body]));
        break;
      }
      case '/slow':
        setTimeout(() => response.end('ok'), 20);
        break;
      case '/long':
        for (let n = 0; n < 12; n++) response.write(megabyte);
        response.end();
        break;
      case '/drip': {
        const timer = setInterval(() => response.write('drop\n'), 10);
        this.#closed = new Promise((resolve) => request.once('close', resolve));
        request.once('close', () => clearInterval(timer));
        break;
      }
      case '/half':
        response.write('half');
        setTimeout(url.endsWith('reset') ? this.breakAll : this.closeAll, 20);
        break;
      case '/quiet':
        response.write('drop\n');
        break;
      case '/sessions':
        response.end(`${this.sessions.size}`);
        break;
      case '/break-once':
        await bodyOf(request);
        if (this.#isNew(url)) this.breakAll();
        else response.end('answered');
        break;
      case '/refuse-once':
        await bodyOf(request);
        // What came after the first call of this connection is not begun.
        if (this.#isNew(url)) for (const session of this.sessions) session.goaway(0, 1);
        else response.end('answered');
        break;
      case '/goaway':
        for (const session of this.sessions) session.goaway(0);
        response.end('going');
        break;
      case '/connections':
        response.end(`${this.connections()}`);
        break;
      default:
        await this.#control(path ?? '');
        response.end(path === '/control/proxied' ? `${this.proxied}` : 'done');
    }
  };

  async #control(path: string): Promise<void> {
    if (path === '/control/silence') this.silence();
    if (path === '/control/mend') this.mend();
    if (path === '/control/closed') await this.#closed;
  }

  #isNew(key: string): boolean {
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }
}

async function startProxy(t: TestContext, behaviour: Behaviour): Promise<string> {
  const proxy = http.createServer();
  proxy.on('connect', (request, client: net.Socket) => {
    behaviour.proxied += 1;
    const [host, port] = (request.url ?? '').split(':');
    const upstream = net.connect(Number(port), host);
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    upstream.pipe(client).pipe(upstream);
    for (const socket of [client, upstream]) socket.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => proxy.close());
  return `http://127.0.0.1:${(proxy.address() as net.AddressInfo).port}`;
}

export interface Keys {
  tls?: TlsMaterial;
  headers?: OutgoingHttpHeaders;
  rejected?: () => void;
}

const trust: TlsMaterial = { ca: certificates.ca, servername: 'api.test' };

export function access(
  server: string,
  { tls = trust, headers = {}, rejected = () => {} }: Keys = {},
): Access {
  return { server, authorize: async () => ({ headers, tls, agent: null }), rejected };
}

export function transportTo(t: TestContext, to: Access): HttpTransport {
  const transport = new HttpTransport(to, 'taintmgr/test');
  t.after(() => transport.close());
  return transport;
}

export async function fetched(transport: HttpTransport, request: ApiRequest): Promise<string[]> {
  const heard = sink();
  transport.send(request, heard);
  await heard.over;
  return heard.lines;
}
