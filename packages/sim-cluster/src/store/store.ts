import type { ReportBug } from '../kernel/bug.ts';
import { freeze } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Change } from './cluster-api.ts';
import { Collection } from './collection.ts';
import type { Recorded } from './history.ts';

export interface StoreOptions {
  /** The resourceVersion of the empty store; the first write gets the next one. */
  readonly startRv: number;
  /** The number of past changes kept for each resource. */
  readonly historyLength: number;
  /**
   * True if new or changed objects of a resource are frozen; default: all are. Freezing takes
   * longer than everything else where the cluster's own parts, which are known not to change what
   * they read, write most objects.
   */
  readonly freezes?: (resource: string, isNew: boolean) => boolean;
  /** The store whose objects it begins with; their past is unknown. */
  readonly from?: Store;
  /**
   * Receives errors that listeners throw; the other listeners still hear of the change. Left out:
   * the error is thrown.
   */
  readonly reportBug?: ReportBug;
}

/** A listener for changes; null: of all resources. */
interface Listener {
  hear(change: Recorded): void;
  readonly resources: ReadonlySet<string> | null;
}

/**
 * All objects of the cluster: one writer, one counter of resourceVersions. One strictly rising
 * counter numbers every write of every resource; there is one writer, `commit`. Listeners hear
 * changes in the order of writes, also of those that listeners make while a change is being published.
 */
export class Store {
  #rv: number;
  #expiredThrough: number;
  #historyLength: number;
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<Listener>();
  /** The listeners of each resource, in the order of all listeners. */
  readonly #hearing = new Map<string, readonly Listener[]>();
  readonly #unpublished: Recorded[] = [];
  #publishing = false;
  readonly #freezes: NonNullable<StoreOptions['freezes']>;
  readonly #reportBug: ReportBug | null;

  constructor(options: StoreOptions) {
    this.#rv = options.from?.rv ?? options.startRv;
    this.#expiredThrough = this.#rv;
    this.#historyLength = options.historyLength;
    this.#freezes = options.freezes ?? (() => true);
    this.#reportBug = options.reportBug ?? null;
    if (options.from) this.#takeOver(options.from);
  }

  #takeOver(other: Store): void {
    for (const [resource, collection] of other.#collections) {
      this.collection(resource).takeOver(collection);
    }
  }

  /** The resourceVersion of the newest write. */
  get rv(): number {
    return this.#rv;
  }

  /** The objects of one stored resource, by plural name. */
  collection(resource: string): Collection {
    let collection = this.#collections.get(resource);
    if (!collection) {
      const indexed = resource === 'pods' ? nodeNameOf : null;
      collection = new Collection(this.#expiredThrough, this.#historyLength, indexed);
      this.#collections.set(resource, collection);
    }
    return collection;
  }

  /** The present object, or null. */
  get(resource: string, namespace: string, name: string): KubeObject | null {
    return this.collection(resource).named(namespace, name);
  }

  /**
   * Stores a new state of an object (its first one for `previous` null) under the next rv. History
   * keeps the last state as well, so share with it what did not change.
   */
  put(resource: string, object: KubeObject, previous: KubeObject | null): KubeObject {
    return this.#commit(resource, previous ? 'MODIFIED' : 'ADDED', object, previous);
  }

  /** Leaves out a resourceVersion: something happened of which nothing is kept. */
  skipVersion(): void {
    this.#rv++;
  }

  /** Removes an object; its last state, given as `object`, gets the rv of the removal. */
  remove(resource: string, object: KubeObject): KubeObject {
    return this.#commit(resource, 'DELETED', object, object);
  }

  /**
   * Calls `hear` after each write, in the order of writes, until the result is called. `resources`:
   * of these alone; left out: of all.
   */
  subscribe(hear: Listener['hear'], resources: ReadonlySet<string> | null = null): () => void {
    const listener = { hear, resources };
    this.#listeners.add(listener);
    this.#hearing.clear();
    return () => {
      this.#listeners.delete(listener);
      this.#hearing.clear();
    };
  }

  #listenersTo(resource: string): readonly Listener[] {
    const known = this.#hearing.get(resource);
    if (known) return known;
    const hearing = [...this.#listeners].filter(
      ({ resources }) => resources?.has(resource) ?? true,
    );
    this.#hearing.set(resource, hearing);
    return hearing;
  }

  /** Forgets past states and events up to now, as a compaction does. */
  compact(): void {
    this.#expiredThrough = this.#rv;
    for (const collection of this.#collections.values()) collection.history.expire(this.#rv);
  }

  /** Sets how many past changes of each resource are kept; fewer than before forgets at once. */
  setHistoryLength(length: number): void {
    this.#historyLength = length;
    for (const collection of this.#collections.values()) collection.history.resize(length);
  }

  #commit(
    resource: string,
    type: Change['type'],
    object: KubeObject,
    previous: KubeObject | null,
  ): KubeObject {
    const rv = ++this.#rv;
    const metadata = { ...object.metadata, resourceVersion: String(rv) };
    const stored = { ...object, metadata };
    if (this.#freezes(resource, !previous)) freeze(stored);
    const collection = this.collection(resource);
    const key = collection.keyOf(metadata.namespace ?? '', metadata.name);
    const change: Recorded = { type, resource, object: stored, previous, rv, key };
    collection.apply(change);
    this.#unpublished.push(change);
    this.#publish();
    return stored;
  }

  #publish(): void {
    if (this.#publishing) return;
    this.#publishing = true;
    try {
      for (let next = this.#unpublished.shift(); next; next = this.#unpublished.shift()) {
        for (const listener of this.#listenersTo(next.resource)) {
          // A listener that has left meanwhile hears nothing more.
          if (this.#listeners.has(listener)) this.#notify(listener, next);
        }
      }
    } finally {
      this.#publishing = false;
    }
  }

  #notify(listener: Listener, change: Recorded): void {
    try {
      listener.hear(change);
    } catch (error) {
      if (!this.#reportBug) throw error;
      this.#reportBug(error, `hearing of a change of ${change.resource} ${change.key}`);
    }
  }
}

function nodeNameOf(pod: KubeObject): string {
  return pod.spec?.nodeName ?? '';
}
