// The frames of HTTP/2 (RFC 9113): cut out of the input, written into the output.
import { ByteWriter, type Header, HeaderEncoder } from './hpack.ts';

export const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** The flags that a frame may have set; the first means two things. */
export const flags = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const;

export const errorCodes = {
  none: 0,
  protocol: 1,
  flowControl: 3,
  refused: 7,
  cancel: 8,
} as const;

const errorNames = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT'],
  ...['STREAM_CLOSED', 'FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR'],
  ...['CONNECT_ERROR', 'ENHANCE_YOUR_CALM', 'INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
];

/** The name of an error at the other end. */
export function errorName(code: number): string {
  return errorNames[code] ?? `error ${code}`;
}

/** A frame; its bytes may be part of more. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  /** 0: the connection. */
  readonly stream: number;
  readonly payload: Uint8Array;
}

/** The other end violates the protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const headBytes = 9;
/** Unless the other end allows more; we do not. */
const payloadBytesMax = 16_384;

/** The part of a longer frame of data that has come is given on; shorter ones are waited for. */
const wholeBytesMax = 1024;

/**
 * Cuts frames out of chunks, wherever these end. Of data, which chunks seldom end with, each part
 * is a separate frame: to wait for the rest would copy it.
 */
export class FrameReader {
  /** The beginning of an unfinished frame. */
  #rest: Uint8Array = new Uint8Array();
  /** The frame of data of which a part was given on, and how much of it is still to come. */
  #open: { readonly frame: Frame; missing: number } | null = null;

  /** The frames, and parts of data, that this chunk completes. Throws ProtocolError. */
  push(chunk: Uint8Array): readonly Frame[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    let at = this.#goOn(bytes, frames);
    while (bytes.length - at >= headBytes) {
      const length = numberAt(bytes, at, 3);
      if (length > payloadBytesMax) throw new ProtocolError(`a frame of ${length} bytes`);
      const end = at + headBytes + length;
      const frame = {
        type: bytes[at + 3] ?? 0,
        flags: bytes[at + 4] ?? 0,
        stream: streamAt(bytes, at + 5),
        payload: bytes.subarray(at + headBytes, end),
      };
      if (end > bytes.length) {
        if (!isInParts(frame, length)) break;
        this.#open = { frame, missing: end - bytes.length };
        frames.push({ ...frame, flags: 0 });
      } else frames.push(frame);
      at = Math.min(end, bytes.length);
    }
    this.#rest = bytes.subarray(at);
    return frames;
  }

  /** Takes the next part of the frame that is under way; returns the begin of the following one. */
  #goOn(bytes: Uint8Array, frames: Frame[]): number {
    const open = this.#open;
    if (!open) return 0;
    const payload = bytes.subarray(0, open.missing);
    open.missing -= payload.length;
    // A flag that ends something is set on the last part only.
    const isLast = open.missing === 0;
    if (isLast) this.#open = null;
    frames.push({ ...open.frame, flags: isLast ? open.frame.flags : 0, payload });
    return payload.length;
  }
}

/** Padding is counted at the beginning and stands at the end. */
function isInParts(frame: Frame, length: number): boolean {
  return frame.type === frameTypes.data && length > wholeBytesMax && !has(frame, flags.padded);
}

/** The number in these bytes, the highest first. */
export function numberAt(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = at; index < at + length; index++) value = value * 256 + (bytes[index] ?? 0);
  return value;
}

/** A number of 31 bits; what stands before it means nothing. */
export function streamAt(bytes: Uint8Array, at: number): number {
  return numberAt(bytes, at, 4) % 2 ** 31;
}

/** Tells whether the frame has this set. */
export function has(frame: Pick<Frame, 'flags'>, flag: number): boolean {
  return (frame.flags & flag) !== 0;
}

/** Tells whether it has neither the head of an answer, as a rule in one frame, nor a part of one, nor its end. */
export function isEmpty(frame: Frame): boolean {
  if (frame.type === frameTypes.headers) return false;
  if (frame.type !== frameTypes.data) return true;
  return frame.payload.length === 0 && !has(frame, flags.endStream);
}

/** The content of a frame beside padding and priority. */
export function contentOf(frame: Frame): Uint8Array {
  const { payload } = frame;
  const padding = has(frame, flags.padded) ? (payload[0] ?? 0) : 0;
  const isHead = frame.type === frameTypes.headers;
  const from = (has(frame, flags.padded) ? 1 : 0) + (isHead && has(frame, flags.priority) ? 5 : 0);
  if (from + padding > payload.length) throw new ProtocolError('more padding than there is frame');
  return payload.subarray(from, payload.length - padding);
}

/** Begins a frame; this number of bytes has to follow. */
export function writeFrame(
  out: ByteWriter,
  {
    type,
    length,
    stream,
    flags: set = 0,
  }: Omit<Frame, 'payload' | 'flags'> & {
    readonly length: number;
    readonly flags?: number;
  },
): void {
  out.number(length, 3);
  out.byte(type);
  out.byte(set);
  out.number(stream, 4);
}

