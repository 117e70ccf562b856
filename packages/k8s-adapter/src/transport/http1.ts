// Calls over HTTP/1.1.
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Millis } from '@taintmgr/core/time';
import type { ResponseHeaders } from '../proto/answer.ts';
import type { TlsMaterial } from './access.ts';
import type { Call } from './call.ts';
import { type Dialled, dial, type Endpoint } from './dial.ts';
import { announcedTooOften, announcementsMax, describeError } from './errors.ts';

/** Shorter than the 90 s after which the API server closes an idle connection. */
const idleMsMax: Millis = 60_000;

/** Carries calls by HTTP/1.1, over connections that are kept and used again. */
export class Http1Pool {
  readonly #endpoint: Endpoint;
  readonly #agent: http.Agent;
  /** The material for the connections of a given agent that has no such options itself. */
  readonly #material: TlsMaterial | null;
  readonly #whenClosed = new AbortController();

  /**
   * `agent` makes the connections; null: we do. `spare` is one that is open already, for the first
   * call.
   */
  constructor(endpoint: Endpoint, agent: http.Agent | null, spare: Dialled | null = null) {
    this.#endpoint = endpoint;
    this.#material = agent && endpoint.tls;
    this.#agent = agent ?? dialingAgent(endpoint, spare, this.#whenClosed.signal);
  }

  carry(call: Call): void {
    const { host: hostname, port, tls } = this.#endpoint;
    const { body, method, path } = call.request;
    const agent = this.#agent;
    const length = body === null ? null : { 'content-length': Buffer.byteLength(body) };
    const headers = { ...call.request.headers, ...length };
    const options = { ...this.#material, hostname, port, agent, method, path, headers };
    const request = (tls ? https : http).request(options);
    call.carriedBy(() => request.destroy());
    let announcements = 0;
    request.on('information', () => {
      announcements += 1;
      if (announcements > announcementsMax) request.destroy(new Error(announcedTooOften));
    });
    request.once('upgrade', (_, socket) => {
      socket.destroy();
      call.fail('the server goes over to another protocol', 'unknown');
    });
    request.once('response', (response) => receive(call, response));
    request.on('error', (error: NodeJS.ErrnoException) => {
      const stale = request.reusedSocket && error.code === 'ECONNRESET';
      call.fail(describeError(error), stale ? 'stale' : 'unknown');
    });
    request.end(body ?? undefined);
  }

  /** Closes the connections that are no longer used, and those that are being made. */
  close(): void {
    this.#whenClosed.abort();
    this.#agent.destroy();
  }
}

function receive(call: Call, response: http.IncomingMessage): void {
  call.head(response.statusCode ?? 0, flatHeaders(response.headers));
  response.on('data', (chunk: Buffer) => {
    call.data(chunk);
    // Delivers one chunk in a turn of the event loop, regardless of their speed: all others have
    // their turn too.
    response.pause();
    setImmediate(() => response.resume());
  });
  response.on('error', (error) => call.fail(describeError(error), 'unknown'));
  response.on('end', () => call.end());
}

/** An agent whose connections are made by `dial`. */
function dialingAgent(endpoint: Endpoint, spare: Dialled | null, signal: AbortSignal): http.Agent {
  const keeping = { keepAlive: true, timeout: idleMsMax };
  const agent = endpoint.tls ? new https.Agent(keeping) : new http.Agent(keeping);
  let unused = spare;
  const connection = (): Promise<Dialled> => {
    const first = unused;
    unused = null;
    if (first && !first.socket.destroyed) return Promise.resolve(first);
    return dial(endpoint, ['http/1.1'], signal);
  };
  agent.createConnection = (_, callback) => {
    connection().then(
      ({ socket }) => callback?.(null, socket),
      // The type asks for a socket; with an error it is not used.
      (error: Error) => callback?.(error, new net.Socket()),
    );
    return undefined;
  };
  return agent;
}

function flatHeaders(headers: http.IncomingHttpHeaders): ResponseHeaders {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
