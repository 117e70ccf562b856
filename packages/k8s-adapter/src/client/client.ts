// Single requests for commands, with errors in kubectl's words.
import { formatDuration, type Instant, type Millis } from '@taintmgr/core/time';
import {
  type Answer,
  type Failure,
  type FailureStage,
  failureOf,
  succeeded,
} from '../proto/answer.ts';
import { type ApiRequest, getRequest } from '../proto/api-request.ts';
import { AnswerCollector, type ExchangeInput } from '../proto/exchange.ts';
import { asList, asRecord, asText, parseJson } from '../proto/json.ts';
import { listRequest, type Selectors } from '../proto/request.ts';
import { inputSink, type Transport } from '../transport/sink.ts';

/** The API server refused; `failure` has its words, `message` those kubectl would print. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    const { reason, message } = failure;
    super(`Error from server${reason === '' ? '' : ` (${reason})`}: ${message}`);
    this.failure = failure;
  }
}

/** No answer came; the message says what was tried, why it failed and what to check. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  /** `stage` 'login': the server was not asked, since there are no credentials to ask it with. */
  constructor(server: string, why: string, stage: FailureStage | 'request' = 'request') {
    const { failed, check } = attempts[stage];
    super(`${failed(server)}: ${why}; ${check}`);
  }
}

/** What answers there is not the API server that was asked for. */
export class WrongServerError extends ConnectionError {}

/** More came than is read. */
class TooLongError extends ConnectionError {}

const attempts = {
  request: {
    failed: (server: string) => `request to ${server} failed`,
    check: 'check that the API server runs and that --context names the right cluster',
  },
  login: {
    failed: (server: string) => `cannot log in to ${server}`,
    check: 'check the user that the current context names (kubectl config view --minify)',
  },
} as const;

export interface ApiClientOptions {
  readonly transport: Transport;
  /** For messages. */
  readonly server: string;
  /** Time limit of one request; 0: none. 30 s when left out. */
  readonly requestTimeout?: Millis | null;
  readonly signal?: AbortSignal;
}

const requestMsMax: Millis = 30_000;
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
    const answer = await this.#exchange(request);
    if (answer.kind === 'none' && answer.isTooLong) {
      throw new TooLongError(this.#options.server, answer.message);
    }
    if (answer.kind === 'none') {
      throw new ConnectionError(this.#options.server, answer.message, answer.stage);
    }
    if (!succeeded(answer)) throw new ApiError(failureOf(answer));
    const value = parseJson(answer.body);
    if (value !== undefined) return { value, serverTime: httpDate(answer.headers.date) };
    throw new WrongServerError(this.#options.server, 'what answers there does not speak JSON');
  }

  /** GET of one path. */
  get(path: string): Promise<unknown> {
    return this.send(getRequest(path));
  }

  /**
   * All objects of the collection at `path`, read page by page, of one moment in time. When the
   * server forgets that moment before the last page, it starts over, a few times at most.
   */
  async list(path: string, selectors: Selectors = {}): Promise<readonly unknown[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#pages(path, selectors);
      } catch (error) {
        const expired = error instanceof ApiError && error.failure.status === 410;
        if (!expired || attempt === listAttemptsMax) throw error;
      }
    }
  }

  async #pages(path: string, selectors: Selectors): Promise<readonly unknown[]> {
    const items: unknown[] = [];
    let [limit, continueToken] = [pageLimit, ''];
    for (;;) {
      const request = listRequest(path, { ...selectors, limit, continueToken });
      const answer = await this.send(request).catch((error: unknown) => {
        if (!(error instanceof TooLongError) || limit === 1) throw error;
        return null;
      });
      if (answer === null) {
        limit = Math.trunc(limit / 2);
        continue;
      }
      const page = asRecord(answer);
      for (const item of asList(page.items)) items.push(item);
      continueToken = asText(asRecord(page.metadata).continue);
      if (continueToken === '') return items;
    }
  }

  #exchange(request: ApiRequest): Promise<Answer> {
    const { transport, signal, requestTimeout } = this.#options;
    const limit = requestTimeout ?? requestMsMax;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const collector = new AnswerCollector();
      const hear = (input: ExchangeInput): void => {
        const answer = collector.take(input);
        if (answer) finish(() => resolve(answer));
      };
      const onAbort = (): void => finish(() => reject(signal?.reason));
      const within = limit < 1000 ? `${limit}ms` : formatDuration(limit);
      const message = `no answer within ${within}`;
      const giveUp = (): void => finish(() => resolve({ kind: 'none', message }));
      const timer = limit > 0 ? setTimeout(giveUp, limit) : null;
      let hangUp: (() => void) | null = null;
      const finish = (end: () => void): void => {
        if (timer) clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        hangUp?.();
        end();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      hangUp = transport.send(request, inputSink('', hear));
    });
  }
}

function httpDate(text = ''): Instant | null {
  const millis = Date.parse(text);
  return Number.isNaN(millis) ? null : millis;
}
