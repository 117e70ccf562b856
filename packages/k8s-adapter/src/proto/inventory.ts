import { type Identity, identityOf } from './convert.ts';
import type { ObjectEvent } from './watch-event.ts';

/** A difference between what was known and what is. */
export type Change<T> =
  | { readonly kind: 'upsert'; readonly item: T }
  | { readonly kind: 'delete'; readonly name: string; readonly uid: string };

/** Keeps of an object what is needed; null: the object does not concern us. */
export type Project<T> = (object: unknown) => T | null;

interface Known {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What a list under way has shown so far; nobody sees it before the last page. */
interface Pages<T> {
  readonly seen: Map<string, Known>;
  readonly changed: Map<string, T>;
}

/**
 * Which objects are known, and in which version: just enough to turn watch events and lists into
 * differences. An object deleted and made anew under the same name is a delete and an upsert.
 */
export class Inventory<T> {
  #known = new Map<string, Known>();
  #pages: Pages<T> = { seen: new Map(), changed: new Map() };
  readonly #project: Project<T>;

  constructor(project: Project<T>) {
    this.#project = project;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Of everything that is known. */
  *uids(): Iterable<string> {
    for (const { uid } of this.#known.values()) yield uid;
  }

  /** Takes a change that a watch tells. */
  take(event: ObjectEvent): readonly Change<T>[] {
    return event.kind === 'delete'
      ? this.#delete(event.identity)
      : this.#upsert(event.identity, event.object);
  }

  #upsert(identity: Identity, object: unknown): readonly Change<T>[] {
    const key = keyOf(identity);
    const known = this.#known.get(key);
    const item = this.#project(object);
    const changes: Change<T>[] = [];
    if (known && (item === null || known.uid !== identity.uid)) {
      this.#known.delete(key);
      changes.push({ kind: 'delete', name: identity.name, uid: known.uid });
    }
    if (item !== null) {
      this.#known.set(key, versionOf(identity));
      changes.push({ kind: 'upsert', item });
    }
    return changes;
  }

  /** Nothing when another one of the name is known. */
  #delete(identity: Identity): readonly Change<T>[] {
    const key = keyOf(identity);
    if (this.#known.get(key)?.uid !== identity.uid) return [];
    this.#known.delete(key);
    return [{ kind: 'delete', name: identity.name, uid: identity.uid }];
  }

  /** Forgets the pages of a list that did not come to its end. */
  beginList(): void {
    this.#pages = { seen: new Map(), changed: new Map() };
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
    const key = keyOf(identity);
    this.dropListed(identity);
    const known = this.#known.get(key);
    if (known?.uid === identity.uid && known.resourceVersion === identity.resourceVersion) {
      seen.set(key, known);
      return;
    }
    const item = this.#project(object);
    if (item === null) return;
    seen.set(key, versionOf(identity));
    changed.set(key, item);
  }

  /** Forgets one object of a list that is gone before its end. */
  dropListed(identity: Identity): void {
    const key = keyOf(identity);
    this.#pages.seen.delete(key);
    this.#pages.changed.delete(key);
  }

  /** The list is complete: from now on it is what is known. */
  endList(): readonly Change<T>[] {
    const { seen, changed } = this.#pages;
    const changes: Change<T>[] = [];
    for (const [key, { uid }] of this.#known) {
      if (seen.get(key)?.uid !== uid) changes.push({ kind: 'delete', name: nameOf(key), uid });
    }
    for (const item of changed.values()) changes.push({ kind: 'upsert', item });
    this.#known = seen;
    this.beginList();
    return changes;
  }
}

function versionOf({ uid, resourceVersion }: Identity): Known {
  return { uid, resourceVersion };
}

function keyOf({ namespace, name }: Identity): string {
  return `${namespace}/${name}`;
}

function nameOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}
