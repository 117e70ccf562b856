// Single requests for commands, with errors in kubectl's words.
import type { Instant, Millis } from '@taintmgr/core/time';
import type { Steps } from '../controller/task.ts';
import {
  answerFault,
  type Failure,
  failureOf,
  failureOfStatus,
  type Responded,
  statedFailure,
  statedStatus,
  succeeded,
} from '../proto/answer.ts';
import type { TextReader } from '../proto/exchange.ts';
import { type JsonRecord, parseJson } from '../proto/json.ts';
import { type ListPage, ListReader, type ListReaderOptions } from '../proto/json-list.ts';
import { PageWalk } from '../proto/page-walk.ts';
import { type ApiRequest, getRequest, listRequest, type Selectors } from '../proto/requests.ts';
import { ApiError, ConnectionError, WrongServerError } from '../transport/errors.ts';
import type { Transport } from '../transport/sink.ts';
import { exchange } from './exchange.ts';

/** More came than is read. */
class TooLongError extends ConnectionError {}

/** The way of an ApiClient to its server, and how long it waits for an answer. */
export interface ApiClientOptions {
  /** Sends the requests. */
  readonly transport: Transport;
  /** For messages. */
  readonly server: string;
  /** Time limit of one request; 0: none. 30 s when left out. */
  readonly requestTimeout?: Millis | null;
  /** Aborted: requests reject with the reason of the signal. */
  readonly signal?: AbortSignal;
}

const requestMsMax: Millis = 30_000;
/** To read more takes longer than a server nearby takes to answer. */
const longText = 100_000;
const pageLimit = 500;
const listAttemptsMax = 3;

/**
 * Single requests for commands: JSON in, JSON out. Returns the server's answer, which the caller
 * reads with care. Throws ApiError and ConnectionError.
 */
export class ApiClient {
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  /** Sends one request, e.g. of requests.ts; the parsed body of a 2xx. */
  async send(request: ApiRequest): Promise<unknown> {
    return (await this.ask(request)).value;
  }

  /** The same, with the API server's time by its header Date; null: it has none. */
  async ask(
    request: ApiRequest,
  ): Promise<{ readonly value: unknown; readonly serverTime: Instant | null }> {
    const answer = await this.#answer(request);
    const { body } = answer;
    // Requests that follow from shorter answers are sent before this one is read.
    if (body.length > longText) await new Promise(setImmediate);
    const value = this.#asked(request, parseJson(body));
    return { value, serverTime: httpDate(answer.headers.date) };
  }

  /** Carries out a procedure of the controller. Throws as `send` does where its last request is refused. */
  async carryOut(steps: Steps): Promise<void> {
    let refused: ApiError | null = null;
    for (let step = steps.next(); ; ) {
      if (step.done) {
        if (refused) throw refused;
        if (step.value.kind === 'done') return;
        throw new Error(`a procedure ends with an unexpected step: ${step.value.kind}`);
      }
      const { request } = step.value;
      const answer = await this.#responded(request);
      refused = refusalOf(answer, request);
      if (!refused) this.#asked(request, parseJson(answer.body));
      step = steps.next({ answer, wall: Date.now() });
    }
  }

