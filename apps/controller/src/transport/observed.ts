import {
  type ApiRequest,
  type FailureStage,
  giveAnswer,
  isWatch,
  type ResponseHeaders,
  type Sink,
  type Transport,
} from '@taintmgr/k8s-adapter';

/** Notified of requests to the API server. Times are in seconds. */
export interface RequestObserver {
  /** A request waited for its turn. */
  readonly waited: (method: string, seconds: number) => void;
  /** A request goes out with a body of this size. */
  readonly sent: (method: string, bytes: number) => void;
  /** An answer began: an HTTP status, or `<error>` where none came. */
  readonly answered: (method: string, code: string, seconds: number) => void;
  /** An answer is complete, with a body of this size. Not called for watches. */
  readonly received: (method: string, bytes: number) => void;
}

/** The transport with an observer, for metrics. */
export function observed(transport: Transport, observer: RequestObserver): Transport {
  return {
    send: (request, sink) => {
      const heard = new ObservedSink(request, sink, observer);
      observer.sent(request.method, Buffer.byteLength(request.body ?? ''));
      return transport.send(request, heard);
    },
  };
}

/** One request's sink, with the facts to log about the request. */
class ObservedSink implements Sink {
  readonly #method: ApiRequest['method'];
  readonly #path: string;
  readonly #sink: Sink;
  readonly #observer: RequestObserver;
  readonly #sentAt = performance.now();
  #isAnswered = false;
  #bytes = 0;

  constructor(request: ApiRequest, sink: Sink, observer: RequestObserver) {
    // Not the request: its body would be kept until the answer comes.
    this.#method = request.method;
    this.#path = request.path;
    this.#sink = sink;
    this.#observer = observer;
  }

  head(status: number, headers: ResponseHeaders): void {
    this.#answered(String(status));
    this.#sink.head(status, headers);
  }

  data(chunk: Uint8Array | string): void {
    this.#bytes += Buffer.byteLength(chunk);
    this.#sink.data(chunk);
  }

  end(): void {
    this.#received(this.#bytes);
    this.#sink.end();
  }

  answer(status: number, headers: ResponseHeaders, body: Uint8Array): void {
    this.#answered(String(status));
    this.#received(body.length);
    giveAnswer(this.#sink, status, headers, body);
  }

  alive(age: number): void {
    this.#sink.alive(age);
  }

  failed(message: string, stage?: FailureStage): void {
    this.#answered('<error>');
    this.#sink.failed(message, stage);
  }

  #answered(code: string): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const seconds = (performance.now() - this.#sentAt) / 1000;
    this.#observer.answered(this.#method, code, seconds);
  }

  #received(bytes: number): void {
    // A watch ends when it is cut off, so that its size says nothing.
    if (!isWatch({ method: this.#method, path: this.#path }))
      this.#observer.received(this.#method, bytes);
  }
}
