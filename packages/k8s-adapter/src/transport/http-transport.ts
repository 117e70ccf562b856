// Sends requests to one API server and hands back their answers, over the protocol that its endpoint speaks.

import type http from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { formatDuration } from '@taintmgr/core/time';
import { type ApiRequest, type Elsewhere, isProxied } from '../proto/requests.ts';
import { type Access, type Authorization, sameTls, type TlsMaterial } from './access.ts';
import { Call, type Carrier } from './call.ts';
import { type Dialled, dial, type Endpoint } from './dial.ts';
import { describeError } from './errors.ts';
import type { Http1Pool } from './http1.ts';
import { defaultHttp2Timing, Http2Connection, type Http2Timing } from './http2-connection.ts';
import { accessOf, type KubeConfigLike } from './kube-config.ts';
import type { Sink, Transport } from './sink.ts';
import { timerMsMax } from './timers.ts';

/** The way out of requests that are let in by one authorization. */
interface Way extends Carrier {
  readonly authorization: Authorization;
  /** In lower case. */
  readonly headers: OutgoingHttpHeaders;
  /** With those of requests, which share theirs: by their content. */
  readonly joined: WeakMap<ApiRequest['headers'], Joined>;
}

interface Joined {
  readonly headers: OutgoingHttpHeaders;
  /** The reason why these cannot be sent; null: they can. */
  readonly fault: string | null;
}

/** A request that was sent; its parts are not kept until the answer comes. */
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
  /** Sent, and not authorized yet. */
  #waiting: Waiting[] = [];
  #route: Route | null = null;
  #way: Way | null = null;

  /**
   * `way`: as loadKubeconfig gives it, or a KubeConfig of @kubernetes/client-node, of which the
   * current context counts. `userAgent` names the program and its version, e.g. `taintmgr/0.1.0`.
   */
  constructor(
    way: Access | KubeConfigLike,
    userAgent: string,
    timing: Http2Timing = defaultHttp2Timing,
  ) {
    this.#access = accessOf(way);
    this.#base = new URL(this.#access.server);
    this.#prefix = this.#base.pathname.replace(/\/$/, '');
    this.#userAgent = userAgent;
    this.#timing = timing;
  }

  /** Sends a request; the answer goes to the sink. Returns the way to hang up. */
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
        // Without it a proxy may compress any answer.
        'accept-encoding': 'identity',
      };
      for (const [name, value] of Object.entries(authorization.headers)) {
        headers[name.toLowerCase()] = value;
      }
      // An eavesdropper could read it, and act as us from then on.
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
    this.#route = new Route(endpoint, { tls, agent, proxy, timing: this.#timing });
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

/** The characters that HTTP allows in the name of a header and, in Latin-1, in its value. */
const headerName = /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The reason why these headers cannot be sent, e.g. for a token with a line break in it; null: they can. */
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

/** fetch only says that it failed; the reason is in the cause. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

export interface RouteOptions {
  readonly tls: TlsMaterial;
  readonly proxy: URL | null;
  /** Makes the connections instead of us; null: we make them. */
  readonly agent: http.Agent | null;
  readonly timing: Http2Timing;
}

/** As many as may carry calls at the same time; a hundred calls each. */
const connectionsMax = 4;

/**
 * The connections to one endpoint, and which protocol it speaks. The first of them finds out by
 * ALPN what the server speaks: HTTP/2, then few connections carry all calls; or HTTP/1.1, then each
 * call has one to itself.
 */
export class Route {
  readonly tls: TlsMaterial;
  readonly proxy: URL | null;
  readonly agent: http.Agent | null;
  readonly #endpoint: Endpoint;
  readonly #options: RouteOptions;
  /** Null: no call had to be kept apart yet. */
  #aside: Route | null = null;
  readonly #timing: Http2Timing;
  readonly #connections = new Set<Http2Connection>();
  readonly #waiting = new Set<Call>();
  /** True if calls go by HTTP/1.1, once that is loaded. */
  #isHttp1 = false;
  #http1: Http1Pool | null = null;
  readonly #whenClosed = new AbortController();
  #dialling = false;

