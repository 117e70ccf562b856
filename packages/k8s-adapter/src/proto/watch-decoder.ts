import type { ResponseHeaders } from './answer.ts';
import { LineSplitter } from './lines.ts';
import { isProtobuf, joinBytes, watchEventFromProtobuf } from './protobuf.ts';
import { readWatchEvent, type WatchEvent, watchEventOf } from './watch-event.ts';

/** Turns the bytes of a watch into its events, wherever the chunks are cut. */
export interface WatchDecoder {
  /** The events that are complete with this chunk; after a `junk` the stream is of no more use. */
  push(chunk: Uint8Array | string): readonly WatchEvent[];
  /** Whether the stream stands in the middle of an event. */
  readonly unfinished: boolean;
}

/** Watches in JSON: one event on each line. */
export class JsonWatchDecoder implements WatchDecoder {
  readonly #lines = new LineSplitter();

  push(chunk: Uint8Array | string): readonly WatchEvent[] {
    const { lines, tooLong } = this.#lines.push(chunk);
    const events = lines.map(readWatchEvent);
    return tooLong ? [...events, { kind: 'junk', what: 'an endless line' }] : events;
  }

  get unfinished(): boolean {
    return this.#lines.rest !== '';
  }
}

/** Bytes of one event. The API server itself refuses objects beyond 3 MiB. */
const frameBytesMax = 16 * 1024 * 1024;
const lengthBytes = 4;

/** Watches in protobuf: each event after its length in four bytes. */
export class ProtobufWatchDecoder implements WatchDecoder {
  /** What came of an event that is not complete. */
  #parts: Uint8Array[] = [];
  #length = 0;
  /** How much there must be before anything can be read. */
  #wanted = lengthBytes;

  push(chunk: Uint8Array | string): readonly WatchEvent[] {
    const part = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length < this.#wanted) return [];
    return this.#read(joinBytes(this.#parts));
  }

  get unfinished(): boolean {
    return this.#length > 0;
  }

  #read(bytes: Uint8Array): readonly WatchEvent[] {
    const events: WatchEvent[] = [];
    let at = 0;
    let size = sizeOfFrame(bytes, at);
    while (at + size <= bytes.length) {
      events.push(eventOf(bytes.subarray(at + lengthBytes, at + size)));
      at += size;
      size = sizeOfFrame(bytes, at);
    }
    // A copy, so that the whole chunk does not stay for the sake of a few bytes.
    this.#parts = [bytes.slice(at)];
    this.#length = bytes.length - at;
    this.#wanted = size;
    return size > frameBytesMax ? [...events, { kind: 'junk', what: 'an endless event' }] : events;
  }
}

/** With its length; where that has not come yet, the bytes that it takes. */
function sizeOfFrame(bytes: Uint8Array, at: number): number {
  if (bytes.length < at + lengthBytes) return lengthBytes;
  const { buffer, byteOffset } = bytes;
  return lengthBytes + new DataView(buffer, byteOffset + at).getUint32(0);
}

/** The decoder for what the server sends, by its own word. */
export function watchDecoderFor(headers: ResponseHeaders): WatchDecoder {
  return isProtobuf(headers) ? new ProtobufWatchDecoder() : new JsonWatchDecoder();
}

function eventOf(frame: Uint8Array): WatchEvent {
  const event = watchEventFromProtobuf(frame);
  return watchEventOf(event?.type, event?.object);
}
