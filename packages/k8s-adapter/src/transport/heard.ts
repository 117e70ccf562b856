// Takes one piece of a connection's bytes and tells each of its answers once what the piece brings.
import type { Millis } from '@taintmgr/core/time';
import type { ResponseHeaders } from '../proto/answer.ts';
import { joinBytes, keepBytes } from '../proto/protobuf.ts';
import { isWatch } from '../proto/requests.ts';
import type { Call } from './call.ts';
import { monotonic } from './timers.ts';

interface Part {
  readonly call: Call;
  head: { readonly status: number; readonly headers: ResponseHeaders } | null;
  chunks: Uint8Array[];
  length: number;
  isOver: boolean;
  readonly isWatch: boolean;
  /** The amount of it that is delivered at a time. */
  pieceBytes: number;
}

/**
 * Answers to writes are small, and a part of one is of no use: this much of it waits for the rest.
 */
const heldBytesMax = 64 * 1024;
/** The size of the first piece of a watch, while more of it waits. */
const pieceBytesFirst = 8 * 1024;
const pieceBytesMin = 4 * 1024;
const pieceBytesMax = 64 * 1024;
/**
 * The time for all work of a piece. Beyond it the next piece is half as large, so that answers do
 * not wait long; below the half of it, twice as large. A kilobyte may be a pod that is nothing new,
 * or two nodes with sixty to evict.
 */
const pieceMsMax: Millis = 8;
/** While more waits, nothing more is read: a list of a million pods is not to wait in memory. */
const waitingBytesMax = 512 * 1024;

/**
 * Parts of answers, kept until deliver(). A watch under load, and nearly every answer to a write,
 * comes in several frames at once: the listener does its work once for all of them. An answer to a
 * write is delivered when it is complete. A taint on many nodes comes in one piece too, and the
 * work that it makes would keep answers waiting: the data of watches beyond a few kilobytes is
 * delivered bit by bit, with other inputs in between. So is an answer in many small parts, as API
 * servers write each event by itself: the system hands many of them on in one turn of the event
 * loop.
 */
export class Heard {
  /** In the order in which the first part of each came. */
  readonly #parts = new Map<Call, Part>();
  readonly #clock: () => Millis;

  /** `clock` cannot be set. */
  constructor(clock: () => Millis = monotonic) {
    this.#clock = clock;
  }

  head(call: Call, status: number, headers: ResponseHeaders): void {
    this.#partOf(call).head = { status, headers };
  }

  data(call: Call, chunk: Uint8Array): void {
    const part = this.#partOf(call);
    keepBytes(part.chunks, chunk);
    part.length += chunk.length;
  }

  end(call: Call): void {
    this.#partOf(call).isOver = true;
  }

  /** True if this much of watches waits for delivery, so that no more is read before. */
  get isFull(): boolean {
    let bytes = 0;
    for (const part of this.#parts.values()) if (part.isWatch) bytes += part.length;
    return bytes > waitingBytesMax;
  }

  /** No caller waits for it any more. */
  forget(call: Call): void {
    this.#parts.delete(call);
  }

  /**
   * Delivers the received data, of long parts of watches a piece; true when more follows soon. No
   * data of watches is delivered with `isTurnTaken`: a piece was, a moment ago.
   */
  deliverSome(isTurnTaken: boolean): boolean {
    let isMore = false;
    for (const part of this.#parts.values()) {
      const isLong = part.isWatch && part.length > part.pieceBytes;
      const isHeld = part.isWatch && isTurnTaken;
      if (isLong && !isHeld) this.#deliverPiece(part);
      else if (!isHeld) this.#deliver(part);
      isMore ||= isLong || isHeld;
    }
    return isMore;
  }

  /** Gives on what has come; with `isLast` also what would wait for more. */
  deliver(isLast = false): void {
    for (const part of this.#parts.values()) this.#deliver(part, isLast);
  }

  #deliver(part: Part, isLast = false): void {
    if (!isLast && waitsForMore(part)) return;
    const { call, head, chunks, isOver } = part;
    this.#parts.delete(call);
    if (head && isOver) call.answer(head.status, head.headers, joinBytes(chunks));
    else {
      if (head) call.head(head.status, head.headers);
      if (chunks.length > 1 && !part.isWatch && call.request.method === 'GET') {
        for (const chunk of chunks) call.data(chunk);
      } else if (chunks.length > 0) call.data(joinBytes(chunks));
      if (isOver) call.end();
    }
  }

  #deliverPiece(part: Part): void {
    const { call, head, pieceBytes } = part;
    part.head = null;
    const piece = takePiece(part, pieceBytes);
    const start = this.#clock();
    if (head) call.head(head.status, head.headers);
    call.data(piece);
    const took = this.#clock() - start;
    if (took > pieceMsMax) part.pieceBytes = Math.max(pieceBytes / 2, pieceBytesMin);
    else if (took < pieceMsMax / 2) part.pieceBytes = Math.min(2 * pieceBytes, pieceBytesMax);
  }

  #partOf(call: Call): Part {
    const known = this.#parts.get(call);
    if (known) return known;
    const part: Part = {
      call,
      head: null,
      chunks: [],
      length: 0,
      isOver: false,
      isWatch: isWatch(call.request),
      pieceBytes: pieceBytesFirst,
    };
    this.#parts.set(call, part);
    return part;
  }
}

/** The first bytes of what has come, which leave it; there are more. */
function takePiece(part: Part, bytes: number): Uint8Array {
  const { chunks } = part;
  let [count, taken] = [0, 0];
  while (taken < bytes) taken += chunks[count++]?.length ?? 0;
  const piece = joinBytes(chunks.splice(0, count));
  if (taken > bytes) chunks.unshift(piece.subarray(bytes));
  part.length -= bytes;
  return piece.subarray(0, bytes);
}

function waitsForMore({ call, head, length, isOver }: Part): boolean {
  return head !== null && !isOver && call.request.method !== 'GET' && length <= heldBytesMax;
}