  constructor(endpoint: Endpoint, options: RouteOptions) {
    const { tls, proxy, agent, timing } = options;
    this.#endpoint = endpoint;
    this.#options = options;
    this.tls = tls;
    this.proxy = proxy;
    this.agent = agent;
    this.#timing = timing;
    // Without TLS there is no ALPN, and an agent of others makes its own connections.
    if (agent || !endpoint.tls) this.#useHttp1(null);
  }

  /** For what others than the API server answer: who breaks its connections breaks no watch and no renewal of a lease. */
  aside(): Route {
    this.#aside ??= new Route(this.#endpoint, this.#options);
    return this.#aside;
  }

  carry(call: Call): void {
    if (this.#http1) {
      this.#http1.carry(call);
      return;
    }
    // The waiting calls came first.
    const connection = this.#waiting.size === 0 ? this.#roomiest() : null;
    if (connection) connection.carry(call);
    else {
      call.carriedBy(() => this.#waiting.delete(call));
      this.#waiting.add(call);
      if (!this.#isHttp1) this.#serve();
    }
  }

  /** New calls go elsewhere; those under way end. */
  retire(): void {
    this.#aside?.retire();
    for (const connection of this.#connections) connection.retire();
  }

  /** Closes the connections, also one that is being made; call it when no request is under way. */
  close(): void {
    this.#aside?.close();
    this.#whenClosed.abort();
    this.#http1?.close();
    for (const connection of this.#connections) connection.destroy();
  }

  /** Hands waiting calls to connections with room, and dials where there are none. */
  #serve(): void {
    if (this.#waiting.size === 0) return;
    for (const connection of this.#connections) {
      if (connection.isOver) this.#connections.delete(connection);
    }
    for (const call of this.#waiting) {
      const connection = this.#roomiest();
      if (!connection) break;
      this.#waiting.delete(call);
      connection.carry(call);
    }
    if (this.#waiting.size > 0 && this.#mayDial()) this.#dial();
  }

  /** Not while one that there is may soon have room. */
  #mayDial(): boolean {
    for (const connection of this.#connections) if (connection.isNew) return false;
    return this.#connections.size < connectionsMax;
  }

  #roomiest(): Http2Connection | null {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    return null;
  }

  #dial(): void {
    if (this.#dialling) return;
    this.#dialling = true;
    dial(this.#endpoint, ['h2', 'http/1.1'], this.#whenClosed.signal).then(
      (dialled) => {
        this.#dialling = false;
        this.#connected(dialled);
      },
      (error: unknown) => {
        this.#dialling = false;
        this.#unreachable(describeError(error));
      },
    );
  }

  #connected(dialled: Dialled): void {
    const { socket, protocol } = dialled;
    if (this.#whenClosed.signal.aborted) socket.destroy();
    else if (protocol === 'h2') {
      const { host, port } = this.#endpoint;
      const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      const onChange = (): void => this.#serve();
      const connection = new Http2Connection(authority, socket, { timing: this.#timing, onChange });
      this.#connections.add(connection);
      this.#serve();
    } else this.#useHttp1(dialled);
  }

  /** Node's HTTP/1.1 takes a while to load, and most servers speak HTTP/2. */
  #useHttp1(spare: Dialled | null): void {
    this.#isHttp1 = true;
    // There is no other listener yet; a call makes a separate connection when this one breaks.
    spare?.socket.on('error', () => {});
    void import('./http1.ts').then(({ Http1Pool }) => {
      const isClosed = this.#whenClosed.signal.aborted;
      // A connection without a call would never be closed: it would keep the process alive.
      const isWanted = !isClosed && this.#waiting.size > 0;
      if (!isWanted) spare?.socket.destroy();
      if (isClosed) return;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      const pool = new Http1Pool(this.#endpoint, this.agent, isWanted ? spare : null);
      this.#http1 = pool;
      for (const call of waiting) pool.carry(call);
    });
  }

  /** While other connections live, the calls that wait for room go on waiting. */
  #unreachable(message: string): void {
    if (this.#connections.size > 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const call of waiting) call.fail(message, 'unknown');
  }
}
