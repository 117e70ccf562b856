import type { Change, ClusterApi } from '../store/cluster-api.ts';
import type { Lookup } from './lookup.ts';
import { WorkQueue } from './work-queue.ts';

/** The dependencies of every part of the cluster beside the API server. */
export interface ControllerContext {
  /** The API under the name of the part. */
  readonly api: ClusterApi;
  /** The objects by their relations: pods by node, dependents by owner. */
  readonly lookup: Lookup;
}

/**
 * A part of the cluster that watches and writes, one key at a time. It is level-triggered: a change
 * only says which keys to look at again (`notice`), and looking (`sync`) compares what is stored
 * with what should be. So events before `start`, or while the controller was stopped, do not
 * matter.
 */
export abstract class Controller {
  /** The API under the name of the part. */
  protected readonly api: ClusterApi;
  /** The objects by their relations. */
  protected readonly lookup: Lookup;
  /** The keys that wait for `sync`. */
  protected readonly queue: WorkQueue;
  #unsubscribe: (() => void) | null = null;

  /** `gatherMs` is how long the first change waits for others before they are answered. */
  constructor({ api, lookup }: ControllerContext, gatherMs = 0) {
    this.api = api;
    this.lookup = lookup;
    this.queue = new WorkQueue(api.clock, (key) => this.sync(key), gatherMs);
  }

  /** The resources whose changes it is to hear of; null: of all. */
  protected get follows(): ReadonlySet<string> | null {
    return null;
  }

  /** True if it has answered every change so far. */
  get isIdle(): boolean {
    return this.queue.isIdle;
  }

  /** Follows changes, and takes up what exists; a second call does nothing. */
  start(): void {
    if (this.#unsubscribe) return;
    this.#unsubscribe = this.api.subscribe((change) => this.notice(change), this.follows);
    this.begin();
  }

  /** Leaves nothing pending. */
  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.queue.clear();
  }

  /** Takes up what exists. */
  protected abstract begin(): void;

  /** Adds the keys that a change concerns; writes nothing. */
  protected abstract notice(change: Change): void;

  /** Takes the next steps for one key. A refusal by the API is tried again later. */
  protected abstract sync(key: string): void;
}
