// Cuts the chunks of a stream into lines, up to a limit.

/** What came out of a chunk: whole lines, and whether the line under way is past the limit. */
export interface SplitLines {
  readonly lines: readonly string[];
  readonly tooLong: boolean;
}

/** Characters of one line of a watch. The API server itself refuses objects beyond 3 MiB. */
const lineLengthMax = 16 * 1024 * 1024;

/**
 * Splits the bytes of a watch into its lines, wherever the chunks are cut: inside a line or inside
 * a character. Empty lines are dropped.
 */
export class LineSplitter {
  #pending = '';
  readonly #decoder = new TextDecoder();
  readonly #lengthMax: number;

  constructor(lengthMax: number = lineLengthMax) {
    this.#lengthMax = lengthMax;
  }

  /** Takes the next chunk. After `tooLong` the stream is of no more use. */
  push(chunk: Uint8Array | string): SplitLines {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true });
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = this.#pending + text.slice(start, end);
      if (line.length > this.#lengthMax) return { lines, tooLong: true };
      if (line.trim() !== '') lines.push(line);
      this.#pending = '';
      start = end + 1;
    }
    this.#pending += text.slice(start);
    return { lines, tooLong: this.#pending.length > this.#lengthMax };
  }

  /** What stands after the last line break: '' after a clean end. */
  get rest(): string {
    return this.#pending.trim();
  }
}
