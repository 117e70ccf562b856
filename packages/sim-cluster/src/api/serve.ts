import type { Talk } from '../handlers/front.ts';
import { type RequestInfo, readRequest } from '../handlers/request.ts';
import type { ReportBug } from '../kernel/bug.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { type Random, replaying } from '../kernel/prng.ts';
import { ApiError, internalError, messageOf } from '../objects/errors.ts';
import { deniedByWebhook } from '../objects/webhook-errors.ts';
import {
  type Answer,
  type Asking,
  chunksOf,
  errorReply,
  type Reply,
  type Stream,
} from '../wire/answer.ts';
import type { ApiRequest, Exchange, ResponseSink } from '../wire/exchange.ts';
import { Unanswered, WebhookAnswers } from '../write/webhook-answers.ts';
import { type Fault, type Faults, faultAnswer } from './faults.ts';
import { type RouterOptions, route } from './router.ts';

/** The milliseconds that a request takes; 0 for none. */
export type ServiceTime = (request: Pick<RequestInfo, 'verb' | 'path' | 'resource'>) => number;

export interface ServeOptions extends RouterOptions {
  readonly faults: Faults;
  /** Null: a mistake of this package is thrown. */
  readonly reportBug: ReportBug | null;
  readonly serviceMs: ServiceTime | null;
}

/** The exchange function of a server: routing, faults, and the life of streams. */
export function serve(options: ServeOptions): Exchange {
  const shared = { ...options, nextAuditId: countingIds() };
  return (request, sink) => {
    const connection = new Connection(shared, sink);
    connection.receive(request);
    return () => connection.close();
  };
}

/** The last date: many answers are of one second. */
let dated = { second: Number.NaN, text: '' };

function httpDate(now: number): string {
  const second = Math.floor(now / 1000);
  if (second !== dated.second) dated = { second, text: new Date(now).toUTCString() };
  return dated.text;
}

/** A new id each time it is called, in the form of a uid; equal servers give equal ids. */
function countingIds(): () => string {
  let count = 0;
  return () => `00000000-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`;
}

/** A request as its line and its form are understood. */
interface Asked {
  readonly info: RequestInfo;
  readonly talk: Talk;
}

interface ConnectionOptions extends ServeOptions {
  readonly nextAuditId: () => string;
}

/** An exchange under way: its timers and its stream end with it. */
class Connection {
  readonly #options: ConnectionOptions;
  readonly #sink: ResponseSink;
  readonly #clock: Clock;
  readonly #timers: Timer[] = [];
  readonly #cleanups: (() => void)[] = [];
  #open = true;
  /** True when nothing reaches the client any more. */
  #isMute = false;
  /** The chance of each event of a watch to come twice. */
  #repeats = 0;
  /** The headers of every answer. */
  #common: Readonly<Record<string, string>> = {};
  #talk: Talk | null = null;
  /** The request, for the report of a mistake. */
  #asked = '';
  #hasBegun = false;

  constructor(options: ConnectionOptions, sink: ResponseSink) {
    this.#options = options;
    this.#sink = sink;
    this.#clock = options.backend.clock;
  }

  /** The client hangs up, or everything is said: nothing reaches the sink any more. */
  close(): void {
    this.#open = false;
    for (const timer of this.#timers.splice(0)) timer.cancel();
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }

  receive(request: ApiRequest): void {
    this.#asked = `${request.method} ${request.path}`;
    this.#guarded(() => this.#begin(request));
  }

  /**
   * A mistake of this package ends only this exchange if it is reported, and is thrown otherwise.
   */
  #guarded(step: () => void): void {
    const { reportBug } = this.#options;
    try {
      step();
    } catch (error) {
      if (!reportBug) throw error;
      reportBug(error, this.#asked);
      if (this.#hasBegun) this.#break('reset');
      else this.#reply(this.#refusal(internalError(messageOf(error))));
    }
  }

  #begin(request: ApiRequest): void {
    const info = readRequest(request);
    const { front, faults, serviceMs } = this.#options;
    const talk = front.formats.talk(request, info);
    this.#talk = talk;
    this.#common = { 'audit-id': request.headers['audit-id'] || this.#options.nextAuditId() };
    const work = this.#worker(talk.request, info);
    const carryOut = (): Answer => this.#attempt(work);
    const fault = faults.strike(info);
    const serve = (): void => {
      if (!fault) this.#deliver(carryOut());
      else this.#suffer(fault, { info, talk }, carryOut);
    };
    const ms = serviceMs?.(info) ?? 0;
    if (ms > 0) this.#after(ms, serve);
    else serve();
  }

  /**
   * Returns a function that works out the answer, with the same uids and names each time it is
   * called.
   */
  #worker(request: ApiRequest, info: RequestInfo): () => Answer {
    const answers = new WebhookAnswers();
    const { backend, front } = this.#options;
    const draws: (() => Random) | null = front.asksOthers() ? replaying(backend.random) : null;
    return () => {
      const options = draws
        ? { ...this.#options, backend: { ...backend, random: draws() } }
        : this.#options;
      return route(options, request, info, answers);
    };
  }

  #refusal(error: ApiError): Reply {
    return this.#talk?.refuse(error) ?? errorReply(error);
  }

