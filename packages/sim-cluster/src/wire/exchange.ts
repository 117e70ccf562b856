// One HTTP exchange as values: read from a socket, or written by hand in tests.

/** A request as a value. */
export interface ApiRequest {
  /** In upper case, such as `GET`. */
  readonly method: string;
  /** Path with its query, as in the request line: `/api/v1/nodes?limit=500`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null for a request without a body. */
  readonly body: string | Uint8Array | null;
  /** The body from a client in the same process, in place of its JSON; it is no longer changed. */
  readonly value?: object;
}

/**
 * The receiver of the answer. `head` is called once and first, `data` any number of times, `end`
 * once and last unless the client aborts. Everything but a watch is finished before `exchange`
 * returns, unless a read waits for a version or a write for webhooks.
 */
export interface ResponseSink {
  /** The HTTP status, and the headers by their names in lower case. */
  head(status: number, headers: Readonly<Record<string, string>>): void;
  /** Text, or the bytes of an answer in protobuf. */
  data(chunk: string | Uint8Array): void;
  /**
   * A client in the same process with this method gets an answer in JSON, and each event of a
   * watch, as a value instead of `data`: the stored objects themselves, which must not be changed.
   */
  value?(value: object): void;
  /** The answer is complete. */
  end(): void;
  /** Whatever lies between says that all has come that was sent `age` milliseconds ago; no server does. */
  alive?(age: number): void;
  /** The connection broke: the rest of the answer will not come. Called instead of `end`. */
  reset(): void;
}

/**
 * Answers one request. The returned function is the client hanging up; after that nothing goes into
 * the sink.
 */
export type Exchange = (request: ApiRequest, sink: ResponseSink) => () => void;
