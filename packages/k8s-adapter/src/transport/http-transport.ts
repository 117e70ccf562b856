// Sends requests to one API server and hands back their answers.
import type { OutgoingHttpHeaders } from 'node:http';
import { formatDuration } from '@taintmgr/core/time';
import { type ApiRequest, type Elsewhere, isProxied } from '../proto/api-request.ts';
import { type Access, type Authorization, sameTls } from './access.ts';
import { Call, type Carrier } from './call.ts';
import { describeError } from './errors.ts';
import { defaultHttp2Timing, type Http2Timing } from './http2-connection.ts';
import { Route } from './route.ts';
import type { Sink, Transport } from './sink.ts';
import { timerMsMax } from './timer-limit.ts';

/** How requests go out that are let in by one authorization. */
interface Way extends Carrier {
  readonly authorization: Authorization;
  /** In lower case. */
  readonly headers: OutgoingHttpHeaders;
  /** With those of requests, which share theirs: by what they have. */
  readonly joined: WeakMap<ApiRequest['headers'], Joined>;
}

interface Joined {
  readonly headers: OutgoingHttpHeaders;
  /** Why these cannot be sent; null: they can. */
  readonly fault: string | null;
}

/** A request that was sent; what it was made of is not kept until the answer comes. */
interface Asked {
  readonly sink: Sink;
  /** Null as long as it waits for its authorization. */
  call: Call | null;
  isWanted: boolean;
}

interface Waiting {
  readonly request: ApiRequest;
  readonly asked: Asked;
}

/**
 * Talks to one API server: HTTP/2 where the server has it, else HTTP/1.1, over connections that
 * are kept. The same on Node, Bun and Deno.
 */
export class HttpTransport implements Transport {
  readonly #access: Access;
  readonly #base: URL;
  readonly #userAgent: string;
  readonly #timing: Http2Timing;
  /** The path of the server's URL, which comes before that of each request. */
  readonly #prefix: string;
  #onSent: (() => void) | null = null;
  /** Sent, and not authorized yet. */
  #waiting: Waiting[] = [];
  #route: Route | null = null;
  #way: Way | null = null;

  /** `userAgent` names the program and its version, e.g. `taintmgr/0.1.0`. */
  constructor(access: Access, userAgent: string, timing: Http2Timing = defaultHttp2Timing) {
    this.#access = access;
    this.#base = new URL(access.server);
    this.#prefix = this.#base.pathname.replace(/\/$/, '');
    this.#userAgent = userAgent;
    this.#timing = timing;
  }