  #suffer(fault: Fault, { info, talk }: Asked, carryOut: () => Answer): void {
    switch (fault.kind) {
      case 'refuse':
        this.#break('reset');
        break;
      case 'lose':
        this.#lose(carryOut());
        break;
      case 'delay':
        this.#after(fault.ms, () => this.#deliver(carryOut()));
        break;
      case 'answer':
        this.#deliver(faultAnswer(fault.code, info, talk));
        break;
      case 'deny': {
        const { webhook, code, message, afterMs = 0 } = fault;
        const denied = deniedByWebhook(webhook, { code, message });
        const deliver = (): void => this.#deliver(talk.refuse(denied));
        if (afterMs > 0) this.#after(afterMs, deliver);
        else deliver();
        break;
      }
      case 'cut':
        this.#deliver(carryOut());
        this.#after(fault.afterMs, () => this.#break(fault.how));
        break;
      case 'halfOpen':
        this.#muteAfter(fault.afterMs);
        this.#deliver(carryOut());
        break;
      case 'duplicate':
        this.#repeats = fault.chance;
        this.#deliver(carryOut());
        break;
    }
  }

  /** Carries the request out to its end without sending the answer. */
  #lose(answer: Answer): void {
    if (answer.kind !== 'asking') this.#break('reset');
    else this.#afterAsking(answer, (later) => this.#lose(later));
  }

  #afterAsking({ ask, answer }: Asking, go: (answer: Answer) => void): void {
    this.#cleanups.push(ask(() => this.#guarded(() => go(this.#attempt(answer)))));
  }

  #muteAfter(ms: number): void {
    this.#cleanups.push(this.#options.faults.track(() => this.#break('reset')));
    if (ms <= 0) this.#isMute = true;
    else
      this.#after(ms, () => {
        this.#isMute = true;
      });
  }

  #attempt(answer: () => Answer): Answer {
    try {
      return answer();
    } catch (error) {
      if (error instanceof Unanswered) return { kind: 'asking', ask: error.ask, answer };
      if (error instanceof ApiError) return this.#refusal(error);
      throw error;
    }
  }

  #deliver(answer: Answer): void {
    switch (answer.kind) {
      case 'reply':
        this.#reply(answer);
        break;
      case 'later':
        this.#after(answer.delayMs, () => this.#deliver(this.#attempt(answer.answer)));
        break;
      case 'asking':
        this.#afterAsking(answer, (later) => this.#deliver(later));
        break;
      case 'stream':
        this.#stream(answer);
        break;
    }
  }

  #reply(json: Reply): void {
    if (this.#isMute) return;
    const reply = this.#talk?.reply(json) ?? json;
    this.#head(reply.status, reply.headers);
    if (reply.value && this.#sink.value) this.#sink.value(reply.value);
    else this.#body(reply);
    this.#break('end');
  }

  #body(reply: Reply): void {
    for (const chunk of chunksOf(reply)) if (this.#open && chunk !== '') this.#sink.data(chunk);
  }

  #stream({ headers, start }: Stream): void {
    if (!this.#isMute) this.#head(200, headers);
    const { faults } = this.#options;
    this.#cleanups.push(faults.track(() => this.#break('reset')));
    const sink = this.#sink;
    const emit = (say: () => void): void => {
      if (!this.#open || this.#isMute) return;
      say();
      if (this.#repeats > 0 && faults.happens(this.#repeats)) say();
    };
    const value = sink.value ? (event: object) => emit(() => sink.value?.(event)) : null;
    const data = (chunk: string | Uint8Array): void => emit(() => sink.data(chunk));
    const stop = start({ data, value }, () => this.#break('end'));
    // The stream may have ended while it was starting.
    if (this.#open) this.#cleanups.push(stop);
    else stop();
  }

  /** Dated by the server's own clock, in whole seconds, as HTTP has it. */
  #head(status: number, headers: Readonly<Record<string, string>>): void {
    const date = httpDate(this.#clock.now());
    this.#hasBegun = true;
    this.#sink.head(status, { date, ...this.#common, ...headers });
  }

  #break(how: 'end' | 'reset'): void {
    if (!this.#open || (this.#isMute && how === 'end')) return;
    this.close();
    if (how === 'end') this.#sink.end();
    else this.#sink.reset();
  }

  #after(ms: number, callback: () => void): void {
    if (this.#open) this.#timers.push(this.#clock.after(ms, () => this.#guarded(callback)));
  }
}
