import type { Notice } from '@taintmgr/k8s-adapter';

/** Remembers which reads fail, to log when one works again and never twice the same. */
export class Contact {
  readonly #lost = new Set<string>();
  #pages = false;

  /** Whether this says that contact is back. */
  regains(notice: Notice): boolean {
    if (notice.kind === 'reconnecting') this.#lost.add(notice.resource);
    return notice.kind === 'watching' && this.#lost.delete(notice.resource);
  }

  /** Whether this has been said: how a server lists one collection, it lists all. */
  knows({ kind }: Notice): boolean {
    if (kind !== 'pagedLists') return false;
    const known = this.#pages;
    this.#pages = true;
    return known;
  }
}
