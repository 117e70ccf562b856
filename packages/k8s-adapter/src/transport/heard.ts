// What one piece of a connection's bytes brings of its answers, so that each is told once of it.
import type { ResponseHeaders } from '../proto/answer.ts';
import { joinBytes } from '../proto/protobuf.ts';
import type { Call } from './call.ts';

interface Part {
  head: { readonly status: number; readonly headers: ResponseHeaders } | null;
  readonly chunks: Uint8Array[];
  length: number;
  isOver: boolean;
}

/** Answers to writes are small, and nobody has use for a part of one: so much of it waits for the rest. */
const heldBytesMax = 64 * 1024;

/**
 * Parts of answers, kept until deliver(). A watch under load, and nearly every answer to a write, comes
 * in several frames at once: whoever listens does its work once for all of them. What answers a write
 * is told when it is complete.
 */
export class Heard {
  /** In the order in which the first part of each came. */
  readonly #parts = new Map<Call, Part>();

  head(call: Call, status: number, headers: ResponseHeaders): void {
    this.#partOf(call).head = { status, headers };
  }

  data(call: Call, chunk: Uint8Array): void {
    const part = this.#partOf(call);
    part.chunks.push(chunk);
    part.length += chunk.length;
  }

  end(call: Call): void {
    this.#partOf(call).isOver = true;
  }

  /** Nobody waits for it any more. */
  forget(call: Call): void {
    this.#parts.delete(call);
  }

  /** Gives on what has come; with `isLast` also what would wait for more. */
  deliver(isLast = false): void {
    for (const [call, part] of this.#parts) {
      if (!isLast && waitsForMore(call, part)) continue;
      this.#parts.delete(call);
      const { head, chunks, isOver } = part;
      if (head && isOver) call.answer(head.status, head.headers, joinBytes(chunks));
      else {
        if (head) call.head(head.status, head.headers);
        if (chunks.length > 0) call.data(joinBytes(chunks));
        if (isOver) call.end();
      }
    }
  }

  #partOf(call: Call): Part {
    const known = this.#parts.get(call);
    if (known) return known;
    const part: Part = { head: null, chunks: [], length: 0, isOver: false };
    this.#parts.set(call, part);
    return part;
  }
}

function waitsForMore({ request }: Call, { head, length, isOver }: Part): boolean {
  return head !== null && !isOver && request.method !== 'GET' && length <= heldBytesMax;
}
