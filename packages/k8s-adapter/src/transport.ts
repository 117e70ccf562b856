import http from 'node:http';
import type { ApiRequest } from './proto/request.ts';
import type { Sink, Transport } from './sink.ts';
import { type Access, type Authorization, sameTls } from './transport/access.ts';
import { Call, type OutgoingRequest } from './transport/call.ts';
import { describeError } from './transport/errors.ts';
import { defaultHttp2Timing, type Http2Timing } from './transport/http2-connection.ts';
import { Route } from './transport/route.ts';

/**
 * Talks to one API server: HTTP/2 where the server has it, else HTTP/1.1, over connections that
 * are kept. The same on Node, Bun and Deno.
 */
export class HttpTransport implements Transport {
  readonly #access: Access;
  readonly #base: URL;
  readonly #userAgent: string;
  readonly #timing: Http2Timing;
  #route: Route | null = null;

  /** `userAgent` names the program and its version, e.g. `taintmgr/0.1.0`. */
  constructor(access: Access, userAgent: string, timing: Http2Timing = defaultHttp2Timing) {
    this.#access = access;
    this.#base = new URL(access.server);
    this.#userAgent = userAgent;
    this.#timing = timing;
  }

  send(request: ApiRequest, sink: Sink): () => void {
    let call: Call | null = null;
    let isWanted = true;
    this.#access.authorize().then(
      (authorization) => {
        if (!isWanted) return;
        const outgoing = this.#outgoing(request, authorization);
        const fault = headerFault(outgoing.headers);
        if (fault !== null) {
          sink.failed(fault);
          return;
        }
        const route = this.#routeOf(authorization);
        call = new Call(outgoing, this.#watched(sink), (again) => route.carry(again));
        call.start();
      },
      (error: unknown) => {
        if (isWanted) sink.failed(describeError(error));
      },
    );
    return () => {
      isWanted = false;
      call?.hangUp();
    };
  }

  /** Closes the connections; call it when no request is under way. */
  close(): void {
    this.#route?.close();
    this.#route = null;
  }

  /** The connections for this way in; those of an earlier one end when they carry nothing more. */
  #routeOf({ tls, agent, proxy = null }: Authorization): Route {
    const route = this.#route;
    const same =
      route &&
      route.agent === agent &&
      route.proxy?.href === proxy?.href &&
      (route.tls === tls || sameTls(route.tls, tls));
    if (same) return route;
    route?.retire();
    const { protocol, hostname, port } = this.#base;
    const secure = protocol === 'https:';
    const endpoint = {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? (secure ? 443 : 80) : Number(port),
      tls: secure ? tls : null,
      proxy,
    };
    this.#route = new Route(endpoint, { tls, agent, proxy, timing: this.#timing });
    return this.#route;
  }

  #outgoing({ method, path, headers, body }: ApiRequest, access: Authorization): OutgoingRequest {
    return {
      method,
      body,
      path: this.#base.pathname.replace(/\/$/, '') + path,
      headers: {
        ...headers,
        'user-agent': this.#userAgent,
        ...(body !== null && { 'content-length': Buffer.byteLength(body) }),
        ...access.headers,
      },
    };
  }

  /** Hears of a 401 in passing, so that the next request logs in anew. */
  #watched(sink: Sink): Sink {
    return {
      head: (status, headers) => {
        if (status === 401) this.#access.rejected();
        sink.head(status, headers);
      },
      data: (chunk) => sink.data(chunk),
      end: () => sink.end(),
      failed: (message) => sink.failed(message),
    };
  }
}

/** Why these headers cannot be sent, e.g. for a token with a line break in it; null: they can. */
function headerFault(headers: http.OutgoingHttpHeaders): string | null {
  try {
    for (const [name, value] of Object.entries(headers)) {
      for (const one of [value].flat()) http.validateHeaderValue(name, String(one));
    }
    return null;
  } catch (error) {
    return describeError(error);
  }
}