  send(request: ApiRequest, sink: Sink): () => void {
    if (request.elsewhere) return askElsewhere(request, request.elsewhere, sink);
    const asked: Asked = { sink, call: null, isWanted: true };
    this.#waiting.push({ request, asked });
    if (this.#waiting.length === 1) this.#authorize();
    return () => {
      asked.isWanted = false;
      asked.call?.hangUp();
    };
  }

  /** Once for all that are sent before it is done. */
  #authorize(): void {
    this.#access.authorize().then(
      (authorization) => {
        const way = this.#wayFor(authorization);
        for (const waiting of this.#takeWaiting()) this.#start(waiting, way);
      },
      (error: unknown) => {
        const message = describeError(error);
        for (const { asked } of this.#takeWaiting()) asked.sink.failed(message, 'login');
      },
    );
  }

  #start({ request, asked }: Waiting, way: Way): void {
    const { sink } = asked;
    const { method, path, body } = request;
    const { headers, fault } = joinedHeaders(request.headers, way);
    const why = fault ?? pathFault(path);
    if (why === null) {
      asked.call = new Call({ method, body, path: this.#prefix + path, headers }, sink, way);
      asked.call.start();
    } else sink.failed(why);
  }

  /** Each is looked at when its turn comes: what one hears may make another unwanted. */
  *#takeWaiting(): Generator<Waiting> {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) if (one.asked.isWanted) yield one;
  }

  /**
   * Calls `work` once, when requests have gone out over a first connection, by HTTP/2: until they are
   * answered there is time.
   */
  whenSent(work: () => void): void {
    this.#onSent = work;
  }

  /** Closes the connections; call it when no request is under way. */
  close(): void {
    this.#access.close?.();
    this.#route?.close();
    this.#route = null;
    this.#way = null;
  }

  /** Found out once for all requests that are let in by the same authorization. */
  #wayFor(authorization: Authorization): Way {
    if (this.#way?.authorization !== authorization) {
      const headers: OutgoingHttpHeaders = {
        'user-agent': this.#userAgent,
        // Without it a proxy may compress what it likes.
        'accept-encoding': 'identity',
      };
      for (const [name, value] of Object.entries(authorization.headers)) {
        headers[name.toLowerCase()] = value;
      }
      // Whoever is on the way could read it, and be us from then on.
      if (this.#base.protocol !== 'https:') delete headers.authorization;
      const route = this.#routeOf(authorization);
      const carry = (call: Call): void => {
        (isProxied(call.request) ? route.aside() : route).carry(call);
      };
      const rejected = (): void => this.#access.rejected();
      this.#way = { authorization, headers, joined: new WeakMap(), carry, rejected };
    }
    return this.#way;
  }

  /** The connections for this way in; those of an earlier one end when they carry nothing more. */
  #routeOf({ tls, agent, proxy = null }: Authorization): Route {
    const route = this.#route;
    const same =
      route &&
      route.agent === agent &&
      route.proxy?.href === proxy?.href &&
      sameTls(route.tls, tls);
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
    const onSent = (): void => {
      this.#onSent?.();
      this.#onSent = null;
    };
    this.#route = new Route(endpoint, { tls, agent, proxy, timing: this.#timing, onSent });
    return this.#route;
  }
}

function joinedHeaders(own: ApiRequest['headers'], way: Way): Joined {
  const known = way.joined.get(own);
  if (known) return known;
  const headers = { ...own, ...way.headers };
  const joined = { headers, fault: headerFault(headers) };
  way.joined.set(own, joined);
  return joined;
}

/** Beyond these letters HTTP/1.1 refuses a path, and HTTP/2 would ask for another one. */
const encodedPath = /^[!-~]+$/;

function pathFault(path: string): string | null {
  return encodedPath.test(path) ? null : `the path is not encoded: ${JSON.stringify(path)}`;
}

/** What HTTP allows in the name of a header and, in Latin-1, in its value. */
const headerName = /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Why these headers cannot be sent, e.g. for a token with a line break in it; null: they can. */
function headerFault(headers: OutgoingHttpHeaders): string | null {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) return `Header name must be a valid HTTP token ["${name}"]`;
    const isValid = [value].flat().every((one) => headerValue.test(String(one)));
    if (!isValid) return `Invalid character in header content ["${name}"]`;
  }
  return null;
}

/** Of its headers nothing is handed on: the API server's clock is read from those. */
function askElsewhere(request: ApiRequest, { url, timeoutMs }: Elsewhere, sink: Sink): () => void {
  const ended = new AbortController();
  let isWanted = true;
  const fail = (message: string): void => {
    if (!isWanted) return;
    isWanted = false;
    sink.failed(message);
  };
  const timeOver = (): void => {
    fail(`no answer within ${formatDuration(timeoutMs)}`);
    ended.abort();
  };
  const timer = setTimeout(timeOver, Math.min(timeoutMs, timerMsMax));
  const target = `${url.replace(/\/$/, '')}${request.path}`;
  const { headers } = request;
  const ask = async (): Promise<void> => {
    const options = { headers, redirect: 'error', signal: ended.signal } as const;
    const { status, body } = await fetch(target, options);
    if (isWanted) sink.head(status, {});
    for await (const chunk of body ?? []) if (isWanted) sink.data(chunk);
    if (isWanted) sink.end();
    isWanted = false;
  };
  ask()
    .catch((error: unknown) => fail(describeError(causeOf(error))))
    .finally(() => clearTimeout(timer));
  return () => {
    isWanted = false;
    clearTimeout(timer);
    ended.abort();
  };
}

/** fetch says no more than that it failed; why is in the cause. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}
