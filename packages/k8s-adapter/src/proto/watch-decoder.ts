import { type Failure, failureOfStatus, isProtobuf, type ResponseHeaders } from './answer.ts';
import { type Identity, identityOf } from './convert.ts';
import { asRecord, asText, isRecord, parseJson } from './json.ts';
import {
  joinBytes,
  type Kinds,
  keepBytes,
  protobufKinds,
  watchEventFromProtobuf,
} from './protobuf.ts';

/** Turns the bytes of a watch into its events, wherever the chunks are cut. */
export interface WatchDecoder {
  /** The events that are complete with this chunk; after a `junk` the stream is useless. */
  push(chunk: Uint8Array | string): readonly WatchEvent[];
  /** True if the stream stands in the middle of an event. */
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
  /** The beginning of an event that is not complete: its first `#length` bytes. */
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

/** The yield of a chunk: whole lines, and whether the line under way is past the limit. */
interface SplitLines {
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
  /** The pieces of the line under way. */
  #pending: Uint8Array[] = [];
  #length = 0;
  readonly #lengthMax: number;

  constructor(lengthMax: number = lineLengthMax) {
    this.#lengthMax = lengthMax;
  }

  /** Takes the next chunk. After `tooLong` the stream is useless. */
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

  /** The text after the last line break: '' after a clean end. */
  get rest(): string {
    return decoder.decode(joinBytes(this.#pending)).trim();
  }
}

/** An event of a watch, understood. */
export type WatchEvent =
  | { readonly kind: 'upsert'; readonly identity: Identity; readonly object: unknown }
  | { readonly kind: 'delete'; readonly identity: Identity }
  | {
      /** Nothing else changed up to this resourceVersion. */
      readonly kind: 'bookmark';
      readonly resourceVersion: string;
      /** Everything that existed when the watch began has been sent. */
      readonly endsList: boolean;
    }
  | { readonly kind: 'error'; readonly failure: Failure }
  /** Not a watch event at all, but `what`. */
  | { readonly kind: 'junk'; readonly what: string };

/** An event about one object. */
export type ObjectEvent = Extract<WatchEvent, { kind: 'upsert' | 'delete' }>;

/** An event about the collection. */
export type CollectionEvent = ObjectEvent | Extract<WatchEvent, { kind: 'bookmark' }>;

const junk: WatchEvent = { kind: 'junk', what: 'something that is not a watch event' };
const endOfList = 'k8s.io/initial-events-end';

/** Reads one line of a watch. Never throws. */
export function readWatchEvent(line: string): WatchEvent {
  return watchEventIn(parseJson(line));
}

/** Reads an event of a watch in JSON. Never throws. */
export function watchEventIn(value: unknown): WatchEvent {
  const { type, object } = asRecord(value);
  return watchEventOf(type, object);
}

/** Makes an event of its type and its object, as JSON has them. Never throws. */
function watchEventOf(type: unknown, object: unknown): WatchEvent {
  if (!isRecord(object)) return junk;
  if (type === 'ERROR') return { kind: 'error', failure: failureOfStatus(object, null) };
  if (type === 'BOOKMARK') {
    const metadata = asRecord(object.metadata);
    const resourceVersion = asText(metadata.resourceVersion);
    const endsList = asRecord(metadata.annotations)[endOfList] === 'true';
    return resourceVersion === '' ? junk : { kind: 'bookmark', resourceVersion, endsList };
  }
  const identity = identityOf(object);
  if (!identity || identity.resourceVersion === '') return junk;
  if (type === 'ADDED' || type === 'MODIFIED') return { kind: 'upsert', identity, object };
  return type === 'DELETED' ? { kind: 'delete', identity } : junk;
}

/**
 * Tells whether one resourceVersion comes before another of the same collection. Versions are
 * decimal numbers of any length; of others the order is unknown.
 */
export function isOlder(resourceVersion: string, than: string): boolean {
  const decimal = /^[1-9]\d*$/;
  if (!decimal.test(resourceVersion) || !decimal.test(than)) return false;
  const longer = resourceVersion.length - than.length;
  return longer === 0 ? resourceVersion < than : longer < 0;
}
