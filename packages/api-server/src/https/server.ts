// The HTTPS server in front of a cluster.
import { type IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createGzip } from 'node:zlib';
import {
  type ApiRequest,
  chunksOf,
  type Exchange,
  errorReply,
  type ResponseSink,
  requestTooLarge,
} from '@taintmgr/sim-cluster/server';
import type { Certificate } from './certificate.ts';

// Compresses long answers.

/** Answers up to this length are sent as they are. */
const plainBytesMax = 128 * 1024;
/** Quick rather than small, as the real server. */
const compressionLevel = 1;

/** True if the client accepts a compressed answer of this length; a watch is never compressed. */
function wantsGzip(path: string, headers: Readonly<Record<string, string>>): boolean {
  const isWatch = /[?&]watch=(?:1|true)(?:&|$)/.test(path);
  const encodings = (headers['accept-encoding'] ?? '').split(',').map((entry) => entry.trim());
  return !isWatch && encodings.some((entry) => /^gzip(?:;|$)/.test(entry));
}

/** Holds an answer back until it is long enough to compress, or has ended. */
function compressing(answer: Outgoing): Outgoing {
  const held: (string | Uint8Array)[] = [];
  let heldBytes = 0;
  let first: Parameters<Outgoing['head']> | null = null;
  let gzip: ReturnType<typeof createGzip> | null = null;
  const begin = (): ReturnType<typeof createGzip> => {
    const [status, headers] = first ?? [200, {}];
    const encoded = { 'content-encoding': 'gzip', vary: 'Accept-Encoding, Accept' };
    answer.head(status, { ...headers, ...encoded });
    const stream = createGzip({ level: compressionLevel });
    stream.on('data', (chunk: Uint8Array) => answer.data(chunk));
    stream.on('end', () => answer.end());
    answer.onClose(() => stream.destroy());
    for (const chunk of held.splice(0)) stream.write(chunk);
    return stream;
  };
  return {
    unread: answer.unread,
    closesConnection: answer.closesConnection,
    onClose: answer.onClose,
    drop: answer.drop,
    head: (status, headers) => {
      first = [status, headers];
    },
    data: (chunk) => {
      if (gzip) gzip.write(chunk);
      else {
        held.push(chunk);
        heldBytes += Buffer.byteLength(chunk);
        if (heldBytes > plainBytesMax) gzip = begin();
      }
    },
    end: () => {
      if (gzip) gzip.end();
      else {
        if (first) answer.head(...first);
        for (const chunk of held) answer.data(chunk);
        answer.end();
      }
    },
  };
}

/** The options of `startHttps`. */
export interface HttpsOptions {
  /** Answers the requests: `exchange` of a cluster or of an API server. */
  readonly exchange: Exchange;
  /** The certificate of the server: of `createCertificate`, or PEM of your own. */
  readonly certificate: Certificate;
  /** The port to listen on; 0, the default, lets the system choose. */
  readonly port?: number;
  /** An address of the loopback interface; default 127.0.0.1. */
  readonly host?: string;
  /** The time a client may leave its answers unread before it is dropped; default 30 s. */
  readonly slowClientMs?: number;
  /** Offers HTTP/2 beside HTTP/1.1; default true. */
  readonly http2?: boolean;
}

/** A running HTTPS server. */
export interface HttpsServer {
  /** The address of the server: `https://HOST:PORT`. */
  readonly url: string;
  /** The port on which the server listens. */
  readonly port: number;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/** Request bodies beyond this are answered with 413, as by the real server. */
const bodyBytesMax = 3 * 1024 * 1024;
/**
 * A client that is still sending its body reads the refusal later; the rest of the body is
 * discarded for this time.
 */
const refusedBodyMs = 500;
/** A client with more than this unread, and no progress in SLOW_CLIENT_MS, is dropped. */
const unreadBytesMax = 16 * 1024 * 1024;
const defaultSlowClientMs = 30_000;
/** A connection between requests is kept as long as the real server keeps it. */
const idleConnectionMs = 90_000;
/** The number of concurrent requests that the real server allows on one connection. */
const streamsMax = 100;

/**
 * Node refuses further requests on a connection with this much unread data, 10 by default. The real
 * server refuses nothing; a client that does not read is dropped (dropWhenStuck).
 */
const connectionMegabytesMax = 1024;

type Answerer = (request: Incoming, response: Parameters<typeof outgoing>[0]) => void;
type Incoming = IncomingMessage | Http2ServerRequest;

/**
 * Serves an exchange function over HTTPS. Rejects with the error of Node, such as EADDRINUSE, if the
 * server cannot listen.
 */
export function startHttps(options: HttpsOptions): Promise<HttpsServer> {
  const { exchange, certificate, port = 0, host = '127.0.0.1' } = options;
  const { slowClientMs = defaultSlowClientMs, http2 = true } = options;
  const identity = { cert: certificate.certificate, key: certificate.key };
  const answer: Answerer = (request, response) =>
    receive(exchange, request, outgoing(response), slowClientMs);
  const server = http2
    ? createSecureServer(
        {
          ...identity,
          allowHTTP1: true,
          maxSessionMemory: connectionMegabytesMax,
          settings: { maxConcurrentStreams: streamsMax },
        },
        answer,
      )
    : createServer(identity, answer);
  Object.assign(server, { keepAliveTimeout: idleConnectionMs });
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(running(server, host, sockets));
    });
  });
}

