import { earliest, type Instant } from '../../kernel/time.ts';
import type { Pod } from '../../model/pod.ts';

interface Waiting {
  readonly uid: string;
  readonly namespace: string;
  readonly deadline: Instant;
}

/**
 * The pods that are due and that limits hold back. Whenever a limit may have opened, all of them
 * ask again: the namespaces in turn, first the one that has waited longest since one of its pods went,
 * and the pods of a namespace by their deadlines. So a namespace with a thousand pods does not keep
 * another from its share.
 */
export class LimitQueue {
  readonly #waiting = new Map<string, Waiting>();
  /** When each namespace was last served, as a count of servings. */
  readonly #servedAt = new Map<string, number>();
  #servings = 0;
  #askAt: Instant | null = null;

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Who waits, in no order. */
  uids(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** `until`: when a limit may let it through; null: when there is room. */
  put({ uid, namespace }: Pod, deadline: Instant, until: Instant | null): void {
    this.#waiting.set(uid, { uid, namespace, deadline });
    if (until !== null) this.requeue(until);
  }

  /** The pod does not wait any more. */
  delete(uid: string): void {
    if (this.#waiting.delete(uid) && this.isEmpty) this.#servedAt.clear();
  }

  /** A pod of the namespace was let through: the others come first now. */
  served(namespace: string): void {
    this.#servings += 1;
    if (!this.isEmpty) this.#servedAt.set(namespace, this.#servings);
  }

  /** Everyone asks again at `at`, or earlier if that was to be so already. */
  requeue(at: Instant): void {
    this.#askAt = earliest([this.#askAt, at]);
  }

  /** When those who wait ask again; null: when something changes. */
  nextWake(): Instant | null {
    return this.isEmpty ? null : this.#askAt;
  }

  /** Those who ask at `now`, in the order in which they are let through; empty before its time. */
  ask(now: Instant): readonly string[] {
    if (this.#askAt === null || this.#askAt > now) return [];
    this.#askAt = null;
    const queues = [...this.#byNamespace()].sort(([a, [x]], [b, [y]]) => {
      const turns = (this.#servedAt.get(a) ?? 0) - (this.#servedAt.get(b) ?? 0);
      return turns || (x?.deadline ?? 0) - (y?.deadline ?? 0) || (a < b ? -1 : 1);
    });
    const rounds = Math.max(0, ...queues.map(([, queue]) => queue.length));
    return Array.from({ length: rounds }, (_, round) =>
      queues.flatMap(([, queue]) => queue[round]?.uid ?? []),
    ).flat();
  }

  /** Who waits, the earliest deadline first. */
  #byNamespace(): ReadonlyMap<string, readonly Waiting[]> {
    const queues = new Map<string, Waiting[]>();
    const inOrder = [...this.#waiting.values()].sort(
      (a, b) => a.deadline - b.deadline || (a.uid < b.uid ? -1 : 1),
    );
    for (const one of inOrder) {
      const queue = queues.get(one.namespace);
      if (queue) queue.push(one);
      else queues.set(one.namespace, [one]);
    }
    return queues;
  }
}
