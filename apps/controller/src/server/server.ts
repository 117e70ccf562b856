import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Answer, errorAnswer, type Handler } from './answer.ts';
import type { ServerIdentity } from './certificate.ts';
import type { Gate } from './gate.ts';

export interface StatusServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly identity: ServerIdentity;
  readonly gate: Gate;
  readonly routes: ReadonlyMap<string, Handler>;
  /** Told of a handler that throws: a mistake of ours. */
  readonly onError: (error: unknown) => void;
}

/** A running server. */
export interface StatusServer {
  readonly port: number;
  /** From now on new connections see this identity. */
  identify(identity: ServerIdentity): void;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

const headersMsMax = 10_000;
const requestMsMax = 30_000;
const idleMsMax = 90_000;
const connectionsMax = 1000;

/** Serves routes over HTTPS to whom the gate lets in. Rejects when it cannot listen. */
export function startServer(options: StatusServerOptions): Promise<StatusServer> {
  const { host, port, minVersion, identity, onError } = options;
  const server = createServer({
    ...tlsOptions(identity),
    minVersion,
    headersTimeout: headersMsMax,
    requestTimeout: requestMsMax,
    keepAliveTimeout: idleMsMax,
  });
  server.maxConnections = connectionsMax;
  server.on('request', (request, response) => {
    answerTo(request, options).then(
      (answer) => send(answer, request, response),
      (error: unknown) => {
        onError(error);
        send(errorAnswer('internal server error', 500), request, response);
      },
    );
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(running(server));
    });
  });
}

function running(server: Server): StatusServer {
  const { port } = server.address() as AddressInfo;
  return {
    port,
    identify: (identity) => server.setSecureContext(tlsOptions(identity)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A client may show a certificate; one that nobody vouches for counts as none. */
function tlsOptions({ cert, key, clientCa }: ServerIdentity): ServerOptions {
  if (clientCa === '') return { cert, key };
  return { cert, key, ca: clientCa, requestCert: true, rejectUnauthorized: false };
}

async function answerTo(
  request: IncomingMessage,
  { gate, routes }: StatusServerOptions,
): Promise<Answer> {
  const url = URL.parse(request.url ?? '/', 'https://localhost');
  if (!url) return errorAnswer('400 Bad Request', 400);
  const path = url.pathname;
  const refusal = await gate(request, path);
  if (refusal) return refusal;
  const handler = routes.get(path);
  if (!handler) return errorAnswer('404 page not found', 404);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return errorAnswer('405 method not allowed', 405);
  }
  return handler({ path, query: url.searchParams, accept: request.headers.accept ?? '' });
}

function send(
  { status, headers, body }: Answer,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(request.method === 'HEAD' ? undefined : body);
}
