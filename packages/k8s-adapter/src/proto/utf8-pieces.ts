// Text in UTF-8 that comes in pieces, wherever they are cut.
import { joinBytes } from './protobuf.ts';

/**
 * Decodes pieces of a text. TextDecoder does it too, with `stream`: then Node takes the slow way, and
 * its texts are twice as long in memory.
 */
export class Utf8Pieces {
  /** It would leave out a mark of byte order at the beginning of each piece. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** The beginning of a character that has not come to its end. */
  #rest: Uint8Array = new Uint8Array();

  /** The characters that are complete with this piece. */
  push(piece: Uint8Array): string {
    const bytes = this.#rest.length === 0 ? piece : joinBytes([this.#rest, piece]);
    const end = completeLength(bytes);
    this.#rest = bytes.slice(end);
    return this.#decoder.decode(bytes.subarray(0, end));
  }

  /** What is left of a text that was cut off; '' as a rule. */
  end(): string {
    return this.#decoder.decode(this.#rest);
  }
}

/** So many bytes are there without a character that is cut off: its first byte says how many it has. */
function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const wanted = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return wanted > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
