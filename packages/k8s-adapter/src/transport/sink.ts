import type { Millis } from '@taintmgr/core/time';
import type { FailureStage, ResponseHeaders } from '../proto/answer.ts';
import type { ExchangeInput } from '../proto/exchange.ts';
import type { ApiRequest } from '../proto/requests.ts';

/**
 * Where the parts of an answer go. `head` comes first and once, `data` any number of times, then
 * either `end` or `failed`, once and last; `failed` may come at any point. Call its methods on it: a copy of its
 * members has none where they are those of a class.
 */
export interface Sink {
  /** The HTTP status, and the headers by their names in lower case. */
  head(status: number, headers: ResponseHeaders): void;
  /** A part of the body. */
  data(chunk: Uint8Array | string): void;
  /** The answer is complete. */
  end(): void;
  /** `head`, `data` and `end` in one, where the answer came as a whole; left out: these. */
  answer?(status: number, headers: ResponseHeaders, body: Uint8Array): void;
  /** The whole answer, or an event of a watch, as a value: of a server in the same process. */
  value?(value: unknown): void;
  /** Between `head` and the end, now and then: what had been sent `age` ago has all come. */
  alive(age: Millis): void;
  /** `stage`: it failed before anything was sent, since the login failed. */
  failed(message: string, stage?: FailureStage): void;
}

/** A sink that passes its input on with this id. */
export class InputSink implements Sink {
  readonly #id: string;
  readonly #hear: (input: ExchangeInput) => void;

  constructor(id: string, hear: (input: ExchangeInput) => void) {
    this.#id = id;
    this.#hear = hear;
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#hear({ kind: 'head', id: this.#id, status, headers });
  }

  data(data: Uint8Array | string): void {
    this.#hear({ kind: 'chunk', id: this.#id, data });
  }

  value(value: unknown): void {
    this.#hear({ kind: 'value', id: this.#id, value });
  }

  end(): void {
    this.#hear({ kind: 'end', id: this.#id });
  }

  answer(status: number, headers: ResponseHeaders, data: Uint8Array): void {
    this.#hear({ kind: 'answer', id: this.#id, status, headers, data });
  }

  alive(age: Millis): void {
    this.#hear({ kind: 'alive', id: this.#id, age });
  }

  failed(message: string, stage?: FailureStage): void {
    this.#hear({ kind: 'failed', id: this.#id, message, ...(stage && { stage }) });
  }
}

/** Gives a sink an answer that came as a whole. */
export function giveAnswer(
  sink: Sink,
  status: number,
  headers: ResponseHeaders,
  body: Uint8Array,
): void {
  if (sink.answer) {
    sink.answer(status, headers, body);
    return;
  }
  sink.head(status, headers);
  if (body.length > 0) sink.data(body);
  sink.end();
}

/** Sends requests to one API server: HttpTransport, or one of your own. */
export interface Transport {
  /** Never throws. The returned function hangs up; after it the sink gets nothing more. */
  send(request: ApiRequest, sink: Sink): () => void;
}
