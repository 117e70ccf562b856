import type http from 'node:http';
import type { TlsMaterial } from './access.ts';
import type { Call } from './call.ts';
import { type Dialled, dial, type Endpoint } from './dial.ts';
import { describeError } from './errors.ts';
import type { Http1Pool } from './http1.ts';
import { Http2Connection, type Http2Timing } from './http2-connection.ts';

export interface RouteOptions {
  readonly tls: TlsMaterial;
  readonly proxy: URL | null;
  /** Makes the connections instead of us; null: we make them. */
  readonly agent: http.Agent | null;
  readonly timing: Http2Timing;
  /** Called when what waited for a connection has gone out over one. */
  readonly onSent: () => void;
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
  /** Null: nobody was to be kept apart yet. */
  #aside: Route | null = null;
  readonly #timing: Http2Timing;
  readonly #onSent: () => void;
  readonly #connections = new Set<Http2Connection>();
  readonly #waiting = new Set<Call>();
  /** True if calls go by HTTP/1.1, once that is loaded. */
  #isHttp1 = false;
  #http1: Http1Pool | null = null;
  readonly #whenClosed = new AbortController();
  #dialling = false;

  constructor(endpoint: Endpoint, options: RouteOptions) {
    const { tls, proxy, agent, timing, onSent } = options;
    this.#endpoint = endpoint;
    this.#options = options;
    this.tls = tls;
    this.proxy = proxy;
    this.agent = agent;
    this.#timing = timing;
    this.#onSent = onSent;
    // Without TLS there is no ALPN, and an agent of others makes its own connections.
    if (agent || !endpoint.tls) this.#useHttp1(null);
  }

  /** For what others than the API server answer: who breaks its connections breaks no watch and no renewal of a lease. */
  aside(): Route {
    this.#aside ??= new Route(this.#endpoint, { ...this.#options, onSent: () => {} });
    return this.#aside;
  }

  carry(call: Call): void {
    if (this.#http1) {
      this.#http1.carry(call);
      return;
    }
    // Those that wait came first.
    const connection = this.#waiting.size === 0 ? this.#roomiest() : null;
    if (connection) connection.carry(call);
    else {
      call.carriedBy(() => this.#waiting.delete(call));
      this.#waiting.add(call);
      if (!this.#isHttp1) this.#serve();
    }
  }

  /** New calls go elsewhere; those under way come to their end. */
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
      // The connection writes at the end of this turn.
      setImmediate(this.#onSent);
    } else this.#useHttp1(dialled);
  }

  /** Node's HTTP/1.1 takes a while to load, and most servers speak HTTP/2. */
  #useHttp1(spare: Dialled | null): void {
    this.#isHttp1 = true;
    // Nobody else listens yet; a call makes a connection of its own when this one breaks.
    spare?.socket.on('error', () => {});
    void import('./http1.ts').then(({ Http1Pool }) => {
      const isClosed = this.#whenClosed.signal.aborted;
      // What no call takes nobody would close: it would keep the process alive.
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
