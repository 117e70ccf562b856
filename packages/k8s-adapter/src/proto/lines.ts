// Cuts the chunks of a stream into lines, up to a limit.

import { joinBytes, keepBytes } from './protobuf.ts';

/** What came out of a chunk: whole lines, and whether the line under way is past the limit. */
export interface SplitLines {
  readonly lines: readonly string[];
  readonly tooLong: boolean;
}

/** Bytes of one line of a watch. The API server itself refuses objects beyond 3 MiB. */
const lineLengthMax = 16 * 1024 * 1024;

const lineEnd = 0x0a;
/** For whole lines: nothing is kept of one for the next. */
const decoder = new TextDecoder(undefined, { ignoreBOM: true });

/**
 * Splits the bytes of a watch into its lines, wherever the chunks are cut: inside a line or inside
 * a character. Empty lines are dropped.
 */
export class LineSplitter {
  /** What came of the line under way. */
  #pending: Uint8Array[] = [];
  #length = 0;
  readonly #lengthMax: number;

  constructor(lengthMax: number = lineLengthMax) {
    this.#lengthMax = lengthMax;
  }

  /** Takes the next chunk. After `tooLong` the stream is of no more use. */
  push(chunk: Uint8Array | string): SplitLines {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    const end = bytes.lastIndexOf(lineEnd);
    if (end < 0) {
      this.#keep(bytes);
      return { lines: [], tooLong: this.#length > this.#lengthMax };
    }
    const whole = joinBytes([...this.#pending, bytes.subarray(0, end)]);
    [this.#pending, this.#length] = [[], 0];
    const lines: string[] = [];
    for (const line of decoder.decode(whole).split('\n')) {
      if (line.length > this.#lengthMax) return { lines, tooLong: true };
      if (line.trim() !== '') lines.push(line);
    }
    this.#keep(bytes.subarray(end + 1));
    return { lines, tooLong: this.#length > this.#lengthMax };
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    keepBytes(this.#pending, bytes);
  }

  /** What stands after the last line break: '' after a clean end. */
  get rest(): string {
    return decoder.decode(joinBytes(this.#pending)).trim();
  }
}