function running(
  server: Server | Http2SecureServer,
  host: string,
  sockets: ReadonlySet<Socket>,
): HttpsServer {
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `https://${name}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Collects the body and hands the request over. */
function receive(
  exchange: Exchange,
  request: Incoming,
  answer: Outgoing,
  slowClientMs: number,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isRefused = false;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bodyBytesMax) chunks.push(chunk);
    else if (!isRefused) refuseBody(request, answer);
    isRefused = bytes > bodyBytesMax;
  });
  request.on('end', () => {
    if (isRefused) return;
    const whole = readRequest(request, Buffer.concat(chunks));
    const out = wantsGzip(whole.path, whole.headers) ? compressing(answer) : answer;
    answer.onClose(exchange(whole, sinkFor(out, slowClientMs)));
  });
}

/** A connection that is closed while the client still sends is cut for it, and the answer may be lost. */
function refuseBody(request: Incoming, answer: Outgoing): void {
  const reply = errorReply(requestTooLarge(`limit is ${bodyBytesMax}`));
  const chunks = [...chunksOf(reply)];
  const length = chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
  // A request of known length need not wait for its end.
  const headers = { ...reply.headers, 'content-length': String(length) };
  const last = answer.closesConnection ? { connection: 'close' } : {};
  answer.head(reply.status, { ...headers, ...last });
  for (const chunk of chunks) answer.data(chunk);
  if (!answer.closesConnection) {
    answer.end();
    return;
  }
  const timer = setTimeout(() => answer.end(), refusedBodyMs).unref();
  answer.onClose(() => clearTimeout(timer));
  request.once('end', () => {
    clearTimeout(timer);
    answer.end();
  });
}

/** The headers that belong to HTTP/2 itself, whose names begin with a colon, are left out. */
function readRequest(request: Incoming, body: Buffer): ApiRequest {
  const headers = Object.entries(request.headers)
    .filter(([name]) => !name.startsWith(':'))
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : (value ?? '')]);
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: Object.fromEntries(headers),
    body: body.length > 0 ? body : null,
  };
}

function sinkFor(answer: Outgoing, slowClientMs: number): ResponseSink {
  const checkUnread = dropWhenStuck(answer, slowClientMs);
  return {
    head: (status, headers) => answer.head(status, headers),
    data: (chunk) => {
      answer.data(chunk);
      checkUnread();
    },
    end: () => answer.end(),
    reset: () => answer.drop(),
  };
}

/**
 * A client that does not read fills the server's memory, so it is dropped. Returns the check to
 * make after each write: from then on there must be progress until little is unread.
 */
function dropWhenStuck(answer: Outgoing, slowClientMs: number): () => void {
  let timer: NodeJS.Timeout | null = null;
  const watchOver = (unread: number): void => {
    timer = setTimeout(() => {
      timer = null;
      if (answer.unread() >= unread) answer.drop();
      else if (answer.unread() > unreadBytesMax) watchOver(answer.unread());
    }, slowClientMs).unref();
  };
  answer.onClose(() => {
    if (timer) clearTimeout(timer);
  });
  return () => {
    if (!timer && answer.unread() > unreadBytesMax) watchOver(answer.unread());
  };
}

/** One answer on its way out, over HTTP/1.1 or HTTP/2. */
interface Outgoing {
  /** Sends status and headers at once. */
  head(status: number, headers: Readonly<Record<string, string>>): void;
  data(chunk: string | Uint8Array): void;
  end(): void;
  /** The client sees a break: of its connection, or with HTTP/2 of this one exchange. */
  drop(): void;
  /** Bytes that the client has not read yet. */
  readonly unread: () => number;
  /** True if only closing the connection can discard the rest of a request. */
  readonly closesConnection: boolean;
  onClose(listener: () => void): void;
}

/** The answer to a request of HTTP/1.1 or HTTP/2. */
function outgoing(response: ServerResponse | Http2ServerResponse): Outgoing {
  return response instanceof ServerResponse ? overHttp1(response) : overHttp2(response);
}

function overHttp1(response: ServerResponse): Outgoing {
  return {
    head: (status, headers) => {
      response.writeHead(status, headers);
      // Before the first event of a watch, but together with an answer that is there already.
      queueMicrotask(() => {
        if (!response.writableEnded) response.flushHeaders();
      });
    },
    data: (chunk) => void response.write(chunk),
    end: () => void response.end(),
    drop: () => void response.destroy(),
    unread: () => response.writableLength,
    closesConnection: true,
    onClose: (listener) => void response.on('close', listener),
  };
}

function overHttp2(response: Http2ServerResponse): Outgoing {
  const { stream } = response;
  return {
    head: (status, headers) => void response.writeHead(status, headers),
    // An answer to HEAD is over with its head.
    data: (chunk) => {
      if (response.req.method !== 'HEAD') response.write(chunk);
    },
    end: () => void response.end(),
    drop: () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    unread: () => stream.writableLength,
    closesConnection: false,
    onClose: (listener) => void response.on('close', listener),
  };
}
