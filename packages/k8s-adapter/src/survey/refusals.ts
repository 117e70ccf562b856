// The meaning of a refusal of the API server: nothing of the name, no right, an invalid selector.

import { UsageError } from '../text/usage-error.ts';
import { ApiError } from '../transport/errors.ts';

/** The unreadable parts for want of rights. */
export class Refusals {
  readonly #messages: string[] = [];
  /** The order of the requests: refusals are reported in that order, not as answers came. */
  readonly #turns: number[] = [];
  #asked = 0;

  /** In the API server's words, each once. */
  get messages(): readonly string[] {
    return this.#messages;
  }

  /** Returns the value; null, and noted, where rights are missing. */
  async ifAllowed<T>(read: () => Promise<T>): Promise<T | null> {
    const turn = this.#asked++;
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ApiError) || error.failure.status !== 403) throw error;
      const { message } = error.failure;
      if (this.#messages.includes(message)) return null;
      const before = this.#turns.filter((other) => other < turn).length;
      this.#turns.splice(before, 0, turn);
      this.#messages.splice(before, 0, message);
      return null;
    }
  }
}

/** Returns the value; null where there is nothing of that name. */
export function ifThere<T>(read: () => Promise<T>): Promise<T | null> {
  return unless(404, read, null);
}

/** Returns the value, or something else where the API server answers with a status. */
export async function unless<T, U>(
  status: number,
  read: () => Promise<T>,
  other: U,
): Promise<T | U> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && error.failure.status === status) return other;
    throw error;
  }
}

/**
 * Returns the objects that a given selector finds. Throws UsageError for one that the API server
 * cannot read; `flag` names the flag it came with.
 */
export async function selected<T>(
  flag: string,
  selector: string,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ApiError) || error.failure.status !== 400) throw error;
    const want = 'a label selector such as pool=blue,tier!=db';
    const got = JSON.stringify(selector);
    throw new UsageError(`${flag}: got ${got}, want ${want} (${error.failure.message})`);
  }
}
