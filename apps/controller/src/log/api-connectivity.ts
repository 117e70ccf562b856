import type { Notice } from '@taintmgr/k8s-adapter';

/** Remembers which reads fail, to log when one works again and never twice the same. */
export class ApiConnectivity {
  readonly #lost = new Set<string>();
  readonly #known = new Set<string>();

  /** Tells whether a collection can be read again after a failure. */
  isRestored(notice: Notice): boolean {
    if (notice.kind === 'reconnecting') this.#lost.add(notice.resource);
    return notice.kind === 'watching' && this.#lost.delete(notice.resource);
  }

  /** Tells whether the log has it already: a server lists all collections as it lists one. */
  isKnown(notice: Notice): boolean {
    if (notice.kind !== 'pagedLists' && notice.kind !== 'jsonOnly') return false;
    // Formats are a matter of each collection: other servers may stand behind some.
    const what = notice.kind === 'jsonOnly' ? `jsonOnly ${notice.resource}` : notice.kind;
    const isKnown = this.#known.has(what);
    this.#known.add(what);
    return isKnown;
  }
}
