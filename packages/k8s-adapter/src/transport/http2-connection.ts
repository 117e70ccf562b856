import http2 from 'node:http2';
import type net from 'node:net';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { ResponseHeaders } from '../proto/answer.ts';
import type { Call } from './call.ts';
import { describeError } from './errors.ts';

/** How a connection is watched over. */
export interface Http2Timing {
  /** While it carries calls the other end is asked for a sign of life so often, and has so long to give one. */
  readonly pingEvery: Millis;
  /** A connection that carries nothing is closed after this time. */
  readonly idle: Millis;
}

export const defaultHttp2Timing: Http2Timing = {
  pingEvery: 5000,
  /** Shorter than the 90 s after which the API server closes an idle connection. */
  idle: 60_000,
};

/** What the API server allows, unless it says otherwise. */
const streamsMax = 100;
/** Enough for lists over long ways: 64 KiB, the standard, is one round trip's worth. */
const windowBytes = 4 * 1024 * 1024;
const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;

/**
 * One HTTP/2 connection and the calls it carries, with pings and GOAWAY. While it carries any, it
 * sends a PING now and then: so a connection whose other end is gone without a word is found out in
 * seconds, and whoever waits for a watch that says nothing knows that there is nothing to say. When the server says GOAWAY it takes no new calls and carries the others to
 * their end.
 */
export class Http2Connection {
  readonly #session: http2.ClientHttp2Session;
  readonly #socket: net.Socket;
  readonly #timing: Http2Timing;
  /** Called when there is room for a call again, or this connection takes none any more. */
  readonly #onChange: () => void;
  /** Whether it has ever brought an answer. */
  #proven = false;
  readonly #calls = new Set<Call>();
  #heardAt = performance.now();
  #watchdog: NodeJS.Timeout | null = null;
  #idle: NodeJS.Timeout | null = null;
  #draining = false;
  #why = 'the connection was closed';

  constructor(
    origin: string,
    socket: net.Socket,
    { timing, onChange }: { readonly timing: Http2Timing; readonly onChange: () => void },
  ) {
    this.#socket = socket;
    this.#timing = timing;
    this.#onChange = onChange;
    this.#session = http2.connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: windowBytes },
    });
    this.#session.once('connect', () => this.#widen());
    this.#session.on('error', (error) => {
      this.#why = describeError(error);
    });
    this.#session.once('goaway', () => this.#drain());
    this.#session.once('close', () => this.#drain());
    this.#rest();
  }

  /** Whether it takes another call. */
  get hasRoom(): boolean {
    const { remoteSettings, closed, destroyed } = this.#session;
    const allowed = Math.min(remoteSettings?.maxConcurrentStreams ?? streamsMax, streamsMax);
    return !this.#draining && !closed && !destroyed && this.#calls.size < allowed;
  }

  /** Whether it will never take another call. */
  get isOver(): boolean {
    return this.#draining;
  }

  /** Begins a call; there must be room. */
  carry(call: Call): void {
    const { method, path, headers, body } = call.request;
    const stream = this.#session.request(
      { ...headers, ':method': method, ':path': path },
      // A DELETE would be taken to have no body.
      { endStream: body === null },
    );
    this.#begin(call);
    call.carriedBy(() => stream.close(NGHTTP2_CANCEL));
    if (body !== null) stream.end(body);
    this.#listen(call, stream);
  }

  /** Takes no new calls; those under way come to their end. */
  retire(): void {
    this.#draining = true;
    this.#session.close();
  }

  /** Ends everything at once. */
  destroy(): void {
    this.#session.destroy();
  }

  #listen(call: Call, stream: http2.ClientHttp2Stream): void {
    const kept = this.#proven;
    let complete = false;
    let why = '';
    stream.once('response', (headers) => {
      this.#proven = true;
      this.#hear();
      call.head(headers[':status'] ?? 0, flatHeaders(headers));
      // Not before: Deno would report the body first.
      stream.on('data', (chunk: Buffer) => {
        this.#hear();
        call.data(chunk);
      });
      stream.once('end', () => {
        complete = !stream.aborted;
      });
    });
    stream.on('error', (error) => {
      why = describeError(error);
    });
    stream.once('close', () => {
      const code = stream.rstCode ?? NGHTTP2_NO_ERROR;
      const broken = this.#session.destroyed || this.#socket.destroyed;
      this.#end(call);
      if (complete && code === NGHTTP2_NO_ERROR) call.end();
      else if (code === NGHTTP2_REFUSED_STREAM) call.fail(why || 'refused', 'unsent');
      else call.fail(broken ? this.#why : why || this.#why, broken && kept ? 'stale' : 'unknown');
    });
  }

  #begin(call: Call): void {
    this.#calls.add(call);
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = null;
    if (this.#calls.size > 1) return;
    this.#session.ref();
    this.#watchdog = setTimeout(() => this.#ping(), this.#timing.pingEvery);
  }

  #end(call: Call): void {
    this.#calls.delete(call);
    if (this.#calls.size === 0) this.#rest();
    this.#onChange();
  }

  /** Carries nothing: it does not keep the process alive, and not itself for long. */
  #rest(): void {
    if (this.#watchdog) clearTimeout(this.#watchdog);
    this.#watchdog = null;
    if (this.#session.destroyed) return;
    this.#session.unref();
    this.#idle = setTimeout(() => this.retire(), this.#timing.idle);
    this.#idle.unref();
  }

  #drain(): void {
    if (this.#idle) clearTimeout(this.#idle);
    this.#draining = true;
    this.#onChange();
  }

  #hear(): void {
    this.#heardAt = performance.now();
  }

  // Signs of life

  #ping(): void {
    const askedAt = performance.now();
    this.#session.ping((error) => {
      if (error) return;
      this.#hear();
      const age = performance.now() - askedAt;
      for (const call of this.#calls) call.alive(age);
    });
    const watchdog = setTimeout(() => {
      // What came while this process was busy is looked at before the other end is given up.
      setImmediate(() => {
        if (watchdog === this.#watchdog) this.#judge(askedAt);
      });
    }, this.#timing.pingEvery);
    this.#watchdog = watchdog;
  }

  #judge(askedAt: number): void {
    if (this.#heardAt >= askedAt) {
      this.#ping();
      return;
    }
    this.#why = `no sign of life for ${formatDuration(performance.now() - this.#heardAt)}`;
    this.#session.destroy(new Error(this.#why));
  }

  /** The window of the whole connection. Bun's would hang once it is set. */
  #widen(): void {
    if (process.versions.bun === undefined) this.#session.setLocalWindowSize(windowBytes);
  }
}

function flatHeaders(headers: http2.IncomingHttpHeaders): ResponseHeaders {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (name.startsWith(':') || value === undefined) continue;
    flat[name] = Array.isArray(value) ? value.join(', ') : String(value);
  }
  return flat;
}
