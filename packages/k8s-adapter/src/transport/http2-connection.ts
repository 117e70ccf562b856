// An HTTP/2 connection: its socket, its signs of life and the calls that it carries.

import type { OutgoingHttpHeaders } from 'node:http';
import type net from 'node:net';
import { formatDuration, type Millis } from '@taintmgr/core/time';
import type { Call, OutgoingRequest } from './call.ts';
import { describeError } from './errors.ts';
import { Heard } from './heard.ts';
import { errorCodes, ProtocolError, type RequestHead } from './http2/frames.ts';
import type { Header } from './http2/hpack.ts';
import { Streams } from './http2/streams.ts';
import { monotonic } from './timers.ts';

/** The times by which a connection is watched over. */
export interface Http2Timing {
  /**
   * While it carries calls the other end is asked for a sign of life this often, and has this long
   * to give one.
   */
  readonly pingEvery: Millis;
  /** A connection that carries nothing is closed after this time. */
  readonly idle: Millis;
}

export const defaultHttp2Timing: Http2Timing = {
  pingEvery: 5000,
  /** Shorter than the 90 s after which the API server closes an idle connection. */
  idle: 60_000,
};

interface Http2ConnectionOptions {
  readonly timing: Http2Timing;
  /** Called when there is room for a call again, or this connection takes none any more. */
  readonly onChange: () => void;
  /** A clock that cannot be set. */
  readonly clock?: () => Millis;
}

interface Carried {
  /** The call was sent into a connection that had brought an answer. */
  readonly wasProven: boolean;
  /** When it did. */
  readonly at: Millis;
}

/** The number that the API server allows, unless it says otherwise. */
const streamsMax = 100;

/**
 * An HTTP/2 connection and the calls it carries, with pings and GOAWAY. While it carries any, it
 * sends a PING now and then. So a silently dead connection is found out in seconds, and a reader of
 * a silent watch knows that there is no news. When the server says GOAWAY it takes no new calls and
 * carries the others to their end.
 */
export class Http2Connection {
  readonly #streams: Streams<Call>;
  readonly #socket: net.Socket;
  readonly #timing: Http2Timing;
  readonly #headers: RequestHeaders;
  readonly #onChange: () => void;
  readonly #clock: () => Millis;
  /** True if it has ever brought an answer. */
  #proven = false;
  /** Each call under way. */
  readonly #calls = new Map<Call, Carried>();
  readonly #heard: Heard;
  readonly #readPause = new ReadPause();
  #resume: NodeJS.Timeout | null = null;
  readonly #life: SignsOfLife;
  #idle: NodeJS.Timeout | null = null;
  #draining = false;
  #isFlushing = false;
  /** Something of watches was told in this turn of the event loop. */
  #isTurnTaken = false;
  /** More of them waits. */
  #isMore = false;
  /** The amount at which nothing more is read. */
  #isFull = false;
  #why = 'the connection was closed';

