import type { WorkQueue } from './work-queue.ts';

/**
 * The time in which a cluster that was made up comes to rest, before anybody looks at it. What its parts
 * would write on the way, and write again soon, is left out: only what they come to is written.
 */
export class Settling {
  #isOn = false;
  readonly #reached = new Map<string, string>();
  readonly #leftOut = new Map<WorkQueue, Set<string>>();

  get isOn(): boolean {
    return this.#isOn;
  }

  begin(): void {
    this.#isOn = true;
  }

  /** From now on all is written; what was left out is looked at again. */
  end(): void {
    this.#isOn = false;
    this.#reached.clear();
    for (const [queue, keys] of this.#leftOut) for (const key of keys) queue.add(key);
    this.#leftOut.clear();
  }

  /** Has a key looked at again at the end. */
  leaveOut(queue: WorkQueue, key: string): void {
    const keys = this.#leftOut.get(queue);
    if (keys) keys.add(key);
    else this.#leftOut.set(queue, new Set([key]));
  }

  /** How far what has this uid has come, as its status would say; undefined: its status says it. */
  reachedBy(uid: string): string | undefined {
    return this.#reached.get(uid);
  }

  /** Notes how far something has come in place of its status; whether that is news. */
  note(uid: string, reached: string): boolean {
    if (this.#reached.get(uid) === reached) return false;
    this.#reached.set(uid, reached);
    return true;
  }

  /** From now on its status says it. */
  forget(uid: string): void {
    this.#reached.delete(uid);
  }
}
