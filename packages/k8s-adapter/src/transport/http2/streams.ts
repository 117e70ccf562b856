// The requests of one HTTP/2 connection and their answers, without its I/O (RFC 9113).
import type { ResponseHeaders } from '../../proto/answer.ts';
import { announcedTooOften, announcementsMax } from '../errors.ts';
import {
  contentOf,
  errorCodes,
  errorName,
  type Frame,
  FrameReader,
  FrameWriter,
  flags,
  frameTypes,
  has,
  isEmpty,
  numberAt,
  ProtocolError,
  type RequestHead,
  settingIds,
  settingsIn,
  streamAt,
  windowMax,
} from './frames.ts';
import { type Header, HeaderDecoder, HeaderError, headerListBytesMax } from './hpack.ts';

/**
 * Hears of answers, each by what its request is for: its head once, then its parts, then its end or
 * its failure; and what the connection itself has to say.
 */
interface StreamsListener<T> {
  head(asker: T, status: number, headers: ResponseHeaders): void;
  data(asker: T, chunk: Uint8Array): void;
  end(asker: T): void;
  /** `isUnsent`: the server has not begun to work on it. */
  failed(asker: T, message: string, isUnsent: boolean): void;
  /** Something waits for takeOutput(). */
  output(): void;
  /** No new requests: the server said so, or their numbers are used up. */
  noMore(): void;
  /** The answer to a ping. */
  pong(): void;
  /** Hears that the server may take more or less than before. */
  settings(): void;
}

interface Stream<T> {
  readonly id: number;
  /** The one the request is for. */
  readonly asker: T;
  /** The part of the body that is not sent yet; null: all is. */
  unsent: Uint8Array | null;
  /** The number of bytes of the body that the server takes now. */
  window: number;
  /** Bytes of the answer that the server does not know to have come. */
  unacknowledged: number;
  hasHead: boolean;
  /** The number of times that the head was announced. */
  announcements: number;
}

interface HeaderBlock {
  readonly stream: number;
  readonly endsStream: boolean;
  frames: number;
}

/**
 * As long as the server has not said how many requests it takes: more than it takes it refuses, and
 * some take few.
 */
const streamsMaxUnsaid = 16;
/** The window that both ends allow at first. */
const windowAtFirst = 65_535;
/** Ours: enough for lists over long ways, where the standard is one round trip's worth. */
const windowBytes = 4 * 1024 * 1024;
/** More than fit into what an API server takes of a kubelet, 10 MB, and passes on. */
const blockFramesMax = 1024;
const beyondWindow = 'more data than it may send';
/** Streams are numbered, and the numbers end. */
const streamIdMax = 2 ** 31 - 1;

/** The client's end of one connection: takes requests and bytes, gives bytes and answers. */
export class Streams<T> {
  /** The number of requests that may be under way, by the server's word. */
  streamsMax: number = streamsMaxUnsaid;
  /** True if the server has sent its settings. */
  hasSettings = false;
  readonly #listener: StreamsListener<T>;
  readonly #streams = new Map<number, Stream<T>>();
  readonly #reader = new FrameReader();
  readonly #decoder = new HeaderDecoder();
  readonly #writer = new FrameWriter();
  #nextId = 1;
  /** Headers that go on in the next frame. */
  #unfinished: HeaderBlock | null = null;
  /** The number of bytes that the server takes on all streams together, and at first on each. */
  #window = windowAtFirst;
  #initialWindow = windowAtFirst;
  #unacknowledged = 0;
  readonly #allowance = new Allowance(windowBytes);

