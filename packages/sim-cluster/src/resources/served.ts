// The resources that one API server serves: those of every server, and those that were defined in it.
import type { Resource } from './resource.ts';
import { apiVersionOf, resources } from './resources.ts';

const none: readonly Resource[] = [];

/** The resources of one server. They are looked up, never kept: definitions come and go. */
export class ServedResources {
  /** The kinds that the cluster's own parts may look for, served or not. */
  readonly #stored: readonly Resource[];
  readonly #always: readonly Resource[];
  readonly #defined = new Map<string, readonly Resource[]>();
  readonly #listeners = new Set<(storeKey: string) => void>();
  #all: readonly Resource[];
  #byPath: Index;
  #byKind: Index;
  #byStoreKey: Index;
  #revision = 0;

  /** Serves the kinds of every cluster, and these; `serves` leaves out what an older server does not serve. */
  constructor(kinds: readonly Resource[] = none, serves?: (resource: Resource) => boolean) {
    const tables = tablesWith(kinds);
    const all = serves ? tables.all.filter(serves) : tables.all;
    this.#stored = tables.all;
    this.#always = all;
    this.#all = all;
    this.#byPath = serves ? byPath(all) : tables.byPath;
    this.#byKind = serves ? byKind(all) : tables.byKind;
    this.#byStoreKey = tables.byStoreKey;
  }

  /** All of them, those of every server first. */
  get all(): readonly Resource[] {
    return this.#all;
  }

  /** Changes whenever something else is served than before. */
  get revision(): number {
    return this.#revision;
  }

  /** The resource served under a path, or null. */
  find(group: string, version: string, plural: string): Resource | null {
    return this.#byPath.get(`${group}/${version}/${plural}`) ?? null;
  }

  /** The resource of a kind such as `apps/v1` `DaemonSet`, or null. */
  findKind(apiVersion: string, kind: string): Resource | null {
    return this.#byKind.get(`${apiVersion}/${kind}`) ?? null;
  }

  /** The resource stored under a key. Throws for a key that stands for nothing. */
  stored(storeKey: string): Resource {
    const entry = this.#byStoreKey.get(storeKey);
    if (!entry) throw new Error(`no resource is stored as ${JSON.stringify(storeKey)}`);
    return entry;
  }

  /**
   * Serves the versions of a custom resource, in place of those served before; with none the
   * resource is gone.
   */
  define(storeKey: string, versions: readonly Resource[]): void {
    if (versions.length > 0) this.#defined.set(storeKey, versions);
    else this.#defined.delete(storeKey);
    const defined = [...this.#defined.values()].flat();
    this.#all = [...this.#always, ...defined];
    this.#byPath = byPath(this.#all);
    this.#byKind = byKind(this.#all);
    this.#byStoreKey = byStoreKey([...this.#stored, ...defined]);
    this.#revision++;
    for (const listener of this.#listeners) listener(storeKey);
  }

  /** Calls `listener` when a custom resource is served in another way, until the result is called. */
  subscribe(listener: (storeKey: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

type Index = ReadonlyMap<string, Resource>;

function byPath(entries: readonly Resource[]): Index {
  return new Map(entries.map((entry) => [`${apiVersionPath(entry)}/${entry.plural}`, entry]));
}

const apiVersionPath = ({ group, version }: Resource): string => `${group}/${version}`;

function byKind(entries: readonly Resource[]): Index {
  return new Map(entries.map((entry) => [`${apiVersionOf(entry)}/${entry.kind}`, entry]));
}

function byStoreKey(entries: readonly Resource[]): Index {
  const stored = entries.map((entry) => entry.storage ?? entry);
  return new Map(stored.map((entry) => [entry.storeKey, entry]));
}

interface Tables {
  readonly all: readonly Resource[];
  readonly byPath: Index;
  readonly byKind: Index;
  readonly byStoreKey: Index;
}

const tables = new WeakMap<readonly Resource[], Tables>();

/** The tables of every server with the same kinds, found without a second lookup. */
function tablesWith(kinds: readonly Resource[]): Tables {
  const known = tables.get(kinds);
  if (known) return known;
  const all = [...resources, ...kinds];
  const made = { all, byPath: byPath(all), byKind: byKind(all), byStoreKey: byStoreKey(all) };
  tables.set(kinds, made);
  return made;
}
