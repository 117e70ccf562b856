import type { OutgoingHttpHeaders } from 'node:http';
import type { Millis } from '@taintmgr/core/time';
import type { ResponseHeaders } from '../proto/answer.ts';
import type { ApiRequest } from '../proto/requests.ts';
import { giveAnswer, type Sink } from './sink.ts';

/**
 * A request as it goes out: with the server's base path and all its headers, in lower case, but for the
 * length of its body. Requests with the same headers have the same object of them.
 */
export interface OutgoingRequest {
  readonly method: ApiRequest['method'];
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | null;
}

/**
 * All that is certain about a request that got no answer:
 * - `unsent`: the server has not begun to work on it
 * - `stale`: it went into a connection that had been kept and turned out to be dead
 * - `unknown`: nothing
 */
export type Fate = 'unsent' | 'stale' | 'unknown';

/**
 * A request that a server has not begun costs it nothing; some refuse many requests at once, and some say
 * goodbye after few.
 */
const attemptsMax: Readonly<Record<Fate, number>> = { unsent: 10, stale: 3, unknown: 1 };

/** The way that calls go. */
export interface Carrier {
  /** Hands the call to a connection, perhaps once more. */
  carry(call: Call): void;
  /** The server did not accept the sender's identity, so that the next request logs in again. */
  rejected(): void;
}

const unauthorized = 401;

/**
 * A request until its end, and whether it may be repeated. Its carrier reports each input; after
 * hangUp, end or failed nothing more reaches the sink. Where that is safe, it is carried again.
 */
export class Call {
  readonly request: OutgoingRequest;
  readonly #sink: Sink;
  readonly #carrier: Carrier;
  #cancel: (() => void) | null = null;
  #attempts = 0;
  #answered = false;
  #open = true;

  constructor(request: OutgoingRequest, sink: Sink, carrier: Carrier) {
    this.request = request;
    this.#sink = sink;
    this.#carrier = carrier;
  }

  /** True if anybody still waits for the answer. */
  get open(): boolean {
    return this.#open;
  }

  start(): void {
    if (!this.#open) return;
    this.#attempts += 1;
    this.#cancel = null;
    this.#carrier.carry(this);
  }

  /** From now on hanging up means this. */
  carriedBy(cancel: () => void): void {
    this.#cancel = cancel;
  }

  hangUp(): void {
    this.#open = false;
    this.#cancel?.();
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#answered = true;
    if (!this.#open) return;
    if (status === unauthorized) this.#carrier.rejected();
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding === 'identity') this.#sink.head(status, headers);
    else {
      this.hangUp();
      this.#sink.failed(`the answer is encoded as ${encoding}, which was not requested`);
    }
  }

  data(chunk: Uint8Array): void {
    if (this.#open) this.#sink.data(chunk);
  }

  /** `head`, `data` and `end` in one. */
  answer(status: number, headers: ResponseHeaders, body: Uint8Array): void {
    const isWhole = this.#open && (headers['content-encoding'] ?? 'identity') === 'identity';
    if (isWhole) {
      this.#open = false;
      if (status === unauthorized) this.#carrier.rejected();
      giveAnswer(this.#sink, status, headers, body);
    } else this.head(status, headers);
  }

  /** Hears that something has come which the server sent `age` ago. */
  alive(age: Millis): void {
    if (this.#open && this.#answered) this.#sink.alive(age);
  }

  end(): void {
    if (this.#open) this.#sink.end();
    this.#open = false;
  }

  /** The request broke off; the message says why. */
  fail(message: string, fate: Fate): void {
    if (!this.#open) return;
    if (this.#mayRepeat(fate)) {
      this.start();
      return;
    }
    this.#open = false;
    this.#sink.failed(message);
  }

  /** A POST that was sent into a dead connection may nevertheless have been carried out. */
  #mayRepeat(fate: Fate): boolean {
    if (this.#answered || this.#attempts >= attemptsMax[fate]) return false;
    return fate !== 'stale' || this.request.method !== 'POST';
  }
}
