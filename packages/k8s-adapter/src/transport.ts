import http from 'node:http';
import https from 'node:https';
import type { Millis } from '@taintmgr/core';
import type { ResponseHeaders } from './proto/answer.ts';
import type { ApiRequest } from './proto/request.ts';
import type { Sink, Transport } from './sink.ts';

/** TLS settings of a connection. Left out: those of the process. */
export type TlsMaterial = Pick<
  https.AgentOptions,
  'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'
>;

/** What one request needs to be let in. */
export interface Authorization {
  readonly headers: http.OutgoingHttpHeaders;
  readonly tls: TlsMaterial;
  /** Makes the connections instead of our pool, e.g. through a proxy; null: the pool. */
  readonly agent: http.Agent | null;
}

/** An API server and the way in. */
export interface Access {
  /** Base URL, e.g. `https://10.0.0.1:6443` or `https://host/k8s/clusters/c-1`. */
  readonly server: string;
  /** Asked before each request, because tokens and certificates change. Rejects when it fails. */
  authorize(): Promise<Authorization>;
  /** Told of a 401, so that a cached credential is not used again. */
  rejected(): void;
}

const connectMsMax: Millis = 10_000;
/** Shorter than the 90 s after which the API server closes an idle connection. */
const idleMsMax: Millis = 60_000;
const tcpKeepAliveMs: Millis = 30_000;

/** Talks HTTP/1.1 to one API server over connections that are kept and used again. */
export class HttpTransport implements Transport {
  readonly #access: Access;
  readonly #base: URL;
  readonly #userAgent: string;
  #pool: { readonly tls: TlsMaterial; readonly agent: http.Agent } | null = null;

  /** `userAgent` names the program and its version, e.g. `taintmgr/0.1.0`. */
  constructor(access: Access, userAgent: string) {
    this.#access = access;
    this.#base = new URL(access.server);
    this.#userAgent = userAgent;
  }

  send(request: ApiRequest, sink: Sink): () => void {
    const call = new HttpCall(sink);
    this.#access.authorize().then(
      (authorization) => call.open(() => this.#request(request, authorization), this.#access),
      (error: unknown) => call.fail(describeError(error)),
    );
    return () => call.hangUp();
  }

  /** Closes the connections nobody uses any more; call it when no request is under way. */
  close(): void {
    this.#pool?.agent.destroy();
    this.#pool = null;
  }

  #request(request: ApiRequest, { headers, tls, agent }: Authorization): http.ClientRequest {
    const { protocol, hostname, port, pathname } = this.#base;
    const { method, path, body } = request;
    const outgoing = (protocol === 'http:' ? http : https).request({
      protocol,
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port,
      method,
      path: pathname.replace(/\/$/, '') + path,
      agent: agent ?? this.#agent(tls),
      headers: {
        ...request.headers,
        'user-agent': this.#userAgent,
        ...(body !== null && { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
    });
    limitConnecting(outgoing);
    outgoing.end(body ?? undefined);
    return outgoing;
  }

  /** The pool for this TLS material; the connections of an older one end when they are idle. */
  #agent(tls: TlsMaterial): http.Agent {
    if (this.#pool && sameTls(this.#pool.tls, tls)) return this.#pool.agent;
    const pooling = { keepAlive: true, keepAliveMsecs: tcpKeepAliveMs, timeout: idleMsMax };
    const agent =
      this.#base.protocol === 'http:'
        ? new http.Agent(pooling)
        : new https.Agent({ ...pooling, ...tls });
    this.#pool = { tls, agent };
    return agent;
  }
}

/** One request and what is heard of it; after hangUp, end or failed nothing more is told. */
class HttpCall {
  #request: http.ClientRequest | null = null;
  #closed = false;
  readonly #sink: Sink;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** Sends what `begin` makes; again when it went into a kept connection already closed. */
  open(begin: () => http.ClientRequest, access: Access): void {
    if (this.#closed) return;
    const request = this.#begin(begin);
    if (!request) return;
    this.#request = request;
    let answered = false;
    request.once('response', (response) => {
      answered = true;
      if (response.statusCode === 401) access.rejected();
      this.#receive(response);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // A new connection is not a kept one, so this ends.
      const stale = request.reusedSocket && error.code === 'ECONNRESET' && !answered;
      if (stale && request.method !== 'POST') this.open(begin, access);
      else this.fail(describeError(error));
    });
  }

  /** Certificates and tokens that cannot be used are thrown about here. */
  #begin(begin: () => http.ClientRequest): http.ClientRequest | null {
    try {
      return begin();
    } catch (error) {
      this.fail(describeError(error));
      return null;
    }
  }

  fail(message: string): void {
    if (!this.#closed) this.#sink.failed(message);
    this.#closed = true;
  }

  hangUp(): void {
    this.#closed = true;
    this.#request?.destroy();
  }

  #receive(response: http.IncomingMessage): void {
    if (this.#closed) return;
    this.#sink.head(response.statusCode ?? 0, flatHeaders(response.headers));
    response.on('data', (chunk: Buffer) => {
      if (!this.#closed) this.#sink.data(chunk);
    });
    response.on('error', (error) => this.fail(describeError(error)));
    response.on('end', () => {
      if (!this.#closed) this.#sink.end();
      this.#closed = true;
    });
  }
}

/** A server that does not answer the connection attempt is not waited for. */
function limitConnecting(request: http.ClientRequest): void {
  const timer = setTimeout(() => {
    request.destroy(new Error(`no connection within ${connectMsMax / 1000}s`));
  }, connectMsMax);
  const done = (): void => clearTimeout(timer);
  request.once('close', done);
  request.once('socket', (socket) => {
    socket.setKeepAlive(true, tcpKeepAliveMs);
    if (!socket.connecting) done();
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', done);
  });
}

/** The words of an error; those of its parts where it has none (a host with several addresses). */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map(describeError).join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  return error.message.trim() || error.name;
}

function flatHeaders(headers: http.IncomingHttpHeaders): ResponseHeaders {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function sameTls(one: TlsMaterial, other: TlsMaterial): boolean {
  return (
    String(one.ca) === String(other.ca) &&
    String(one.cert) === String(other.cert) &&
    String(one.key) === String(other.key) &&
    one.servername === other.servername &&
    one.rejectUnauthorized === other.rejectUnauthorized
  );
}
