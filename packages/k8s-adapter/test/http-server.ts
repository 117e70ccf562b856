import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import type { TestContext } from 'node:test';

/** A server of this test, and what it saw. */
export interface TestServer {
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: () => number;
}

/** Starts an HTTP server (HTTPS with `tls`) that is gone when the test is over. */
export async function startServer(
  t: TestContext,
  handler: http.RequestListener,
  tls?: https.ServerOptions,
): Promise<TestServer> {
  const server = tls ? https.createServer(tls, handler) : http.createServer(handler);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await listen(server);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return { url, connections: () => connections };
}

/** The body of a request, read to its end. */
export async function bodyOf(request: http.IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return body;
}

function listen(server: NetServer): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}
