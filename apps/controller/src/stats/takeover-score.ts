// Counts what became of pods in namespaces that were handed over, since this replica leads.
import type { Millis } from '@taintmgr/core/time';
import type { Notice } from '@taintmgr/k8s-adapter';

/** How many pods of a namespace went, and by whom. */
export interface Went {
  readonly evicted: number;
  readonly letThrough: number;
}

/** So long one that was let through is worth a failing health check. */
const newsMs: Millis = 300_000;

/** Counts evictions of ours, and those that kube-controller-manager was let through with. */
export class TakeoverScore {
  readonly #went = new Map<string, Went>();
  /** The last one that was let through, and when, on our monotonic clock. */
  #last: { readonly message: string; readonly at: Millis } | null = null;

  observe(notice: Notice): void {
    if (notice.kind === 'elected' && notice.held) this.#went.clear();
    if (notice.kind !== 'commandFinished' || notice.outcome.kind !== 'done') return;
    this.#add(notice.command.pod.namespace, { evicted: 1, letThrough: 0 });
  }

  letThrough(namespace: string, message: string): void {
    this.#add(namespace, { evicted: 0, letThrough: 1 });
    this.#last = { message, at: performance.now() };
  }

  /** What was let through lately, in words; null: nothing. */
  get news(): string | null {
    const last = this.#last;
    return last !== null && performance.now() - last.at < newsMs ? last.message : null;
  }

  /** By namespace. */
  get went(): ReadonlyMap<string, Went> {
    return this.#went;
  }

  #add(namespace: string, { evicted, letThrough }: Went): void {
    const went = this.#went.get(namespace) ?? { evicted: 0, letThrough: 0 };
    this.#went.set(namespace, {
      evicted: went.evicted + evicted,
      letThrough: went.letThrough + letThrough,
    });
  }
}
