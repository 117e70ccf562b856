// What one piece of a connection's bytes brings of its answers, so that each is told once of it.
import type { ResponseHeaders } from '../proto/answer.ts';
import { joinBytes } from '../proto/protobuf.ts';
import type { Call } from './call.ts';

interface Part {
  head: { readonly status: number; readonly headers: ResponseHeaders } | null;
  readonly chunks: Uint8Array[];
  isOver: boolean;
}

/**
 * Parts of answers, kept until deliver(). A watch under load, and nearly every answer to a write, comes
 * in several frames at once: whoever listens does its work once for all of them.
 */
export class Heard {
  /** In the order in which the first part of each came. */
  readonly #parts = new Map<Call, Part>();

  head(call: Call, status: number, headers: ResponseHeaders): void {
    this.#partOf(call).head = { status, headers };
  }

  data(call: Call, chunk: Uint8Array): void {
    this.#partOf(call).chunks.push(chunk);
  }

  end(call: Call): void {
    this.#partOf(call).isOver = true;
  }

  /** Gives on what has come. */
  deliver(): void {
    if (this.#parts.size === 0) return;
    const parts = [...this.#parts];
    this.#parts.clear();
    for (const [call, { head, chunks, isOver }] of parts) {
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
    const part: Part = { head: null, chunks: [], isOver: false };
    this.#parts.set(call, part);
    return part;
  }
}
