// What one API server serves: the resources of every server, and those that were defined in it.
import type { Resource } from './resource.ts';
import { apiVersionOf, resources } from './resources.ts';

/** The resources of one server. They are looked up, never kept: definitions come and go. */
export class ServedResources {
  readonly #defined = new Map<string, readonly Resource[]>();
  readonly #listeners = new Set<(storeKey: string) => void>();
  #all: readonly Resource[] = resources;
  #byPath = always.byPath;
  #byKind = always.byKind;
  #byStoreKey = always.byStoreKey;
  #revision = 0;

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

  /** Serves the versions of a custom resource, in place of those served before; none: not at all. */
  define(storeKey: string, versions: readonly Resource[]): void {
    if (versions.length > 0) this.#defined.set(storeKey, versions);
    else this.#defined.delete(storeKey);
    this.#all = [...resources, ...[...this.#defined.values()].flat()];
    this.#byPath = byPath(this.#all);
    this.#byKind = byKind(this.#all);
    this.#byStoreKey = byStoreKey(this.#all);
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

/** Those of every server, which are found without looking twice. */
const always = {
  byPath: byPath(resources),
  byKind: byKind(resources),
  byStoreKey: byStoreKey(resources),
} as const;
