// The HTTPS or HTTP server.
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTls, type TlsOptions } from 'node:tls';
import { FairQueue } from '../rate-limit/rate-limit.ts';
import { type Answer, errorAnswer, type Handler } from './answer.ts';
import { listen, type ServerIdentity } from './certificate.ts';
import { type ConnectionLimits, Connections, type DropReason } from './connections.ts';
import type { Admission, Gate } from './gate.ts';
import { Paced } from './paced.ts';

export interface StatusServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Null: plain HTTP. */
  readonly tls: ServerTls | null;
  readonly gate: Gate;
  readonly routes: ReadonlyMap<string, Handler>;
  /** Told of a handler that throws: a mistake of ours. */
  readonly onError: (error: unknown) => void;
  /** Called for a connection that was ended because of its client, or of others. */
  readonly onDrop: (reason: DropReason) => void;
  /** Left out: as below. */
  readonly limits?: ServerLimits;
}

interface ServerTls {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly identity: ServerIdentity;
}

export interface ServerLimits extends ConnectionLimits {
  /** Connections that get to the TLS handshake, or without TLS to their request. */
  readonly perSecond: number;
  readonly burst: number;
}

/** A running server. */
export interface StatusServer {
  readonly port: number;
  /** From now on new connections see this identity. */
  identify(identity: ServerIdentity): void;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/**
 * For TLS. A handshake, and what a hostile client sends after it, take milliseconds of the one
 * thread that evictions need too.
 */
export const serverLimits: ServerLimits = {
  max: 500,
  perSecond: 20,
  burst: 60,
  stageMsMax: { opening: 5_000, request: 10_000, answer: 30_000, idle: 90_000, ending: 2_000 },
};

/** For health alone, without TLS, which costs less. */
export const healthLimits: ServerLimits = { ...serverLimits, max: 200, perSecond: 100, burst: 100 };

/** A connection that waits for its turn is read once, so it holds no more than these bytes. */
const readLittle = { highWaterMark: 1 } as const;
/** The largest TLS record, with which a handshake begins; also the largest head. */
const openingBytesMax = 17 * 1024;

/**
 * Serves routes to clients that the gate admits. Serves one request at a time for each connection, and no
 * more than one for an unidentified client. Rejects when it cannot listen.
 */
export async function startServer(options: StatusServerOptions): Promise<StatusServer> {
  const { host, port, limits = serverLimits, onDrop } = options;
  const connections = new Connections(limits, onDrop);
  const queue = new FairQueue(limits.perSecond, limits.burst, () => performance.now());
  const { open, identify } = opener(options, connections);
  const front = createServer(readLittle, (socket) => {
    // Without a listener a reset would end the process.
    socket.on('error', () => {});
    const connection = connections.admit(socket);
    if (!connection) return socket.destroy();
    // A silent client costs a socket and no more: TLS begins with the first byte.
    return socket.once('readable', () => {
      if (socket.readableLength > openingBytesMax) return connections.drop(connection, 'excess');
      const leave = queue.enter(connection.peer, () => open(socket));
      socket.once('close', leave);
    });
  });
  return {
    port: await listen(front, host, port),
    identify,
    close: () =>
      new Promise((resolve) => {
        front.close(() => resolve());
        queue.close();
        connections.close();
      }),
  };
}

/** Opens a connection whose turn it is: TLS where that is spoken, and HTTP. */
function opener(
  options: StatusServerOptions,
  connections: Connections,
): { readonly open: (socket: Socket) => void; readonly identify: StatusServer['identify'] } {
  const { tls } = options;
  const http = createHttp(noTimeouts, requestListener(options, connections));
  http.maxHeadersCount = headersMax;
  const speakHttp = (socket: Socket): void => {
    const connection = connections.of(socket);
    if (!connection) {
      socket.on('error', () => {}).destroy();
      return;
    }
    connections.move(connection, 'request');
    http.emit(
      'connection',
      new Paced(connection, socket, () => connections.drop(connection, 'excess')),
    );
  };
  if (!tls) return { open: speakHttp, identify: () => {} };
  const secure = createTls(tlsOptions(tls), (socket) => {
    // Node lets a client have three more handshakes for one that was counted.
    socket.disableRenegotiation();
    speakHttp(socket);
  });
  return {
    open: (socket) => void secure.emit('connection', socket),
    identify: (identity) => secure.setSecureContext(tlsOptions({ ...tls, identity })),
  };
}

/** Each takes ten times its bytes; those after them are not looked at. */
const headersMax = 100;

/** Connections keeps time; it knows of handshakes too. */
const noTimeouts = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 } as const;

/** A client may show a certificate; a certificate without a trusted authority counts as none. */
function tlsOptions({ minVersion, identity }: ServerTls): TlsOptions {
  const { cert, key, clientCa } = identity;
  if (clientCa === '') return { cert, key, minVersion };
  return { cert, key, minVersion, ca: clientCa, requestCert: true, rejectUnauthorized: false };
}

/** The means of answering requests. */
interface Answering {
  readonly gate: Gate;
  readonly routes: ReadonlyMap<string, Handler>;
  /** Told of a handler that throws: a mistake of ours. */
  readonly onError: (error: unknown) => void;
}

interface Reply {
  readonly answer: Answer;
  /** True if a credential has shown who asks: the connection may carry another request. */
  readonly isKnown: boolean;
}

/** Answers one request of each connection after the other. */
function requestListener(
  options: Answering,
  connections: Connections,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const socket: Duplex = request.socket;
    if (!(socket instanceof Paced)) return;
    const { connection } = socket;
    connections.move(connection, 'answer');
    let keepAlive = false;
    response.once('close', () => {
      connections.move(connection, keepAlive ? 'idle' : 'ending');
      if (keepAlive) socket.proceed();
      else socket.finish();
    });
    const answered = ({ answer, isKnown }: Reply): void => {
      // The bytes after a head are read as the next request, so a body must be excluded.
      keepAlive = isKnown && !hasBody(request);
      connections.move(connection, 'answer', isKnown);
      send(answer, keepAlive, request, response);
    };
    replyTo(request, options).then(answered, (error: unknown) => {
      options.onError(error);
      answered({ answer: errorAnswer('internal server error', 500), isKnown: false });
    });
  };
}

async function replyTo(request: IncomingMessage, { gate, routes }: Answering): Promise<Reply> {
  const url = URL.parse(request.url ?? '/', 'https://localhost');
  if (!url) return { answer: errorAnswer('400 Bad Request', 400), isKnown: false };
  const admission: Admission = await gate(request, url.pathname);
  const answer = admission.refusal ?? (await answerOf(request, url, routes));
  return { answer, isKnown: admission.isKnown };
}

async function answerOf(
  { method, headers }: IncomingMessage,
  { pathname: path, searchParams: query }: URL,
  routes: ReadonlyMap<string, Handler>,
): Promise<Answer> {
  const handler = routes.get(path);
  if (!handler) return errorAnswer('404 page not found', 404);
  if (method !== 'GET' && method !== 'HEAD') return errorAnswer('405 method not allowed', 405);
  const last = headers['last-event-id'];
  const lastEventId = typeof last === 'string' ? { lastEventId: last } : {};
  return handler({ path, query, accept: headers.accept ?? '', ...lastEventId });
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return Number(length) !== 0 || encoding !== undefined;
}

function send(
  { status, headers, body }: Answer,
  keepAlive: boolean,
  { method }: IncomingMessage,
  to: ServerResponse,
): void {
  to.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(body),
    ...(!keepAlive && { connection: 'close' }),
  });
  to.end(method === 'HEAD' ? undefined : body);
}
