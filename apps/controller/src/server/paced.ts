import { Duplex } from 'node:stream';
import type { Connection } from './connections.ts';

const lineFeed = 10;
const carriageReturn = 13;

const nothing = Buffer.alloc(0);

/** Bytes that a client may send at each step. */
export const pacedLimits = {
  /** Of one head with its empty lines. Node bounds the names and values in it: 16 KiB. */
  headBytesMax: 24 * 1024,
  /** Empty lines before a request: RFC 9112 lets a client send one. */
  emptyLinesMax: 4,
  /** While a request is answered. */
  heldBytesMax: 16 * 1024,
  /** After the last answer. Further bytes are read, because a reset would overtake the answer. */
  lateBytesMax: 256 * 1024,
  /** Pieces, from one answer to the next: with TLS each byte may be one, at 10 us of our time. */
  piecesMax: 256,
} as const;
const { headBytesMax, emptyLinesMax, heldBytesMax, lateBytesMax, piecesMax } = pacedLimits;

/**
 * A connection as the HTTP server sees it: the head of one request, and nothing more before that one
 * is answered. Node reads hundreds of requests at once where they come in one packet, and each takes
 * memory and time of the one thread there is. A client that sends more than each step allows is
 * hung up on at once.
 */
export class Paced extends Duplex {
  readonly connection: Connection;
  /** With TLS, the end of that. */
  readonly source: Duplex;
  readonly #onExcess: () => void;
  /** Came after the head that is being answered. */
  #held: Buffer = nothing;
  #isOpen = true;
  /** Bytes that came after the last answer; null before it. */
  #late: number | null = null;
  /** Since the last answer: how many pieces have come, how many bytes of a head went through, ... */
  #pieces = 0;
  #headLength = 0;
  /** ... how many lines before the first one with something in it; null: that has gone through, ... */
  #emptyLines: number | null = 0;
  /** ... and whether more than returns has come of the line that is not at its end. */
  #hasText = false;

  /** `onExcess` hangs up on a client that sends too much. */
  constructor(connection: Connection, source: Duplex, onExcess: () => void) {
    super({ allowHalfOpen: false });
    this.connection = connection;
    this.source = source;
    this.#onExcess = onExcess;
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.once('end', () => this.push(null));
    source.on('error', (error) => this.destroy(error));
    source.once('close', () => this.destroy());
  }

  /** The request is answered: what came after it may come through. */
  proceed(): void {
    this.#isOpen = true;
    this.#pieces = 0;
    this.#headLength = 0;
    this.#emptyLines = 0;
    const held = this.#held;
    this.#held = nothing;
    if (held.length > 0) this.#take(held);
  }

  /** After the last request, a little of the remaining input is read and ignored. */
  finish(): void {
    this.#held = nothing;
    this.#late = 0;
  }

  override _read(): void {
    // The parser takes all at once, so there is nothing to wait for.
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.source.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.source.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.source.destroy();
    done(error);
  }

  #take(chunk: Buffer): void {
    if (this.destroyed) return;
    this.#pieces += 1;
    const end = this.#late === null && this.#isOpen ? this.#endOfHead(chunk) : 0;
    if (end === null || this.#pieces > piecesMax || !this.#keep(chunk.subarray(end))) {
      this.#held = nothing;
      this.#onExcess();
      this.destroy();
    } else if (end > 0) this.push(chunk.subarray(0, end));
  }

  /** Keeps bytes that came too early; false: that is too much. */
  #keep(early: Buffer): boolean {
    if (this.#late !== null) {
      this.#late += early.length;
      return this.#late <= lateBytesMax;
    }
    const isLittle = this.#held.length + early.length <= heldBytesMax;
    // A copy: a part of a chunk would keep all of it.
    if (isLittle && early.length > 0) this.#held = Buffer.concat([this.#held, early]);
    return isLittle;
  }

  /**
   * Where the first head ends in what comes next, which closes the way; else its length. Null: that is
   * too long.
   */
  #endOfHead(chunk: Buffer): number | null {
    const room = headBytesMax - this.#headLength;
    let start = 0;
    while (start < room) {
      const at = chunk.indexOf(lineFeed, start);
      if (at < 0) break;
      const hasText = this.#hasText || hasTextIn(chunk, start, at);
      this.#hasText = false;
      start = at + 1;
      if (hasText) this.#emptyLines = null;
      else if (this.#emptyLines === null) {
        this.#isOpen = false;
        return start > room ? null : start;
      } else {
        this.#emptyLines += 1;
        if (this.#emptyLines > emptyLinesMax) return null;
      }
    }
    this.#hasText ||= hasTextIn(chunk, start, chunk.length);
    this.#headLength += chunk.length;
    return chunk.length > room ? null : chunk.length;
  }
}

/** A line of returns alone is as empty as one with nothing in it. */
function hasTextIn(chunk: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (chunk[at] !== carriageReturn) return true;
  return false;
}
