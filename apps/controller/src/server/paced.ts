import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Connection } from './connections.ts';

const lineFeed = 10;
const carriageReturn = 13;

/**
 * A connection as the HTTP server sees it: the head of one request, and nothing more before that one
 * is answered. Node reads hundreds of requests at once where they come in one packet, and each takes
 * memory and time of the one thread there is.
 */
export class Paced extends Duplex {
  readonly connection: Connection;
  /** With TLS, the end of that. */
  readonly source: Socket;
  /** Came after the head that is being answered. */
  #held: Buffer | null = null;
  #isOpen = true;
  #isOver = false;
  /** Since the last answer: whether a line with something in it has gone through... */
  #hasBegun = false;
  /** ...and how much has come of the line that is not at its end. */
  #lineLength = 0;

  constructor(connection: Connection, source: Socket) {
    super({ allowHalfOpen: false });
    this.connection = connection;
    this.source = source;
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.once('end', () => this.push(null));
    source.on('error', (error) => this.destroy(error));
    source.once('close', () => this.destroy());
  }

  /** The request is answered: what came after it may come through. */
  proceed(): void {
    this.#isOpen = true;
    this.#hasBegun = false;
    const held = this.#held;
    this.#held = null;
    if (held) this.#take(held);
    if (this.#isOpen) this.source.resume();
  }

  /** That was the last request: what still comes is read to its end, and nobody looks at it. */
  finish(): void {
    this.#isOver = true;
    this.#held = null;
    this.source.resume();
  }

  override _read(): void {
    if (this.#isOpen) this.source.resume();
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
    if (this.#isOver) return;
    if (!this.#isOpen) {
      this.#held = this.#held ? Buffer.concat([this.#held, chunk]) : chunk;
      return;
    }
    const end = this.#endOfHead(chunk);
    if (end < chunk.length) this.#held = chunk.subarray(end);
    if (!this.push(chunk.subarray(0, end)) || !this.#isOpen) this.source.pause();
  }

  /** Where the first head ends in what comes next, which closes the way; else its length. */
  #endOfHead(chunk: Buffer): number {
    let start = 0;
    for (;;) {
      const at = chunk.indexOf(lineFeed, start);
      if (at < 0) {
        this.#lineLength += chunk.length - start;
        return chunk.length;
      }
      const isReturn = at > start && chunk[at - 1] === carriageReturn;
      const length = this.#lineLength + at - start - (isReturn ? 1 : 0);
      this.#lineLength = 0;
      start = at + 1;
      if (length > 0) this.#hasBegun = true;
      else if (this.#hasBegun) {
        this.#isOpen = false;
        return start;
      }
    }
  }
}
