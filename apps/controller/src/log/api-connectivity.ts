import type { Notice } from '@taintmgr/k8s-adapter';

/** Remembers which reads fail, to log when one works again and never twice the same. */
export class ApiConnectivity {
  readonly #lost = new Set<string>();
  #pages = false;

  /** Whether a collection can be read again after a failure. */
  isRestored(notice: Notice): boolean {
    if (notice.kind === 'reconnecting') this.#lost.add(notice.resource);
    return notice.kind === 'watching' && this.#lost.delete(notice.resource);
  }

  /** Whether the log has it already: a server lists all collections as it lists one. */
  isKnown({ kind }: Notice): boolean {
    if (kind !== 'pagedLists') return false;
    const known = this.#pages;
    this.#pages = true;
    return known;
  }
}
