// Writes the frames that a client sends, and keeps them until they go out together.
import { ByteWriter } from './byte-writer.ts';
import { flags, frameTypes, payloadBytesMax, writeFrame } from './frames.ts';
import { type Header, HeaderEncoder } from './hpack.ts';

/** The headers of a request. */
export interface RequestHead {
  readonly path: string;
  /** Those that others have too, as the same list; what a request is comes first. */
  readonly shared: readonly Header[];
  /** Null: it has no body. */
  readonly bodyBytes: number | null;
}

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** What is to be sent over one connection. */
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

  /** What has been written since the last call; null: nothing. */
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
    // What is another each time is not kept for the next one.
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

  /** The server may send so much more; stream 0: on all of them together. */
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