  /** A 2xx, whose text `reader` gets where it comes in parts. */
  async #answer(request: ApiRequest, reader?: TextReader): Promise<Responded> {
    const answer = await this.#responded(request, reader);
    const refused = refusalOf(answer, request);
    if (refused) throw refused;
    return answer;
  }

  async #responded(request: ApiRequest, reader?: TextReader): Promise<Responded> {
    const { transport, signal, requestTimeout } = this.#options;
    const limit = requestTimeout ?? requestMsMax;
    const answer = await exchange(transport, request, {
      limit,
      ...(signal && { signal }),
      ...(reader && { reader }),
    });
    if (answer.kind === 'none' && answer.isTooLong) {
      throw new TooLongError(this.#options.server, answer.message);
    }
    if (answer.kind === 'none') {
      throw new ConnectionError(this.#options.server, answer.message, answer.stage);
    }
    return answer;
  }

  /**
   * Returns the requested value; a failure is a failure whatever its HTTP status, as in kubectl.
   */
  #asked(request: ApiRequest, value: unknown): unknown {
    const status = statedFailure(value);
    if (status) throw refusal(request, status);
    const why = answerFault(request, value);
    if (why !== null) throw this.#wrong(why);
    return value;
  }

  #wrong(why: string): WrongServerError {
    return new WrongServerError(this.#options.server, why);
  }

  /** GET of one path. */
  get(path: string): Promise<unknown> {
    return this.send(getRequest(path));
  }

  /**
   * All objects of the collection at `path`, read page by page, of one moment in time. When the
   * server forgets that moment before the last page, it starts over, a few times at most.
   * `pageSize`: objects in one page; 0: all at once.
   */
  async list(
    path: string,
    selectors: Selectors = {},
    pageSize: number = pageLimit,
  ): Promise<readonly unknown[]> {
    return await this.listAs((object) => object, path, selectors, pageSize);
  }

  /**
   * The same, with the result of `read` for each object: of one page while the next is on its way.
   */
  async listAs<T>(
    read: (object: unknown) => T,
    path: string,
    selectors: Selectors = {},
    pageSize: number = pageLimit,
  ): Promise<readonly T[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#pages(read, path, selectors, pageSize);
      } catch (error) {
        const expired = error instanceof ApiError && error.failure.status === 410;
        if (!expired || attempt === listAttemptsMax) throw error;
      }
    }
  }

  async #pages<T>(
    readObject: (object: unknown) => T,
    path: string,
    selectors: Selectors,
    pageSize: number,
  ): Promise<readonly T[]> {
    const objects: T[] = [];
    const walk = new PageWalk();
    let limit = pageSize;
    const ask = async (
      continueToken: string,
      isWanted: () => boolean = () => true,
    ): Promise<AskedPage<T>> => {
      let next: Promise<AskedPage<T>> | null = null;
      let hasFailed = false;
      const onToken = (token: string): void => {
        if (token === '' || next || !isWanted()) return;
        next = ask(token, () => !hasFailed && isWanted());
        // Until a caller waits for it.
        next.catch(() => undefined);
      };
      const asked = limit;
      const page = { ...selectors, ...(asked > 0 && { limit: asked }), continueToken };
      try {
        const read = await this.#page(listRequest(path, page), { read: readObject, onToken });
        const { continueToken: token, items } = read;
        const why = token === '' ? null : walk.next(token, items.length, asked);
        if (why !== null) throw this.#wrong(`${path}: ${why}`);
        onToken(token);
        return { items: read.items, next };
      } catch (error) {
        // Later pages are requested again, or no longer needed.
        hasFailed = true;
        if (!(error instanceof TooLongError) || limit === 1 || !isWanted()) throw error;
        limit = limit === 0 ? pageLimit : Math.trunc(limit / 2);
        return await ask(continueToken, isWanted);
      }
    };
    for (let asked: Promise<AskedPage<T>> | null = ask(''); asked !== null; ) {
      const page: AskedPage<T> = await asked;
      asked = page.next;
      for (const object of page.items) objects.push(object);
    }
    return objects;
  }

  /** One page, read while it comes; how the next is asked for is known before. */
  async #page<T>(
    request: ApiRequest,
    options: Omit<ListReaderOptions<T>, 'request'>,
  ): Promise<ListPage<T>> {
    const reader = new ListReader({ ...options, request });
    const { body } = await this.#answer(request, reader);
    // An answer that came as a whole, or not as JSON.
    if (body !== '') reader.push(body);
    const page = reader.end();
    if (page.kind === 'refused') throw refusal(request, page.status);
    if (page.kind === 'wrong') throw this.#wrong(page.why);
    return page;
  }
}

/** A page of a list that was read, and the next. */
interface AskedPage<T> {
  readonly items: readonly T[];
  /** Null: it is the last. */
  readonly next: Promise<AskedPage<T>> | null;
}

function refusal(request: ApiRequest, status: JsonRecord): ApiError {
  return new ApiError(located(failureOfStatus(status, statedStatus(status)), request));
}

function httpDate(text = ''): Instant | null {
  const millis = Date.parse(text);
  return Number.isNaN(millis) ? null : millis;
}

/** Null: it is a 2xx. */
function refusalOf(answer: Responded, request: ApiRequest): ApiError | null {
  return succeeded(answer) ? null : new ApiError(located(failureOf(answer), request));
}

/** About a resource that it does not know an API server does not say which; an old one lacks policy/v1, say. */
function located(failure: Failure, { method, path }: ApiRequest): Failure {
  if (failure.status !== 404 || failure.name !== '') return failure;
  const [resource = path] = path.split('?');
  return { ...failure, message: `${failure.message} (${method} ${resource})` };
}
