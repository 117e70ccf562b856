// Follows a list in pages, and makes sure that the list has an end.

/** Far more than a cluster has of anything: Kubernetes is made for 150,000 pods. */
export const objectsMaxDefault = 2_000_000;
/** API servers fill their pages; what others put before them may not. */
const shortPagesMax = 100;
/** The token becomes part of the address of the next request. */
const tokenLengthMax = 8_192;

/** The message about a list that has more. */
export function tooMany(objectsMax: number): string {
  return `the list has more than ${objectsMax} objects`;
}

/** Follows the pages of one list, which a server may go on with for ever. */
export class PageWalk {
  readonly #objectsMax: number;
  readonly #tokens = new Set<string>();
  #objects = 0;
  #shortPages = 0;

  constructor(objectsMax: number = objectsMaxDefault) {
    this.#objectsMax = objectsMax;
  }

  /**
   * Takes a page with this number of objects, of `limit` that were asked for (0: all). Returns why
   * the next page, by `token`, must not be asked for; null: it may.
   */
  next(token: string, objects: number, limit: number): string | null {
    this.#objects += objects;
    if (objects < limit || objects === 0) this.#shortPages += 1;
    if (this.#tokens.has(token)) return 'the list does not go on: its continue token came before';
    this.#tokens.add(token);
    if (token.length > tokenLengthMax) {
      return `the list has a continue token of ${token.length} characters`;
    }
    if (this.#shortPages > shortPagesMax) {
      return `the list does not come to its end: more than ${shortPagesMax} of its pages are not full`;
    }
    return this.#objects > this.#objectsMax ? tooMany(this.#objectsMax) : null;
  }
}
