import { type Identity, identityOf } from './convert.ts';
import type { ObjectEvent } from './watch-decoder.ts';

/** A difference between the known and the present state. */
export type ItemChange<T> =
  /** `listed`: what happened between this state and the one before it is not known. */
  | { readonly kind: 'upsert'; readonly item: T; readonly listed?: true }
  | { readonly kind: 'delete'; readonly name: string; readonly uid: string };

/** Keeps the needed part of an object; null: the object does not concern us. */
export type Project<T> = (object: unknown) => T | null;

interface Known {
  readonly uid: string;
  resourceVersion: string;
}

/**
 * The objects that a list under way has shown so far; they are not visible before the last page.
 */
class Pages<T> {
  readonly seen: ByName<Known> = new ByName();
  readonly changed: ByName<T> = new ByName();
}

/**
 * The objects that are known, with their versions: this turns watch events and lists into
 * differences. An object that is deleted and recreated under the same name is a delete and an
 * upsert. The objects of a list are reported when it is complete; a first list may be reported
 * early, object by object, so that a million of them need not be held twice.
 */
export class Inventory<T> {
  #known = new ByName<Known>();
  /** Null: objects of the list are reported at once. */
  #pages: Pages<T> | null = new Pages<T>();
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
      if (known?.uid === identity.uid) known.resourceVersion = identity.resourceVersion;
      else this.#known.set(identity, versionOf(identity));
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

  /** True if objects of the list under way are reported at once. */
  get reportsEarly(): boolean {
    return this.#pages === null;
  }

  /** Forgets the pages of a list that did not end. `early`: if nothing is known, report at once. */
  beginList(early = false): void {
    this.#pages = early && this.size === 0 ? null : new Pages();
  }

  /** Takes one page; null, and nothing taken to be true, when an item is no API object. */
  addPage(items: readonly unknown[]): readonly ItemChange<T>[] | null {
    const identities = items.map(identityOf);
    if (identities.includes(null)) return null;
    return identities.flatMap((identity, at) =>
      identity ? this.addListed(identity, items[at]) : [],
    );
  }

  /** Takes what a list that is streamed shows. */
  takeListed(event: ObjectEvent): readonly ItemChange<T>[] {
    return event.kind === 'delete'
      ? this.dropListed(event.identity)
      : this.addListed(event.identity, event.object);
  }

  /** Takes one object of a list; a later one of the same name replaces it. */
  addListed(identity: Identity, object: unknown): readonly ItemChange<T>[] {
    if (!this.#pages) return this.#upsert(identity, object).map(asListed);
    const { seen, changed } = this.#pages;
    this.dropListed(identity);
    const known = this.#known.get(identity);
    if (known?.uid === identity.uid && known.resourceVersion === identity.resourceVersion) {
      seen.set(identity, known);
      return [];
    }
    const item = this.#project(object);
    if (item === null) return [];
    seen.set(identity, versionOf(identity));
    changed.set(identity, item);
    return [];
  }

  /** Forgets one object of a list that is gone before its end. */
  dropListed(identity: Identity): readonly ItemChange<T>[] {
    if (!this.#pages) return this.#delete(identity);
    this.#pages.seen.delete(identity);
    this.#pages.changed.delete(identity);
    return [];
  }

  /**
   * The list is complete: from now on it is what is known. Returns the changes that were not
   * reported yet.
   */
  endList(): readonly ItemChange<T>[] {
    if (!this.#pages) {
      this.beginList();
      return [];
    }
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

function asListed<T>(change: ItemChange<T>): ItemChange<T> {
  return change.kind === 'upsert' ? { ...change, listed: true } : change;
}

function versionOf({ uid, resourceVersion }: Identity): Known {
  return { uid, resourceVersion };
}

/** The name of an object; the namespace is '' for those that stand in none. */
interface Name {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Values by the names of objects. A name is kept as it was given first, so that other holders of it
 * share the text; a key made of both parts would be a text more for each object.
 */
class ByName<T> {
  readonly #namespaces = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ namespace, name }: Name): T | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  set({ namespace, name }: Name, value: T): void {
    const names = this.#namespaces.get(namespace) ?? new Map<string, T>();
    if (names.size === 0) this.#namespaces.set(namespace, names);
    const before = names.size;
    names.set(name, value);
    this.#size += names.size - before;
  }

  delete({ namespace, name }: Name): void {
    const names = this.#namespaces.get(namespace);
    if (!names?.delete(name)) return;
    this.#size -= 1;
    if (names.size === 0) this.#namespaces.delete(namespace);
  }

  *entries(): Generator<readonly [name: Name, value: T]> {
    for (const [namespace, names] of this.#namespaces) {
      for (const [name, value] of names) yield [{ namespace, name }, value];
    }
  }
}
