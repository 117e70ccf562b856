import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { freePort } from './free-port.ts';

/** A server of this test, and what it saw. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: () => number;
  /** Breaks every connection without a word of goodbye. */
  readonly breakAll: () => void;
  /** Ends every connection as TCP does it. */
  readonly closeAll: () => void;
}

/** A request as servers of HTTP/1.1 and HTTP/2 have it. */
export interface Asked extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersion: string;
  readonly headers: http.IncomingHttpHeaders;
  once(event: 'close', listener: () => void): unknown;
}

/** A response in the same way. */
export interface Answering {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  flushHeaders(): unknown;
  write(chunk: string | Uint8Array): unknown;
  destroy(): unknown;
  end(chunk?: string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** What answers requests of HTTP/1.1 and of HTTP/2 alike. */
export type Handler = (request: Asked, response: Answering) => unknown;

const pem = (name: string): Buffer =>
  readFileSync(new URL(`../testdata/transport/tls/${name}`, import.meta.url));

/** Certificates of the tests; the server's name is api.test, the client's test-client. */
export const certificates = {
  ca: pem('ca.crt'),
  client: { cert: pem('client.crt'), key: pem('client.key') },
  server: { cert: pem('server.crt'), key: pem('server.key') },
} as const;

/** Starts an HTTP server (HTTPS with `tls`) that is gone when the test is over. */
export function startServer(
  t: TestContext,
  handler: http.RequestListener,
  tls?: https.ServerOptions,
): Promise<TestServer> {
  const server = tls ? https.createServer(tls, handler) : http.createServer(handler);
  return serve(t, server, tls ? 'https' : 'http');
}

/** Starts a server that offers HTTP/2 and, unless it is told not to, HTTP/1.1. */
export function startHttp2Server(
  t: TestContext,
  handler: Handler,
  options: http2.SecureServerOptions & {
    readonly onSession?: (session: http2.ServerHttp2Session) => void;
  } = {},
): Promise<TestServer> {
  const { onSession, ...rest } = options;
  const server = http2.createSecureServer({ ...certificates.server, allowHTTP1: true, ...rest });
  server.on('request', handler);
  if (onSession) server.on('session', onSession);
  return serve(t, server, 'https');
}

/** A wire to a server that can fall silent for ever: nothing passes, and nobody is told. */
export interface Wire {
  readonly port: number;
  silence(): void;
  /** Breaks all connections and takes none. */
  cut(): void;
  /** New connections pass again; the silent ones stay so. */
  mend(): void;
}

/** Starts a wire to a server on this machine. */
export async function startWire(t: TestContext, to: number): Promise<Wire> {
  const open = new Set<net.Socket>();
  const silent = new WeakSet<net.Socket>();
  let broken = false;
  const server = net.createServer((client) => {
    const upstream = net.connect(to, '127.0.0.1');
    for (const [from, into] of [[client, upstream] as const, [upstream, client] as const]) {
      open.add(from);
      from.on('data', (chunk) => {
        if (!silent.has(client)) into.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        open.delete(from);
        if (!silent.has(client)) into.destroy();
      });
    }
    if (broken) silent.add(client);
    clients.add(client);
  });
  const clients = new Set<net.Socket>();
  const running = await serve(t, server, 'http', await freePort());
  let isOver = false;
  t.after(() => {
    isOver = true;
    for (const socket of open) socket.destroy();
  });
  // It may be mended when the test is over, and would keep the process for ever.
  server.on('listening', () => {
    if (isOver) server.close();
  });
  return {
    port: running.port,
    silence: () => {
      broken = true;
      for (const client of clients) silent.add(client);
    },
    cut: () => {
      server.close();
      running.breakAll();
    },
    mend: () => {
      broken = false;
      if (!server.listening) server.listen(running.port, '127.0.0.1');
    },
  };
}

/** The body of a request, read to its end. */
export async function bodyOf(request: AsyncIterable<unknown>): Promise<string> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

async function serve(
  t: TestContext,
  server: net.Server,
  scheme: string,
  listensAt = 0,
): Promise<TestServer> {
  const sockets = new Set<net.Socket>();
  let connections = 0;
  server.on('connection', (socket: net.Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const closeAll = (): void => {
    for (const socket of sockets) socket.end();
  };
  await new Promise<void>((resolve) => server.listen(listensAt, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `${scheme}://127.0.0.1:${port}`;
  return { port, url, breakAll, closeAll, connections: () => connections };
}
