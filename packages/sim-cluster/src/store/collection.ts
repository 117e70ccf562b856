import type { KubeObject } from '../objects/kube-object.ts';
import { History, type Recorded } from './history.ts';

const chunkLengthMax = 1024;

/** The first index whose element is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * An ordered set of strings in chunks of bounded length, so that adding one of 150,000 keys moves
 * at most a thousand others and a list never sorts. Order is by UTF-16 code unit, which for
 * object names is the byte order of the real server's storage keys.
 */
export class SortedKeys {
  readonly #chunks: string[][];

  /** The keys of `other`, or none. */
  constructor(other: SortedKeys | null = null) {
    this.#chunks = other ? other.#chunks.map((chunk) => [...chunk]) : [[]];
  }

  add(key: string): void {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at] as string[];
    const index = lowerBound(chunk, key);
    if (chunk[index] === key) return;
    chunk.splice(index, 0, key);
    if (chunk.length > chunkLengthMax) {
      this.#chunks.splice(at + 1, 0, chunk.splice(chunkLengthMax >>> 1));
    }
  }

  delete(key: string): void {
    const at = this.#chunkFor(key);
    const chunk = this.#chunks[at] as string[];
    const index = lowerBound(chunk, key);
    if (chunk[index] !== key) return;
    chunk.splice(index, 1);
    if (chunk.length === 0 && this.#chunks.length > 1) this.#chunks.splice(at, 1);
  }

  /** The keys in [from, to), in order. */
  *range(from: string, to: string): Generator<string> {
    for (let at = this.#chunkFor(from); at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at] as string[];
      for (let index = lowerBound(chunk, from); index < chunk.length; index++) {
        const key = chunk[index] as string;
        if (key >= to) return;
        yield key;
      }
    }
  }

  /** The number of keys in [from, to). */
  count(from: string, to: string): number {
    return Math.max(0, this.#rank(to) - this.#rank(from));
  }

  #rank(key: string): number {
    const at = this.#chunkFor(key);
    let before = 0;
    for (let index = 0; index < at; index++) before += (this.#chunks[index] as string[]).length;
    return before + lowerBound(this.#chunks[at] as string[], key);
  }

  /** The last chunk that starts at or before `key`; the first one when none does. */
  #chunkFor(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (((this.#chunks[middle] as string[])[0] as string) <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** A namespace's keys start with this; '' stands for all objects of the resource. */
const range = (namespace: string): readonly [string, string] =>
  namespace === '' ? ['', '\uffff'] : [`${namespace}/`, `${namespace}0`];

/** An object's key within its resource, ordered as the real server's storage orders it. */
export function objectKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** A stretch of a list, in key order. */
export interface Page {
  readonly items: readonly KubeObject[];
  /** The last key of the page when more objects follow, else null. */
  readonly lastKey: string | null;
  /** The number of objects of the namespace that follow the page, whether they match or not. */
  readonly remaining: number;
}

export interface PageQuery {
  readonly namespace: string;
  /** Start after this key; null from the beginning. */
  readonly after: string | null;
  readonly limit: number;
  /** Only objects with this indexed value; for the present state alone. */
  readonly indexed?: string;
  readonly matches: (object: KubeObject) => boolean;
}

/** The present state of an object, under one text for its key. */
interface Entry {
  readonly key: string;
  object: KubeObject;
}

/** The objects of one resource: the present ones by key, by index, and past states by history. */
export class Collection {
  readonly history: History;
  readonly #objects = new Map<string, Entry>();
  /** The same by namespace and name: to put a key together costs more than to look up both. */
  readonly #namespaces = new Map<string, Map<string, Entry>>();
  #keys = new SortedKeys();
  readonly #index = new Map<string, Set<string>>();
  readonly #indexed: ((object: KubeObject) => string) | null;
  /** All objects in key order, kept for reads before the next change. */
  #all: readonly KubeObject[] | null = null;

  /** `indexed` names the value by which objects can be looked up at once. */
  constructor(
    startRv: number,
    historyLength: number,
    indexed: ((object: KubeObject) => string) | null,
  ) {
    this.history = new History(startRv, historyLength);
    this.#indexed = indexed;
  }

  /** Takes over what there is in another one; only the store calls this, of one in which nothing is. */
  takeOver(other: Collection): void {
    this.#keys = new SortedKeys(other.#keys);
    for (const { key, object } of other.#objects.values()) this.#enter({ key, object });
    for (const [value, keys] of other.#index) this.#index.set(value, new Set(keys));
    this.#all = other.#all;
  }

  get(key: string): KubeObject | null {
    return this.#objects.get(key)?.object ?? null;
  }

  named(namespace: string, name: string): KubeObject | null {
    return this.#namespaces.get(namespace)?.get(name)?.object ?? null;
  }

  /** The key of an object: the text that is there already, for one that is. */
  keyOf(namespace: string, name: string): string {
    return this.#namespaces.get(namespace)?.get(name)?.key ?? objectKey(namespace, name);
  }

  /** The objects of a namespace, or all for '', in key order. */
  list(namespace: string): readonly KubeObject[] {
    if (namespace === '' && this.#all) return this.#all;
    const [from, to] = range(namespace);
    const objects: KubeObject[] = [];
    for (const key of this.#keys.range(from, to)) {
      objects.push((this.#objects.get(key) as Entry).object);
    }
    if (namespace === '') this.#all = objects;
    return objects;
  }

  /** The keys of the objects with this indexed value, in order. */
  #indexedKeys(value: string, from: string, to: string): readonly string[] {
    const keys = [...(this.#index.get(value) ?? [])].filter((key) => key >= from && key < to);
    return keys.sort((a, b) => (a < b ? -1 : 1));
  }

  /** A page of the present state. */
  page(query: PageQuery): Page {
    const [start, to] = range(query.namespace);
    const from = query.after === null ? start : `${query.after}\0`;
    const keys =
      query.indexed === undefined
        ? this.#keys.range(from, to)
        : this.#indexedKeys(query.indexed, from, to);
    const page = takePage(keys, (key) => this.get(key), query);
    const rest = page.lastKey === null ? 0 : this.#keys.count(`${page.lastKey}\0`, to);
    return { ...page, remaining: rest };
  }

  /** A page of the state at `rv`, which must not be before `history.expiredThrough`. */
  pageAt(rv: number, query: PageQuery): Page {
    const past = new Map<string, KubeObject | null>();
    for (const change of this.history.backTo(rv)) past.set(change.key, change.previous);
    if (past.size === 0) return this.page(query);
    const [start, to] = range(query.namespace);
    const from = query.after === null ? start : `${query.after}\0`;
    const gone = [...past.keys()].filter((key) => !this.#objects.has(key)).sort();
    const lookup = (key: string): KubeObject | null => {
      const then = past.get(key);
      return then === undefined ? this.get(key) : then;
    };
    const keys = merge(this.#keys.range(from, to), gone, from, to);
    const page = takePage(keys, lookup, query);
    if (page.lastKey === null) return { ...page, remaining: 0 };
    const next = `${page.lastKey}\0`;
    const late = [...past].filter(([key, then]) => then === null && this.#objects.has(key));
    const isNext = (key: string): boolean => key >= next && key < to;
    const lateCount = late.filter(([key]) => isNext(key)).length;
    const goneCount = gone.filter((key) => isNext(key) && past.get(key)).length;
    return { ...page, remaining: this.#keys.count(next, to) - lateCount + goneCount };
  }

  /** Takes over one change; only the store calls this. */
  apply(change: Recorded): void {
    const { key, previous } = change;
    this.#all = null;
    const isMoved =
      this.#indexed && previous && this.#indexed(previous) !== this.#indexed(change.object);
    if (this.#indexed && previous && (isMoved || change.type === 'DELETED')) {
      this.#unindex(this.#indexed(previous), key);
    }
    if (change.type === 'DELETED') this.#delete(change);
    else this.#set(change);
    if (this.#indexed && change.type !== 'DELETED' && (isMoved || !previous)) {
      this.#indexUnder(this.#indexed(change.object), key);
    }
    this.history.push(change);
  }

  #set({ key, object }: Recorded): void {
    const entry = this.#objects.get(key);
    if (entry) entry.object = object;
    else this.#add({ key, object });
  }

  #add(entry: Entry): void {
    this.#enter(entry);
    this.#keys.add(entry.key);
  }

  #enter(entry: Entry): void {
    const { namespace = '', name } = entry.object.metadata;
    this.#objects.set(entry.key, entry);
    const names = this.#namespaces.get(namespace);
    if (names) names.set(name, entry);
    else this.#namespaces.set(namespace, new Map([[name, entry]]));
  }

  #delete({ key, object }: Recorded): void {
    const { namespace = '', name } = object.metadata;
    this.#objects.delete(key);
    this.#namespaces.get(namespace)?.delete(name);
    this.#keys.delete(key);
  }

  #indexUnder(value: string, key: string): void {
    const keys = this.#index.get(value);
    if (keys) keys.add(key);
    else this.#index.set(value, new Set([key]));
  }

  #unindex(value: string, key: string): void {
    const keys = this.#index.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#index.delete(value);
  }
}

function takePage(
  keys: Iterable<string>,
  lookup: (key: string) => KubeObject | null,
  query: PageQuery,
): Omit<Page, 'remaining'> {
  const items: KubeObject[] = [];
  let lastKey = '';
  for (const key of keys) {
    const object = lookup(key);
    if (!object || !query.matches(object)) continue;
    if (items.length === query.limit) return { items, lastKey };
    items.push(object);
    lastKey = key;
  }
  return { items, lastKey: null };
}

/** Both key sequences in order; those of `extra` outside [from, to) are left out. */
function* merge(
  keys: Iterable<string>,
  extra: readonly string[],
  from: string,
  to: string,
): Generator<string> {
  const inRange = extra.filter((key) => key >= from && key < to);
  let next = 0;
  for (const key of keys) {
    while (next < inRange.length && (inRange[next] as string) < key)
      yield inRange[next++] as string;
    yield key;
  }
  while (next < inRange.length) yield inRange[next++] as string;
}
