// The objects of a kind in the cluster, and those that a client may have acted on.
import type { Change, ClusterApi, KubeObject } from '@taintmgr/sim-cluster';
import type { ApiHistory } from './api-history.ts';
import type { Followed } from './knowledge.ts';

/** All objects of the kind from one instant on. */
export interface StoredSet<T> {
  readonly at: number;
  readonly items: readonly T[];
}

/** An object for as long as its content was the same. */
export interface Version<T> {
  readonly item: T;
  readonly from: number;
  /** Infinity: it still does. */
  readonly to: number;
}

interface SetOptions<T> {
  readonly resource: string;
  readonly followed: Followed;
  /**
   * Returns the relevant part of an object; while that part stays the same, nothing has changed.
   */
  readonly read: (object: KubeObject) => T;
  /** The objects that exist before the first report. */
  readonly first?: readonly KubeObject[];
}

/** Every set of objects of one kind since the beginning, as the API reported them. */
export class StoredSets<T extends { readonly name: string }> {
  readonly #sets: StoredSet<T>[];
  readonly #options: SetOptions<T>;
  readonly #apiHistory: ApiHistory;
  readonly #now: () => number;

  constructor(api: ClusterApi, apiHistory: ApiHistory, options: SetOptions<T>) {
    const { first = [], read } = options;
    this.#sets = [{ at: Number.NEGATIVE_INFINITY, items: first.map(read) }];
    this.#options = options;
    this.#apiHistory = apiHistory;
    this.#now = () => api.clock.now();
    api.subscribe((change) => this.#record(change));
  }

  get all(): readonly StoredSet<T>[] {
    return this.#sets;
  }

  /** True if a run had read them by then. */
  isRead(run: number, at: number): boolean {
    return this.#apiHistory.known.upTo(run, this.#options.followed, at) > Number.NEGATIVE_INFINITY;
  }

  /** All sets that a decision of that run may have been based on. */
  known(run: number, decidedAt: number): readonly (readonly T[])[] {
    const known = this.#apiHistory.known.inTurnUpTo(run, this.#options.followed, decidedAt);
    return this.#sets
      .filter(({ at }, index) => at <= decidedAt && this.#endOf(index) >= known)
      .map(({ items }) => items);
  }

  /** The objects at an instant. */
  at(instant: number): readonly T[] {
    return this.#sets.findLast((set) => set.at <= instant)?.items ?? [];
  }

  /** Everything that ever was there, as long as it said the same. */
  get versions(): readonly Version<T>[] {
    const versions: { item: T; from: number; to: number }[] = [];
    for (const [index, { at, items }] of this.#sets.entries()) {
      for (const item of items) {
        const known = versions.find((one) => one.item === item);
        if (known) known.to = this.#endOf(index);
        else versions.push({ item, from: at, to: this.#endOf(index) });
      }
    }
    return versions;
  }

  /** True if that run heard of a version before `by`, while it was there. */
  heard(run: number, { from, to }: Version<T>, by: number): boolean {
    return this.#apiHistory.known.within(run, this.#options.followed, from, Math.min(to, by));
  }

  #endOf(index: number): number {
    return this.#sets[index + 1]?.at ?? Number.POSITIVE_INFINITY;
  }

  #record({ resource, type, object }: Change): void {
    if (resource !== this.#options.resource) return;
    const { name } = object.metadata;
    const items = this.at(Number.POSITIVE_INFINITY);
    const others = items.filter((item) => item.name !== name);
    if (type === 'DELETED') {
      this.#sets.push({ at: this.#now(), items: others });
      return;
    }
    const before = items.find((item) => item.name === name);
    const next = this.#options.read(object);
    if (before && JSON.stringify(before) === JSON.stringify(next)) return;
    this.#sets.push({ at: this.#now(), items: [...others, next] });
  }
}
