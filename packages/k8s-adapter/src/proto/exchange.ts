// An exchange with a server: the parts of an answer put together, and the calls under way that wait
// for one.

import { formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import {
  type Answer,
  type FailureStage,
  heeded,
  isProtobuf,
  type Responded,
  type ResponseHeaders,
} from './answer.ts';
import { joinBytes, keepBytes, objectFromProtobuf } from './protobuf.ts';
import type { ApiRequest } from './requests.ts';

export const mebibyte: number = 2 ** 20;

/** The news of a request under way. After `end` or `failed` nothing more comes. */
export type ExchangeInput =
  | {
      readonly kind: 'head';
      readonly id: string;
      readonly status: number;
      readonly headers: ResponseHeaders;
    }
  | { readonly kind: 'chunk'; readonly id: string; readonly data: Uint8Array | string }
  /** `head`, `chunk` and `end` in one, where an answer came as a whole: as most do. */
  | {
      readonly kind: 'answer';
      readonly id: string;
      readonly status: number;
      readonly headers: ResponseHeaders;
      readonly data: Uint8Array;
    }
  /** The whole answer, or an event of a watch, of a server in the same process: JSON to read only. */
  | { readonly kind: 'value'; readonly id: string; readonly value: unknown }
  | { readonly kind: 'end'; readonly id: string }
  /**
   * The connection lives, and the other end has nothing more to send of this answer so far:
   * everything that it had sent `age` ago has come. HTTP/2 knows that by its PING, HTTP/1.1 does
   * not.
   */
  | { readonly kind: 'alive'; readonly id: string; readonly age: Millis }
  /** Refused, reset or cut off; whatever came before counts for nothing. */
  | {
      readonly kind: 'failed';
      readonly id: string;
      readonly message: string;
      readonly stage?: FailureStage;
    };

/** The news of the answer itself. */
export type StreamInput = Exclude<ExchangeInput, { readonly kind: 'alive' | 'answer' }>;

type WholeAnswer = Extract<ExchangeInput, { readonly kind: 'answer' }>;

/** The parts of such an answer, for those who take it part by part. */
export function partsOf({ id, status, headers, data }: WholeAnswer): readonly StreamInput[] {
  return [
    { kind: 'head', id, status, headers },
    { kind: 'chunk', id, data },
    { kind: 'end', id },
  ];
}

/** Tells whether nothing more comes after it. */
export function endsExchange({ kind }: { readonly kind: string }): boolean {
  return kind === 'end' || kind === 'failed' || kind === 'answer';
}

/** Bytes of one answer, where nothing else is said: far above 500 pods of the usual size. */
const bytesMaxDefault = 64 * mebibyte;
/** For whole texts: state from one part to the next would be shared by all answers. */
const decoder = new TextDecoder();

/** Takes the text of an answer part by part. */
export interface TextReader {
  push(data: Uint8Array | string): void;
}

/** Puts the parts of one answer together; one in protobuf becomes the JSON of it. */
export class AnswerCollector {
  #status = 0;
  #headers: ResponseHeaders = {};
  /** The part that came as text already; bytes come as bytes only, and are read when all are there. */
  #text = '';
  readonly #parts: Uint8Array[] = [];
  #value: unknown = undefined;
  #length = 0;
  readonly #bytesMax: number;
  readonly #reader: TextReader | null;

  /**
   * `reader` gets the text of a 2xx that comes in parts, and nothing is left of it for the answer;
   * an answer in one piece is in the answer.
   */
  constructor(bytesMax: number = bytesMaxDefault, reader: TextReader | null = null) {
    this.#bytesMax = bytesMax;
    this.#reader = reader;
  }

  /** Takes the next part; the answer when it is complete, null before. */
  take(input: ExchangeInput): Answer | null {
    switch (input.kind) {
      case 'head':
        this.#status = input.status;
        this.#headers = input.headers;
        return null;
      case 'alive':
        return null;
      case 'value':
        this.#value = input.value;
        return null;
      case 'chunk':
        return this.#append(input.data);
      case 'end':
        return this.#complete();
      case 'answer':
        return wholeAnswer(input, this.#bytesMax);
      case 'failed': {
        const { message, stage } = input;
        return { kind: 'none', message, ...(stage && { stage }) };
      }
    }
  }

  #append(data: Uint8Array | string): Answer | null {
    this.#length += data.length;
    if (this.#length <= this.#bytesMax) {
      if (this.#reader && this.#isRead()) this.#reader.push(data);
      else if (typeof data === 'string') this.#text += data;
      else keepBytes(this.#parts, data);
      return null;
    }
    this.#text = '';
    this.#parts.length = 0;
    return tooLong(this.#bytesMax);
  }

  #isRead(): boolean {
    return this.#status >= 200 && this.#status < 300 && !isProtobuf(this.#headers);
  }

  #complete(): Answer {
    if (this.#status === 0) return { kind: 'none', message: 'the answer ended before it began' };
    const [value, text, parts] = [this.#value, this.#text, this.#parts];
    return new Collected(this.#status, this.#headers, { value, text, parts });
  }
}

/** An answer in one piece, of this number of bytes at most. */
function wholeAnswer({ status, headers, data }: WholeAnswer, bytesMax: number): Answer {
  if (data.length > bytesMax) return tooLong(bytesMax);
  return new Collected(status, headers, { value: undefined, text: '', parts: [data] });
}

function tooLong(bytesMax: number): Answer {
  const message = `the answer is longer than ${bytesMax / mebibyte} MiB`;
  return { kind: 'none', message, isTooLong: true };
}

interface Content {
  /** Undefined: it did not come as a value. */
  readonly value: unknown;
  readonly text: string;
  readonly parts: readonly Uint8Array[];
}

/** A whole answer, read by those who want it: most only report success. */
class Collected implements Responded {
  readonly kind = 'response';
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly #content: Content;

  constructor(status: number, headers: ResponseHeaders, content: Content) {
    this.status = status;
    this.headers = headers;
    this.#content = content;
  }

  get value(): unknown {
    return this.#content.value;
  }

  get body(): string {
    const { value, text, parts } = this.#content;
    if (value !== undefined) return JSON.stringify(value);
    const bytes = joinBytes(parts);
    const read = isProtobuf(this.headers) ? objectFromProtobuf(bytes) : null;
    return read ? JSON.stringify(read) : text + decoder.decode(bytes);
  }
}

/** A request that ended, with its purpose. */
export interface FinishedCall<T> {
  readonly id: string;
  readonly purpose: T;
  readonly answer: Answer;
}

interface Call<T> {
  readonly purpose: T;
  readonly request: ApiRequest;
  /** Null as long as no part of an answer came: most come as a whole. */
  collector: AnswerCollector | null;
  readonly deadline: Instant;
}

/** A call without a complete answer by then has failed, where nothing else is said. */
const callMsMaxDefault: Millis = 30_000;
/** The API server itself refuses objects beyond 3 MiB. */
const callBytesMax = 16 * mebibyte;

const none: readonly never[] = [];

/** The requests under way that have one answer, and their time limits. */
export class Calls<T> {
  /** In the order of their deadlines, which is the order in which they began. */
  readonly #open = new Map<string, Call<T>>();
  readonly #callMsMax: Millis;
  readonly #bytesMax: number;
  /** No deadline is before this: asked with every input, and hardly ever is one over. */
  #noneBefore: Instant = Number.POSITIVE_INFINITY;

  constructor(callMsMax: Millis = callMsMaxDefault, bytesMax: number = callBytesMax) {
    this.#callMsMax = callMsMax;
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#open.size;
  }

  begin(now: Instant, id: string, request: ApiRequest, purpose: T): void {
    const deadline = now + this.#callMsMax;
    this.#noneBefore = Math.min(this.#noneBefore, deadline);
    this.#open.set(id, { purpose, request, collector: null, deadline });
  }

  /**
   * Takes a part of an answer; the call when this was the last part, null before. A 2xx with
   * anything but the requested object is a failure.
   */
  take(input: ExchangeInput): FinishedCall<T> | null {
    const call = this.#open.get(input.id);
    const answer = call ? this.#answerOf(call, input) : null;
    if (!call || !answer) return null;
    this.#open.delete(input.id);
    return { id: input.id, purpose: call.purpose, answer: heeded(call.request, answer) };
  }

  #answerOf(call: Call<T>, input: ExchangeInput): Answer | null {
    if (input.kind === 'answer' && !call.collector) return wholeAnswer(input, this.#bytesMax);
    call.collector ??= new AnswerCollector(this.#bytesMax);
    return call.collector.take(input);
  }

  /** Ends the calls whose time is up; their requests have to be aborted. */
  expire(now: Instant): readonly FinishedCall<T>[] {
    if (now < this.#noneBefore) return none;
    const expired: FinishedCall<T>[] = [];
    for (const [id, { purpose, deadline }] of this.#open) {
      if (deadline > now) break;
      const message = `no answer within ${formatDuration(this.#callMsMax)}`;
      expired.push({ id, purpose, answer: { kind: 'none', message } });
      this.#open.delete(id);
    }
    this.#noneBefore = this.nextWake() ?? Number.POSITIVE_INFINITY;
    return expired;
  }

  /** Forgets all calls under way; their requests have to be aborted. */
  cancel(): readonly { readonly id: string; readonly purpose: T }[] {
    const open = [...this.#open].map(([id, { purpose }]) => ({ id, purpose }));
    this.#open.clear();
    return open;
  }

  /** The earliest deadline; null when nothing is under way. */
  nextWake(): Instant | null {
    for (const { deadline } of this.#open.values()) return deadline;
    return null;
  }
}
