import type { Instant, Millis } from '@taintmgr/core/time';

/** Whose pods are read: those of `all` nodes in one stream, or `byNode` of those that need it. */
export type Scope = 'all' | 'byNode';

/** Which pods are read, and when that changes. */
export interface PodWatch {
  /** `auto`: by node in a cluster that is large; `tainted-nodes`: by node in any. */
  readonly mode: 'auto' | 'tainted-nodes';
  /** A cluster with so many pods is large. */
  readonly podsMin: number;
  /** Streams at once, one for each node; where more nodes need one, all pods are read. */
  readonly nodesMax: number;
  /** Lists of single nodes that are under way at once: evictions are to find the server free. */
  readonly listsMax: number;
  /** A stream goes on for so long after its node needs it no more. */
  readonly lingerMs: Millis;
  /** All pods are read until no more than half of `nodesMax` needed it for so long. */
  readonly calmMs: Millis;
}

export const defaultPodWatch: PodWatch = {
  mode: 'auto',
  podsMin: 50_000,
  nodesMax: 64,
  listsMax: 8,
  lingerMs: 300_000,
  calmMs: 300_000,
};

/** What the choice depends on. */
interface Circumstances {
  /** Nodes whose pods are needed. */
  readonly nodes: number;
  /** Pods in the cluster. */
  readonly pods: number;
  /** Something needs the pods of all nodes. */
  readonly isAllNeeded: boolean;
  /** Lists of single nodes are under way. */
  readonly isListing: boolean;
}

/** What lists of single nodes have brought has the server to itself for so long. */
const headStartMs: Millis = 500;
/** So long they are waited for, head start and all. */
const turnMsMax: Millis = 2000;

/**
 * Chooses the scope: all, while anything needs it. Where nodes become too many, lists of the first of them
 * are under way: it turns to all a moment after these have come, so that their pods go first. Back it goes only
 * after a time of calm with half as many, so that a number near the limit does not move it to and
 * fro. A cluster that has become small is no reason to change: by node is as good there.
 */
export class ScopeChoice {
  readonly #options: PodWatch;
  #scope: Scope = 'all';
  #calmSince: Instant | null = null;
  /** Since when nodes are too many to be read by themselves; null: they are not. */
  #tooManySince: Instant | null = null;
  #headStartUntil: Instant = Number.NEGATIVE_INFINITY;

  constructor(options: PodWatch) {
    this.#options = options;
  }

  get scope(): Scope {
    return this.#scope;
  }

  /** True if all pods are read, or soon will be. */
  get isAllSoon(): boolean {
    return this.#scope === 'all' || this.#tooManySince !== null;
  }

  /** The scope to begin with. `pods` is null where that is not known. */
  begin(pods: number | null, isAllNeeded: boolean): void {
    this.#scope = this.#isLarge(pods ?? 0) && !isAllNeeded ? 'byNode' : 'all';
  }

  /** Tells whether the scope is another from now on. */
  review(now: Instant, circumstances: Circumstances): boolean {
    const { nodesMax, calmMs } = this.#options;
    const { nodes, pods, isAllNeeded, isListing } = circumstances;
    if (this.#scope === 'byNode') {
      const isTooMany = nodes > nodesMax;
      this.#tooManySince = isTooMany ? (this.#tooManySince ?? now) : null;
      return (isAllNeeded || (isTooMany && this.#isTime(now, isListing))) && this.#turn('all');
    }
    const isCalm = !isAllNeeded && nodes <= nodesMax / 2 && this.#isLarge(pods);
    this.#calmSince = isCalm ? (this.#calmSince ?? now) : null;
    const isOver = this.#calmSince !== null && now >= this.#calmSince + calmMs;
    return isOver && this.#turn('byNode');
  }

  /** When the time of calm is over, or the head start; null: there is none. */
  nextWake(): Instant | null {
    if (this.#tooManySince !== null) return this.#headStartUntil;
    return this.#calmSince === null ? null : this.#calmSince + this.#options.calmMs;
  }

  /** Tells whether the head start is over; where nothing is being listed there is none. */
  #isTime(now: Instant, isListing: boolean): boolean {
    const latest = (this.#tooManySince ?? now) + turnMsMax;
    if (isListing) this.#headStartUntil = Math.min(now + headStartMs, latest);
    return now >= this.#headStartUntil;
  }

  #turn(scope: Scope): boolean {
    this.#scope = scope;
    this.#calmSince = null;
    this.#tooManySince = null;
    return true;
  }

  #isLarge(pods: number): boolean {
    return this.#options.mode === 'tainted-nodes' || pods >= this.#options.podsMin;
  }
}
