// The answers of webhooks about one request. Webhooks are asked over the network, while the rest of
// a write is worked out at once. So a write that needs an answer breaks off, and is worked out
// again, with the objects stored by then, when the answer has arrived.
import type { ApiError } from '../objects/errors.ts';

/** The result of asking one webhook. */
export interface Said {
  /** Null: nothing stands against the request. */
  readonly refusal: ApiError | null;
  /** Texts for the Warning header. */
  readonly warnings: readonly string[];
}

/** The answers to one request, by their questions, in the order in which they came. */
export class WebhookAnswers {
  readonly #said = new Map<string, Said>();
  #first: unknown = null;

  /** The answer to a question; undefined while there is none. */
  get(question: string): Said | undefined {
    return this.#said.get(question);
  }

  /** Keeps the answer to a question. */
  set(question: string, said: Said): void {
    this.#said.set(question, said);
  }

  /** The answers to these questions, the earliest first. */
  among(questions: ReadonlySet<string>): readonly Said[] {
    return [...this.#said].flatMap(([question, said]) => (questions.has(question) ? [said] : []));
  }

  /** The result of the first run, for work that must not be repeated. */
  once<T>(work: () => T): T {
    this.#first ??= work();
    return this.#first as T;
  }
}

/** Thrown by a write that needs answers; `ask` gets them and then calls `done`. */
export class Unanswered extends Error {
  /** Asks the webhooks, then calls `done`; returns the way to give up. */
  readonly ask: (done: () => void) => () => void;

  constructor(ask: (done: () => void) => () => void) {
    super('webhooks have to be asked first');
    this.name = 'Unanswered';
    this.ask = ask;
  }
}
