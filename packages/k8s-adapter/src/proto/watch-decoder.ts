import type { ResponseHeaders } from './answer.ts';
import { LineSplitter } from './lines.ts';
import { isProtobuf, watchEventFromProtobuf } from './protobuf.ts';
import { type Kinds, protobufKinds } from './protobuf-schema.ts';
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
/** Most events fit in; room made for longer ones is given back. */
const roomBytes = 64 * 1024;

/** Watches in protobuf: each event after its length in four bytes. */
export class ProtobufWatchDecoder implements WatchDecoder {
  /** What came of an event that is not complete: its first `#length` bytes. */
  #room: Uint8Array = new Uint8Array(roomBytes);
  #length = 0;
  readonly #kinds: Kinds;

  /** `kinds`: what of each kind is read. */
  constructor(kinds: Kinds = protobufKinds) {
    this.#kinds = kinds;
  }

  push(chunk: Uint8Array | string): readonly WatchEvent[] {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
    const events: WatchEvent[] = [];
    let at = this.#complete(bytes, events);
    if (this.#length > 0) return events;
    let size = sizeOfFrame(bytes, at, bytes.length);
    while (size !== null && at + size <= bytes.length) {
      events.push(this.#eventOf(bytes.subarray(at + lengthBytes, at + size)));
      at += size;
      size = sizeOfFrame(bytes, at, bytes.length);
    }
    if (isEndless(size)) return [...events, endless];
    this.#keep(bytes.subarray(at));
    return events;
  }

  get unfinished(): boolean {
    return this.#length > 0;
  }

  /** Puts the event under way together, as far as it has come; how much of the chunk that takes. */
  #complete(bytes: Uint8Array, events: WatchEvent[]): number {
    let at = 0;
    while (this.#length > 0) {
      const size = sizeOfFrame(this.#room, 0, this.#length);
      const part = bytes.subarray(at, at + (size ?? lengthBytes) - this.#length);
      if (size === this.#length) {
        // Fields of the event are views of its bytes, and the next event is put together in this room.
        events.push(this.#eventOf(this.#room.slice(lengthBytes, size)));
        this.#length = 0;
        if (this.#room.length > roomBytes) this.#room = new Uint8Array(roomBytes);
      } else if (isEndless(size)) {
        events.push(endless);
        return at;
      } else if (part.length === 0) return at;
      else this.#keep(part);
      at += part.length;
    }
    return at;
  }

  #eventOf(frame: Uint8Array): WatchEvent {
    const event = watchEventFromProtobuf(frame, this.#kinds);
    return watchEventOf(event?.type, event?.object);
  }

  #keep(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#room.length) {
      const room = new Uint8Array(Math.max(length, 2 * this.#room.length));
      room.set(this.#room.subarray(0, this.#length));
      this.#room = room;
    }
    this.#room.set(part, this.#length);
    this.#length = length;
  }
}

const endless: WatchEvent = { kind: 'junk', what: 'an endless event' };

function isEndless(size: number | null): boolean {
  return size !== null && size > frameBytesMax;
}

/** Of the frame at this place, with its length; null: that has not come yet. */
function sizeOfFrame(bytes: Uint8Array, at: number, end: number): number | null {
  if (end < at + lengthBytes) return null;
  let length = 0;
  for (let next = at; next < at + lengthBytes; next++) length = 256 * length + (bytes[next] ?? 0);
  return lengthBytes + length;
}

/** The decoder for what the server sends, by its own word. */
export function watchDecoderFor(headers: ResponseHeaders, kinds?: Kinds): WatchDecoder {
  return isProtobuf(headers) ? new ProtobufWatchDecoder(kinds) : new JsonWatchDecoder();
}