  constructor(listener: StreamsListener<T>) {
    this.#listener = listener;
    this.#writer.begin([
      [settingIds.enablePush, 0],
      [settingIds.initialWindow, windowBytes],
      [settingIds.headerListSize, headerListBytesMax],
    ]);
    this.#writer.window(0, windowBytes - windowAtFirst);
  }

  /** The number of requests under way. */
  get size(): number {
    return this.#streams.size;
  }

  /** The bytes to be sent now; null: nothing. */
  takeOutput(): Uint8Array | null {
    return this.#writer.take();
  }

  /** Begins a request; the number by which it can be cancelled. */
  request(head: RequestHead, body: Uint8Array | null, asker: T): number {
    const id = this.#nextId;
    this.#nextId += 2;
    this.#allowance.asked();
    const unsent = body && body.length > 0 ? body : null;
    this.#writer.headers(id, head, unsent === null);
    const window = this.#initialWindow;
    const stream = {
      id,
      asker,
      unsent,
      window,
      unacknowledged: 0,
      hasHead: false,
      announcements: 0,
    };
    this.#streams.set(id, stream);
    this.#send(stream);
    if (this.#nextId > streamIdMax) this.#listener.noMore();
    this.#listener.output();
    return id;
  }

  /** The answer is no longer waited for. */
  cancel(id: number): void {
    if (this.#streams.delete(id)) this.#reset(id, errorCodes.cancel);
  }

  ping(): void {
    this.#allowance.pinged();
    this.#writer.ping(null);
    this.#listener.output();
  }

  /** Says goodbye; calls under way may end. */
  goAway(code: number = errorCodes.none): void {
    this.#writer.goAway(code);
    this.#listener.output();
  }

  /** Takes what has come. Throws ProtocolError: the connection is useless. */
  receive(chunk: Uint8Array): void {
    for (const frame of this.#reader.push(chunk)) {
      if (isEmpty(frame)) this.#allowance.empty();
      this.#take(frame);
    }
    // Told now and then how much has come, the server continues.
    if (this.#unacknowledged > windowBytes / 2) {
      this.#writer.window(0, this.#unacknowledged);
      this.#unacknowledged = 0;
    }
    if (!this.#writer.isEmpty) this.#listener.output();
  }

  #take(frame: Frame): void {
    const { type, payload } = frame;
    if (this.#unfinished && type !== frameTypes.continuation) {
      throw new ProtocolError('headers without an end');
    }
    switch (type) {
      case frameTypes.data:
        this.#takeData(frame);
        break;
      case frameTypes.headers:
        this.#beginHeaders(frame);
        break;
      case frameTypes.continuation:
        this.#continueHeaders(frame);
        break;
      case frameTypes.reset:
        this.#takeReset(frame.stream, numberAt(payload, 0, 4));
        break;
      case frameTypes.settings:
        if (!has(frame, flags.ack)) this.#takeSettings(payload);
        break;
      case frameTypes.ping:
        if (has(frame, flags.ack)) this.#takePong();
        else this.#writer.ping(payload);
        break;
      case frameTypes.goAway:
        this.#takeGoAway(streamAt(payload, 0), numberAt(payload, 4, 4));
        break;
      case frameTypes.windowUpdate:
        this.#takeWindow(frame.stream, streamAt(payload, 0));
        break;
      case frameTypes.pushPromise:
        throw new ProtocolError('an unrequested push');
      default: // what is not known means nothing
    }
  }

  #takeData(frame: Frame): void {
    const { length } = frame.payload;
    this.#unacknowledged += length;
    const stream = this.#streams.get(frame.stream);
    if (!stream) this.#allowance.unwanted(length);
    if (this.#unacknowledged > windowBytes) throw new ProtocolError(beyondWindow);
    if (!stream) return;
    if (!stream.hasHead) {
      this.#refuse(stream, 'an answer without a head');
      return;
    }
    stream.unacknowledged += length;
    if (stream.unacknowledged > windowBytes) throw new ProtocolError(beyondWindow);
    const content = contentOf(frame);
    if (content.length > 0) this.#listener.data(stream.asker, content);
    else if (length > 0) this.#allowance.empty();
    if (has(frame, flags.endStream)) this.#end(stream);
    else if (stream.unacknowledged > windowBytes / 2 && this.#streams.has(stream.id)) {
      this.#writer.window(stream.id, stream.unacknowledged);
      stream.unacknowledged = 0;
    }
  }

  #beginHeaders(frame: Frame): void {
    const block = { stream: frame.stream, endsStream: has(frame, flags.endStream), frames: 0 };
    this.#unfinished = block;
    this.#addHeaders(block, contentOf(frame), has(frame, flags.endHeaders));
  }

  #continueHeaders(frame: Frame): void {
    const block = this.#unfinished;
    if (block?.stream !== frame.stream) throw new ProtocolError('headers without a beginning');
    this.#addHeaders(block, frame.payload, has(frame, flags.endHeaders));
  }

  #addHeaders(block: HeaderBlock, part: Uint8Array, isLast: boolean): void {
    block.frames += 1;
    if (block.frames > blockFramesMax) throw new ProtocolError('endless headers');
    // Even headers of unwanted answers have to be read: later ones refer to them.
    const headers = this.#decoded(part, isLast);
    if (!isLast) return;
    this.#unfinished = null;
    const stream = this.#streams.get(block.stream);
    if (!stream) this.#allowance.empty();
    else if (!headers) {
      this.#refuse(stream, `headers of more than ${headerListBytesMax} bytes`, errorCodes.cancel);
    } else if (!stream.hasHead) this.#takeHead(stream, headers);
    else if (!block.endsStream) this.#refuse(stream, 'headers in the middle of an answer');
    if (stream && block.endsStream && this.#streams.has(stream.id)) this.#end(stream);
  }

  #decoded(part: Uint8Array, isLast: boolean): readonly Header[] | null {
    try {
      return this.#decoder.decode(part, isLast);
    } catch (error) {
      if (error instanceof HeaderError) throw new ProtocolError(error.message);
      throw error;
    }
  }

  /** A single answer is invalid, or has too many headers: the others on the connection continue. */
  #refuse(stream: Stream<T>, why: string, code: number = errorCodes.protocol): void {
    this.#streams.delete(stream.id);
    this.#reset(stream.id, code);
    this.#listener.failed(stream.asker, why, false);
  }

  #takeHead(stream: Stream<T>, headers: readonly Header[]): void {
    const head = answerHead(headers);
    if (head.fault !== null) this.#refuse(stream, head.fault);
    else if (head.status >= 200) {
      stream.hasHead = true;
      this.#listener.head(stream.asker, head.status, head.headers);
    } else {
      this.#allowance.empty();
      stream.announcements += 1;
      if (stream.announcements > announcementsMax) this.#refuse(stream, announcedTooOften);
    }
  }

  #end(stream: Stream<T>): void {
    if (!stream.hasHead) {
      this.#refuse(stream, 'an answer without a head');
      return;
    }
    this.#streams.delete(stream.id);
    // An answer that did not wait for the whole question.
    if (stream.unsent) this.#reset(stream.id, errorCodes.none);
    this.#listener.end(stream.asker);
  }

  #takePong(): void {
    this.#allowance.ponged();
    this.#listener.pong();
  }

  #takeReset(id: number, code: number): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    this.#streams.delete(id);
    const message = `the server broke the answer off: ${errorName(code)}`;
    this.#listener.failed(stream.asker, message, code === errorCodes.refused);
  }

  /** Gives back the requests after the last one that the server takes: they have not begun. */
  #takeGoAway(last: number, code: number): void {
    this.#listener.noMore();
    for (const [id, stream] of this.#streams) {
      if (id <= last) continue;
      this.#streams.delete(id);
      const message = `the server takes no more requests: ${errorName(code)}`;
      this.#listener.failed(stream.asker, message, true);
    }
  }

  // Requests

  /** As much of the body as the server takes now. */
  #send(stream: Stream<T>): void {
    while (stream.unsent) {
      const room = Math.min(this.#window, stream.window, this.#writer.payloadBytesMax);
      if (room <= 0) return;
      const part = stream.unsent.subarray(0, room);
      const isLast = part.length === stream.unsent.length;
      this.#writer.data(stream.id, part, isLast);
      this.#window -= part.length;
      stream.window -= part.length;
      stream.unsent = isLast ? null : stream.unsent.subarray(part.length);
    }
  }

  #sendAll(): void {
    for (const stream of this.#streams.values()) this.#send(stream);
  }

  #takeWindow(id: number, more: number): void {
    const stream = this.#streams.get(id);
    if (id === 0) this.#window += more;
    else if (stream) stream.window += more;
    const isTooLarge = this.#window > windowMax || (stream && stream.window > windowMax);
    if (isTooLarge) throw new ProtocolError('a window without bounds');
    this.#sendAll();
  }

  #takeSettings(payload: Uint8Array): void {
    if (!this.hasSettings) this.streamsMax = Number.POSITIVE_INFINITY;
    this.hasSettings = true;
    const set = settingsIn(payload);
    this.#allowance.empty(set.length);
    for (const [setting, value] of set) this.#set(setting, value);
    this.#writer.settingsTaken();
    this.#sendAll();
    this.#listener.settings();
  }

  #set(setting: number, value: number): void {
    if (setting === settingIds.headerTableSize) this.#writer.encoder.resize(value);
    if (setting === settingIds.streams) this.streamsMax = value;
    if (setting === settingIds.frameSize) this.#writer.payloadBytesMax = value;
    if (setting === settingIds.initialWindow) {
      // The window counts for streams under way as well, and may take back what was allowed.
      for (const stream of this.#streams.values()) stream.window += value - this.#initialWindow;
      this.#initialWindow = value;
    }
  }

  #reset(id: number, code: number): void {
    this.#allowance.cancelled();
    this.#writer.reset(id, code);
    this.#listener.output();
  }
}

