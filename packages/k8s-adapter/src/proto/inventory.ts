import { ByName } from './by-name.ts';
import { type Identity, identityOf } from './convert.ts';
import type { ObjectEvent } from './watch-event.ts';

/** A difference between what was known and what is. */
export type ItemChange<T> =
  /** `listed`: what happened between this state and the one before it is not known. */
  | { readonly kind: 'upsert'; readonly item: T; readonly listed?: true }
  | { readonly kind: 'delete'; readonly name: string; readonly uid: string };

/** Keeps of an object what is needed; null: the object does not concern us. */
export type Project<T> = (object: unknown) => T | null;

interface Known {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What a list under way has shown so far; nobody sees it before the last page. */
class Pages<T> {
  readonly seen: ByName<Known> = new ByName();
  readonly changed: ByName<T> = new ByName();
}

/**
 * Which objects are known, and in which version: what turns watch events and lists into
 * differences. An object deleted and made anew under the same name is a delete and an upsert.
 */
export class Inventory<T> {
  #known = new ByName<Known>();
  #pages = new Pages<T>();
  readonly #project: Project<T>;

  constructor(project: Project<T>) {
    this.#project = project;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Of everything that is known. */
  *uids(): Iterable<string> {
    for (const [, { uid }] of this.#known.entries()) yield uid;
  }

  /** Takes a change from a watch. */
  take(event: ObjectEvent): readonly ItemChange<T>[] {
    return event.kind === 'delete'
      ? this.#delete(event.identity)
      : this.#upsert(event.identity, event.object);
  }

  #upsert(identity: Identity, object: unknown): readonly ItemChange<T>[] {
    const known = this.#known.get(identity);
    const item = this.#project(object);
    const changes: ItemChange<T>[] = [];
    if (known && (item === null || known.uid !== identity.uid)) {
      this.#known.delete(identity);
      changes.push({ kind: 'delete', name: identity.name, uid: known.uid });
    }
    if (item !== null) {
      this.#known.set(identity, versionOf(identity));
      changes.push({ kind: 'upsert', item });
    }
    return changes;
  }

  /** Nothing when another one of the name is known. */
  #delete(identity: Identity): readonly ItemChange<T>[] {
    if (this.#known.get(identity)?.uid !== identity.uid) return [];
    this.#known.delete(identity);
    return [{ kind: 'delete', name: identity.name, uid: identity.uid }];
  }

  /** Forgets the pages of a list that did not come to its end. */
  beginList(): void {
    this.#pages = new Pages();
  }

  /** Takes one page; false, and nothing taken to be true, when an item is no API object. */
  addPage(items: readonly unknown[]): boolean {
    for (const object of items) {
      const identity = identityOf(object);
      if (!identity) return false;
      this.addListed(identity, object);
    }
    return true;
  }

  /** Takes one object of a list; a later one of the same name replaces it. */
  addListed(identity: Identity, object: unknown): void {
    const { seen, changed } = this.#pages;
    this.dropListed(identity);
    const known = this.#known.get(identity);
    if (known?.uid === identity.uid && known.resourceVersion === identity.resourceVersion) {
      seen.set(identity, known);
      return;
    }
    const item = this.#project(object);
    if (item === null) return;
    seen.set(identity, versionOf(identity));
    changed.set(identity, item);
  }

  /** Forgets one object of a list that is gone before its end. */
  dropListed(identity: Identity): void {
    this.#pages.seen.delete(identity);
    this.#pages.changed.delete(identity);
  }

  /** The list is complete: from now on it is what is known. */
  endList(): readonly ItemChange<T>[] {
    const { seen, changed } = this.#pages;
    const changes: ItemChange<T>[] = [];
    for (const [name, { uid }] of this.#known.entries()) {
      if (seen.get(name)?.uid !== uid) changes.push({ kind: 'delete', name: name.name, uid });
    }
    for (const [, item] of changed.entries()) changes.push({ kind: 'upsert', item, listed: true });
    this.#known = seen;
    this.beginList();
    return changes;
  }
}

function versionOf({ uid, resourceVersion }: Identity): Known {
  return { uid, resourceVersion };
}
