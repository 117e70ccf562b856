import type { Notice } from '@taintmgr/k8s-adapter';

/** Remembers what could not be read, so that it can be told when it can be again. */
export class Contact {
  readonly #lost = new Set<string>();

  /** Whether this says that contact is back. */
  regains(notice: Notice): boolean {
    if (notice.kind === 'reconnecting') this.#lost.add(notice.resource);
    return notice.kind === 'watching' && this.#lost.delete(notice.resource);
  }
}