/**
 * The number of frames that may bring nothing since our last request and the last answer to a ping of ours: a server
 * sends few of them, and each is work.
 */
const emptyFramesMax = 10_000;

/** Counts what a server sends beside answers, and throws ProtocolError where that has no end. */
class Allowance {
  #emptyFrames = 0;
  /** Pings of ours without an answer. */
  #pings = 0;
  /** The number of bytes that may come for those that no longer wait for them. */
  #unwantedBytesMax: number;
  readonly #windowBytes: number;

  /** `windowBytes`: the amount of one answer that may be on its way. */
  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
    this.#unwantedBytesMax = windowBytes;
  }

  /** A request of ours goes out. */
  asked(): void {
    this.#emptyFrames = 0;
  }

  pinged(): void {
    this.#pings += 1;
  }

  ponged(): void {
    if (this.#pings === 0) return;
    this.#pings -= 1;
    this.#emptyFrames = 0;
  }

  /** An answer is no longer waited for: the server cannot take back the bytes on their way. */
  cancelled(): void {
    this.#unwantedBytesMax += this.#windowBytes;
  }

  /** Counts frames that bring nothing, or one frame that is as much work as this number. */
  empty(frames = 1): void {
    this.#emptyFrames += frames;
    if (this.#emptyFrames <= emptyFramesMax) return;
    throw new ProtocolError('frames without end that bring nothing');
  }

  /** Data has come that is not waited for. */
  unwanted(bytes: number): void {
    this.#unwantedBytesMax -= bytes;
    if (this.#unwantedBytesMax < 0) throw new ProtocolError('unrequested data');
  }
}

/** The head that the headers make, or why they are the head of no answer. */
type AnswerHead =
  /** Below 200 it only announces the answer. */
  | { readonly fault: null; readonly status: number; readonly headers: ResponseHeaders }
  | { readonly fault: string };

function answerHead(headers: readonly Header[]): AnswerHead {
  let status: string | undefined;
  const flat: Record<string, string> = {};
  // Not taken apart: each would go through two iterators, for each answer.
  for (const header of headers) {
    const name = header[0];
    const value = header[1];
    if (name === ':status') {
      if (status !== undefined) return { fault: 'an answer with two statuses' };
      status = value;
    }
    if (name.startsWith(':')) continue;
    const known = flat[name];
    flat[name] = known === undefined ? value : `${known}, ${value}`;
  }
  const fault = statusFault(status);
  return fault === null ? { fault, status: Number(status), headers: flat } : { fault };
}

/** Texts of others in a message are short. */
const statusLengthMax = 20;

function statusFault(status: string | undefined): string | null {
  if (status === undefined) return 'an answer without a status';
  // To go over to another protocol is not for HTTP/2.
  if (/^[1-9]\d\d$/.test(status) && status !== '101') return null;
  return `an answer with the status ${JSON.stringify(status.slice(0, statusLengthMax))}`;
}