  /** `authority`: host and port, as requests name them. */
  constructor(
    authority: string,
    socket: net.Socket,
    { timing, onChange, clock = monotonic }: Http2ConnectionOptions,
  ) {
    this.#clock = clock;
    this.#heard = new Heard(clock);
    this.#life = new SignsOfLife(timing.pingEvery, clock, {
      ask: () => this.#streams.ping(),
      gone: (forMs) => {
        this.#why = `no sign of life for ${formatDuration(forMs)}`;
        this.#socket.destroy(new Error(this.#why));
      },
    });
    this.#headers = new RequestHeaders(authority);
    this.#socket = socket;
    this.#timing = timing;
    this.#onChange = onChange;
    this.#streams = new Streams({
      head: (call, status, headers) => {
        this.#proven = true;
        this.#heard.head(call, status, headers);
      },
      data: (call, chunk) => this.#heard.data(call, chunk),
      end: (call) => {
        this.#heard.end(call);
        this.#end(call);
      },
      failed: (call, message, isUnsent) => {
        this.#heard.deliver(true);
        this.#end(call);
        call.fail(message, isUnsent ? 'unsent' : 'unknown');
      },
      output: () => this.#flushSoon(),
      noMore: () => this.#drain(),
      pong: () => this.#pong(),
      settings: () => this.#onChange(),
    });
    socket.on('error', (error) => {
      this.#why = describeError(error);
    });
    socket.once('close', () => this.#closed());
    socket.on('data', (chunk: Uint8Array) => this.#receive(chunk));
    this.#flushSoon();
    this.#rest();
  }

  /** True if it takes another call. */
  get hasRoom(): boolean {
    const allowed = Math.min(this.#streams.streamsMax, streamsMax);
    return !this.#draining && !this.#socket.destroyed && this.#calls.size < allowed;
  }

  /** True if the server is yet to say how many calls it takes. */
  get isNew(): boolean {
    return !this.#draining && !this.#streams.hasSettings;
  }

  /** True if it will never take another call. */
  get isOver(): boolean {
    return this.#draining;
  }

  /** Begins a call; there must be room. */
  carry(call: Call): void {
    const { body } = call.request;
    this.#begin(call);
    const bytes = body === null ? null : Buffer.from(body);
    const id = this.#streams.request(this.#headers.of(call.request, bytes), bytes, call);
    call.carriedBy(() => {
      this.#heard.forget(call);
      this.#streams.cancel(id);
      this.#end(call);
    });
  }

  /** Takes no new calls; those under way end. */
  retire(): void {
    this.#drain();
    if (this.#calls.size === 0) this.#bye();
  }

  /** Ends everything at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Uint8Array): void {
    this.#life.heard();
    try {
      this.#streams.receive(chunk);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#why = `the server does not keep to HTTP/2: ${error.message}`;
      this.#streams.goAway(errorCodes.protocol);
      this.#flush();
      this.#socket.destroy();
    }
    this.#deliver();
  }

  /**
   * Data of watches is delivered once in a turn of the event loop; answers are delivered as they
   * come.
   */
  #deliver(): void {
    this.#isMore = this.#heard.deliverSome(this.#isTurnTaken);
    this.#holdBack();
    if (this.#isTurnTaken) return;
    this.#isTurnTaken = true;
    setImmediate(() => {
      this.#isTurnTaken = false;
      if (!this.#isMore) {
        this.#pauseReading();
        return;
      }
      // Requests that follow from the answers of this turn need not wait for those that follow from
      // more of a watch.
      this.#flush();
      this.#deliver();
    });
  }

  /** A server that sends faster than events are taken in waits, and everybody else has his turn. */
  #holdBack(): void {
    const { isFull } = this.#heard;
    // Data that we do not read is no silence of the server.
    if (isFull || this.#isFull) this.#life.heard();
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    if (isFull) this.#socket.pause();
    else if (!this.#resume) this.#socket.resume();
  }

  #pauseReading(): void {
    if (this.#resume) return;
    const pause = this.#readPause.next(this.#clock());
    if (pause === 0) return;
    this.#socket.pause();
    this.#resume = setTimeout(() => {
      this.#resume = null;
      if (!this.#isFull) this.#socket.resume();
    }, pause);
  }

  /**
   * Everything written in one turn of the event loop is sent together: a write costs more than its
   * bytes, and the loop makes new requests when it has taken in all answers.
   */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    const bytes = this.#streams.takeOutput();
    if (bytes && this.#socket.writable) this.#socket.write(bytes);
  }

  #closed(): void {
    this.#drain();
    this.#heard.deliver(true);
    for (const [call, { wasProven }] of [...this.#calls]) {
      this.#end(call);
      call.fail(this.#why, wasProven ? 'stale' : 'unknown');
    }
    this.#life.end();
    if (this.#resume) clearTimeout(this.#resume);
  }

  #bye(): void {
    this.#streams.goAway();
    this.#flush();
    this.#socket.end();
  }

  #begin(call: Call): void {
    this.#calls.set(call, { wasProven: this.#proven, at: this.#clock() });
    if (isWrite(call)) this.#readPause.begun();
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = null;
    if (this.#calls.size > 1) return;
    this.#socket.ref();
    this.#life.begin();
  }

  #end(call: Call): void {
    const carried = this.#calls.get(call);
    if (!carried) return;
    this.#calls.delete(call);
    if (isWrite(call)) this.#readPause.ended(this.#clock() - carried.at);
    if (this.#calls.size === 0) this.#rest();
    this.#onChange();
  }

  /** Carries nothing: it does not keep the process alive, and not itself for long. */
  #rest(): void {
    this.#life.end();
    if (this.#socket.destroyed) return;
    if (this.#draining) this.#bye();
    this.#socket.unref();
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#close(), this.#timing.idle);
    this.#idle.unref();
  }

  /** The connection was unused for long enough, or the server did not say goodbye for as long. */
  #close(): void {
    if (this.#draining) this.#socket.destroy();
    else this.retire();
  }

  #drain(): void {
    if (this.#idle) clearTimeout(this.#idle);
    this.#draining = true;
    this.#onChange();
  }

  #pong(): void {
    this.#heard.deliver();
    const age = this.#life.answered();
    for (const call of this.#calls.keys()) call.alive(age);
  }
}

/** Writes take their time alike; a list may take a hundred times as long, and a watch has no end. */
function isWrite({ request }: Call): boolean {
  return request.method !== 'GET';
}

/** The steps that a connection takes about it. */
interface LifeHandlers {
  /** Asks the other end for a sign of life. */
  readonly ask: () => void;
  /** The other end is gone: nothing came since it was asked, and nothing for this time. */
  readonly gone: (forMs: Millis) => void;
}

/**
 * Asks the other end of a connection for a sign of life now and then, and reports when there is
 * none within the time until the next question. Whatever comes is a sign.
 */
class SignsOfLife {
  readonly #every: Millis;
  readonly #clock: () => Millis;
  readonly #handlers: LifeHandlers;
  #heardAt: Millis;
  /** When each question went out that is not answered. */
  readonly #asked: Millis[] = [];
  #timer: NodeJS.Timeout | null = null;

  /** Asks each `every` milliseconds between begin and end. */
  constructor(every: Millis, clock: () => Millis, handlers: LifeHandlers) {
    this.#every = every;
    this.#clock = clock;
    this.#handlers = handlers;
    this.#heardAt = clock();
  }

  begin(): void {
    this.#timer = setTimeout(() => this.#ask(), this.#every);
  }

  end(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Something came. */
  heard(): void {
    this.#heardAt = this.#clock();
  }

  /** The oldest question was answered: how long ago it was asked. */
  answered(): Millis {
    return this.#clock() - (this.#asked.shift() ?? this.#heardAt);
  }

  #ask(): void {
    const askedAt = this.#clock();
    this.#asked.push(askedAt);
    this.#handlers.ask();
    const timer = setTimeout(() => {
      // Data that came while this process was busy is looked at before the other end is given up.
      setImmediate(() => {
        if (timer === this.#timer) this.#judge(askedAt);
      });
    }, this.#every);
    this.#timer = timer;
  }

  #judge(askedAt: Millis): void {
    if (this.#heardAt >= askedAt) this.#ask();
    else this.#handlers.gone(this.#clock() - this.#heardAt);
  }
}

/** Where fewer answers are owed, each is the whole wait of a caller. */
const owedMin = 8;
/** The number of reads in the time that an answer takes. */
const readsPerAnswer = 3;
/** A shorter pause brings too little together. */
const pauseMin: Millis = 3;
const pauseMax: Millis = 25;
/** The weight of the newest answer in the time that answers take. */
const newestShare = 0.05;

/**
 * A busy API server writes each answer and each event of a watch by itself. Each of them wakes this
 * process, which finds its caches filled by others: at hundreds a second that is a good part of
 * their cost. So while many answers to writes are owed, reading waits a little, and several are
 * taken in together, as network cards do it with their interrupts. The connection is read three
 * times in the time that an answer takes, which so takes a sixth longer.
 */
export class ReadPause {
  /** The time that answers take, lately. */
  #answerMs: Millis = 0;
  #owed = 0;
  #readsAt: Millis = 0;

  /** A write goes out. */
  begun(): void {
    this.#owed += 1;
  }

  /** The call was answered after this time, or ended in another way. */
  ended(took: Millis): void {
    this.#owed -= 1;
    this.#answerMs += newestShare * (took - this.#answerMs);
  }

  /** The time to wait, when all input is taken in; 0: no wait. */
  next(now: Millis): Millis {
    const worked = now - this.#readsAt;
    const rest = Math.min(this.#answerMs / readsPerAnswer - worked, pauseMax);
    const pause = this.#owed < owedMin || rest < pauseMin ? 0 : rest;
    this.#readsAt = now + pause;
    return pause;
  }
}

type Method = OutgoingRequest['method'];

/** The headers of requests to one server. */
export class RequestHeaders {
  readonly #authority: string;
  /** The fields that requests have in common, by their headers and then by what they do. */
  readonly #shared = new WeakMap<OutgoingHttpHeaders, Partial<Record<Method, readonly Header[]>>>();

  /** `authority`: host and port, as requests name them. */
  constructor(authority: string) {
    this.#authority = authority;
  }

  /** The headers of one request with this body. */
  of({ method, path, headers }: OutgoingRequest, body: Uint8Array | null): RequestHead {
    return { path, shared: this.#sharedOf(method, headers), bodyBytes: body?.length ?? null };
  }

  #sharedOf(method: Method, headers: OutgoingHttpHeaders): readonly Header[] {
    const byMethod = this.#shared.get(headers) ?? {};
    const known = byMethod[method];
    if (known) return known;
    const what: readonly Header[] = [
      [':method', method],
      [':scheme', 'https'],
      [':authority', this.#authority],
    ];
    const shared = [...what, ...flatHeaders(headers)];
    this.#shared.set(headers, { ...byMethod, [method]: shared });
    return shared;
  }
}

/** A header has one value, or several, each of them a header. */
function flatHeaders(headers: OutgoingHttpHeaders): readonly Header[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one): readonly Header[] => {
      return one === undefined ? [] : [[name, String(one)]];
    }),
  );
}