export const settingIds = {
  headerTableSize: 1,
  enablePush: 2,
  streams: 3,
  initialWindow: 4,
  frameSize: 5,
  headerListSize: 6,
} as const;

export const windowMax: number = 2 ** 31 - 1;
/** The length of a frame has 24 bits. */
const frameBytesMax = 2 ** 24 - 1;
const settingBytes = 6;

/** The settings of a server, in its order; unknown ones mean nothing. Throws ProtocolError. */
export function settingsIn(payload: Uint8Array): readonly (readonly [id: number, value: number])[] {
  const set: [id: number, value: number][] = [];
  for (let at = 0; at + settingBytes <= payload.length; at += settingBytes) {
    const [id, value] = [numberAt(payload, at, 2), numberAt(payload, at + 2, 4)];
    if (id === settingIds.initialWindow && value > windowMax) {
      throw new ProtocolError('a window without bounds');
    }
    if (id === settingIds.frameSize && (value < payloadBytesMax || value > frameBytesMax)) {
      throw new ProtocolError(`frames of ${value} bytes`);
    }
    set.push([id, value]);
  }
  return set;
}

/** The headers of a request. */
export interface RequestHead {
  readonly path: string;
  /** The headers that others have too, as the same list; the kind of the request comes first. */
  readonly shared: readonly Header[];
  /** Null: it has no body. */
  readonly bodyBytes: number | null;
}

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Gathers all data for one connection. */
export class FrameWriter {
  /** The server takes no longer ones. */
  payloadBytesMax: number = payloadBytesMax;
  readonly encoder: HeaderEncoder = new HeaderEncoder();
  readonly #out = new ByteWriter();
  /** The headers of one request, before it is known how long they are. */
  readonly #block = new ByteWriter();

  get isEmpty(): boolean {
    return this.#out.length === 0;
  }

  /** The bytes written since the last call; null: nothing. */
  take(): Uint8Array | null {
    if (this.isEmpty) return null;
    const bytes = Buffer.from(this.#out.bytes);
    this.#out.clear();
    return bytes;
  }

  /** The beginning of a connection, with the settings that are not as usual. */
  begin(settings: readonly (readonly [setting: number, value: number])[]): void {
    this.#out.latin1(preface);
    this.#frame(frameTypes.settings, 6 * settings.length, 0);
    for (const [setting, value] of settings) {
      this.#out.number(setting, 2);
      this.#out.number(value, 4);
    }
  }

  /** The head of a request, in as many frames as it takes. */
  headers(stream: number, { path, shared, bodyBytes }: RequestHead, endsStream: boolean): void {
    const block = this.#block;
    block.clear();
    this.encoder.begin(block);
    // A value that differs each time is not kept for the next one.
    this.encoder.own(block, ':path', path);
    this.encoder.all(block, shared);
    if (bodyBytes !== null) this.encoder.own(block, 'content-length', String(bodyBytes));
    const { bytes } = block;
    let at = 0;
    while (at < bytes.length) {
      const part = bytes.subarray(at, at + this.payloadBytesMax);
      const isLast = at + part.length === bytes.length;
      const end = (isLast ? flags.endHeaders : 0) + (at === 0 && endsStream ? flags.endStream : 0);
      const type = at === 0 ? frameTypes.headers : frameTypes.continuation;
      this.#frame(type, part.length, stream, end);
      this.#out.append(part);
      at += part.length;
    }
  }

  /** A part of a body, no longer than one frame may be. */
  data(stream: number, part: Uint8Array, isLast: boolean): void {
    this.#frame(frameTypes.data, part.length, stream, isLast ? flags.endStream : 0);
    this.#out.append(part);
  }

  reset(stream: number, code: number): void {
    this.#frame(frameTypes.reset, 4, stream);
    this.#out.number(code, 4);
  }

  /** The server may send this much more; stream 0: on all of them together. */
  window(stream: number, bytes: number): void {
    this.#frame(frameTypes.windowUpdate, 4, stream);
    this.#out.number(bytes, 4);
  }

  /** With the payload of the other end's ping, an answer to it. */
  ping(payload: Uint8Array | null): void {
    this.#frame(frameTypes.ping, 8, 0, payload ? flags.ack : 0);
    this.#out.append((payload ?? new Uint8Array(8)).subarray(0, 8));
  }

  settingsTaken(): void {
    this.#frame(frameTypes.settings, 0, 0, flags.ack);
  }

  goAway(code: number): void {
    this.#frame(frameTypes.goAway, 8, 0);
    this.#out.number(0, 4);
    this.#out.number(code, 4);
  }

  #frame(type: number, length: number, stream: number, set = 0): void {
    writeFrame(this.#out, { type, length, stream, flags: set });
  }
}
