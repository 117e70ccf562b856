import type { ResponseHeaders } from './answer.ts';
import { LineSplitter } from './lines.ts';
import { isProtobuf, joinBytes, objectFromProtobuf, watchEventFromProtobuf } from './protobuf.ts';
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
  #pending: Uint8Array = new Uint8Array();

  push(chunk: Uint8Array | string): readonly WatchEvent[] {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    this.#pending = joinBytes([this.#pending, bytes]);
    const events: WatchEvent[] = [];
    let at = 0;
    for (;;) {
      const end = this.#endOfFrame(at);
      if (end === null) break;
      if (end - at > frameBytesMax) return [...events, { kind: 'junk', what: 'an endless event' }];
      if (end > this.#pending.length) break;
      events.push(eventOf(this.#pending.subarray(at + lengthBytes, end)));
      at = end;
    }
    // A copy, so that the whole chunk does not stay for the sake of a few bytes.
    this.#pending = this.#pending.slice(at);
    return events;
  }

  get unfinished(): boolean {
    return this.#pending.length > 0;
  }

  #endOfFrame(at: number): number | null {
    if (this.#pending.length < at + lengthBytes) return null;
    const { buffer, byteOffset } = this.#pending;
    return at + lengthBytes + new DataView(buffer, byteOffset + at).getUint32(0);
  }
}

/** The decoder for what the server sends, by its own word. */
export function watchDecoderFor(headers: ResponseHeaders): WatchDecoder {
  return isProtobuf(headers) ? new ProtobufWatchDecoder() : new JsonWatchDecoder();
}

function eventOf(frame: Uint8Array): WatchEvent {
  const event = watchEventFromProtobuf(frame);
  return watchEventOf(event?.type, event && objectFromProtobuf(event.object));
}
