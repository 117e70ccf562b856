// Single requests for commands, with errors in kubectl's words.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Instant, Millis } from '@taintmgr/core/time';
import { failureOf, succeeded } from '../proto/answer.ts';
import { type ApiRequest, getRequest } from '../proto/api-request.ts';
import { parseJson } from '../proto/json.ts';
import { type ListPage, parseList } from '../proto/json-list.ts';
import { listRequest, type Selectors } from '../proto/list-requests.ts';
import type { Transport } from '../transport/sink.ts';
import { ApiError, ConnectionError, WrongServerError } from './errors.ts';
import { exchange } from './exchange.ts';

/** More came than is read. */
class TooLongError extends ConnectionError {}

export interface ApiClientOptions {
  readonly transport: Transport;
  /** For messages. */
  readonly server: string;
  /** Time limit of one request; 0: none. 30 s when left out. */
  readonly requestTimeout?: Millis | null;
  readonly signal?: AbortSignal;
}

const requestMsMax: Millis = 30_000;
/** To read more takes longer than a server nearby takes to answer. */
const longText = 100_000;
const pageLimit = 500;
const listAttemptsMax = 3;

/**
 * Single requests for commands: JSON in, JSON out. What comes back is what the server sent, to be
 * read with care by the caller. Throws ApiError and ConnectionError.
 */
export class ApiClient {
  readonly #options: ApiClientOptions;

  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  /** Sends one request, e.g. of request.ts; the parsed body of a 2xx. */
  async send(request: ApiRequest): Promise<unknown> {
    return (await this.ask(request)).value;
  }

  /** The same, with the API server's time by its header Date; null: there is none. */
  async ask(
    request: ApiRequest,
  ): Promise<{ readonly value: unknown; readonly serverTime: Instant | null }> {
    const { text, serverTime } = await this.#text(request);
    return { value: this.#inJson(parseJson(text)), serverTime };
  }

  async #text(
    request: ApiRequest,
  ): Promise<{ readonly text: string; readonly serverTime: Instant | null }> {
    const { transport, signal, requestTimeout } = this.#options;
    const limit = requestTimeout ?? requestMsMax;
    const answer = await exchange(transport, request, { limit, ...(signal && { signal }) });
    if (answer.kind === 'none' && answer.isTooLong) {
      throw new TooLongError(this.#options.server, answer.message);
    }
    if (answer.kind === 'none') {
      throw new ConnectionError(this.#options.server, answer.message, answer.stage);
    }
    if (!succeeded(answer)) throw new ApiError(failureOf(answer));
    const { body } = answer;
    // What shorter answers lead to is asked for before this one is read.
    if (body.length > longText) await nextTurn();
    return { text: body, serverTime: httpDate(answer.headers.date) };
  }

  #inJson<T>(value: T | undefined): T {
    if (value !== undefined) return value;
    throw new WrongServerError(this.#options.server, 'what answers there does not speak JSON');
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

  /** The same, with what `read` makes of each object: of one page while the next is on its way. */
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
    read: (object: unknown) => T,
    path: string,
    selectors: Selectors,
    pageSize: number,
  ): Promise<readonly T[]> {
    const objects: T[] = [];
    let limit = pageSize;
    const ask = (continueToken: string): Promise<string> => {
      const page = { ...selectors, ...(limit > 0 && { limit }), continueToken };
      const answer = this.#text(listRequest(path, page)).then(
        ({ text }) => text,
        (error: unknown) => {
          if (!(error instanceof TooLongError) || limit === 1) throw error;
          limit = limit === 0 ? pageLimit : Math.trunc(limit / 2);
          return ask(continueToken);
        },
      );
      // Until somebody waits for it.
      answer.catch(() => undefined);
      return answer;
    };
    for (let asked: Promise<string> | null = ask(''); asked !== null; ) {
      const page: ListPage<T> = this.#inJson(parseList(await asked, read));
      asked = page.continueToken === '' ? null : ask(page.continueToken);
      for (const object of this.#inJson(page.items())) objects.push(object);
    }
    return objects;
  }
}

function httpDate(text = ''): Instant | null {
  const millis = Date.parse(text);
  return Number.isNaN(millis) ? null : millis;
}
