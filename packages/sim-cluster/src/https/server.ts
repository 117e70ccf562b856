import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { errorReply } from '../answer.ts';
import { requestTooLarge } from '../errors.ts';
import type { ApiRequest, Exchange, ResponseSink } from '../exchange.ts';
import type { Certificate } from './certificate.ts';

export interface HttpsOptions {
  readonly exchange: Exchange;
  readonly certificate: Certificate;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** An address of the loopback interface; default 127.0.0.1. */
  readonly host?: string;
  /** How long a client may leave its answers unread before it is dropped; default 30 s. */
  readonly slowClientMs?: number;
}

/** A running HTTPS server. */
export interface HttpsServer {
  readonly url: string;
  readonly port: number;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/** Request bodies beyond this are answered with 413, as by the real server. */
const BODY_BYTES_MAX = 3 * 1024 * 1024;
/** A client with more than this unread, and no progress in SLOW_CLIENT_MS, is dropped. */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024;
const SLOW_CLIENT_MS = 30_000;
/** A connection between requests is kept as long as the real server keeps it. */
const IDLE_CONNECTION_MS = 90_000;

/** Serves an exchange function over HTTPS (HTTP/1.1). Rejects when it cannot listen. */
export function startHttps(options: HttpsOptions): Promise<HttpsServer> {
  const { exchange, certificate, port = 0, host = '127.0.0.1' } = options;
  const { slowClientMs = SLOW_CLIENT_MS } = options;
  const server = createServer(
    { cert: certificate.certificate, key: certificate.key },
    (request, response) => receive(exchange, request, response, slowClientMs),
  );
  server.keepAliveTimeout = IDLE_CONNECTION_MS;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(running(server, host));
    });
  });
}

function running(server: Server, host: string): HttpsServer {
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `https://${name}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Collects the body and hands the request over. */
function receive(
  exchange: Exchange,
  request: IncomingMessage,
  response: ServerResponse,
  slowClientMs: number,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
    else if (!response.headersSent) refuseBody(response);
  });
  request.on('end', () => {
    if (bytes > BODY_BYTES_MAX) return;
    const cancel = exchange(
      readRequest(request, Buffer.concat(chunks)),
      sinkFor(response, slowClientMs),
    );
    response.on('close', cancel);
  });
}

function refuseBody(response: ServerResponse): void {
  const { status, headers, body } = errorReply(requestTooLarge(`limit is ${BODY_BYTES_MAX}`));
  response.writeHead(status, { ...headers, connection: 'close' });
  response.end(body);
}

function readRequest(request: IncomingMessage, body: Buffer): ApiRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(',') : (value ?? ''),
  ]);
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: Object.fromEntries(headers),
    body: body.length > 0 ? body : null,
  };
}

/**
 * Writes an answer to a socket. The head of a watch goes out before its first event, or clients
 * that wait for it hang.
 */
function sinkFor(response: ServerResponse, slowClientMs: number): ResponseSink {
  const checkUnread = dropWhenStuck(response, slowClientMs);
  return {
    head: (status, headers) => {
      response.writeHead(status, headers);
      queueMicrotask(() => {
        if (!response.writableEnded) response.flushHeaders();
      });
    },
    data: (chunk) => {
      response.write(chunk);
      checkUnread();
    },
    end: () => void response.end(),
    reset: () => void response.destroy(),
  };
}

/**
 * A client that does not read fills the server's memory, so it is dropped. Returns the check to
 * make after each write: from then on there must be progress until little is unread.
 */
function dropWhenStuck(response: ServerResponse, slowClientMs: number): () => void {
  let timer: NodeJS.Timeout | null = null;
  const watchOver = (unread: number): void => {
    timer = setTimeout(() => {
      timer = null;
      if (response.writableLength >= unread) response.destroy();
      else if (response.writableLength > UNREAD_BYTES_MAX) watchOver(response.writableLength);
    }, slowClientMs).unref();
  };
  response.on('close', () => {
    if (timer) clearTimeout(timer);
  });
  return () => {
    if (!timer && response.writableLength > UNREAD_BYTES_MAX) watchOver(response.writableLength);
  };
}
