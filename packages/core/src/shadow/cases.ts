// The pods that are followed or remembered, and when each is looked at again.
import { Schedule } from '../kernel/schedule.ts';
import type { Instant } from '../kernel/time.ts';
import type { PodRef } from '../model/pod.ts';
import { type Case, newCase } from './case.ts';

/** The cases by the uid of their pods: never more than `podsMax`. */
export class Cases {
  readonly #podsMax: number;
  readonly #cases = new Map<string, Case>();
  readonly #looks = new Schedule();
  #open = 0;

  constructor(podsMax: number) {
    this.#podsMax = podsMax;
  }

  get size(): number {
    return this.#cases.size;
  }

  /** So many are not closed. */
  get open(): number {
    return this.#open;
  }

  get(uid: string): Case | undefined {
    return this.#cases.get(uid);
  }

  /** The one that has to be forgotten before another begins; null: there is room. */
  get surplus(): Case | null {
    if (this.#cases.size < this.#podsMax) return null;
    const [oldest] = this.#cases.values();
    return oldest ?? null;
  }

  begin(pod: PodRef): Case {
    const one = newCase(pod);
    this.#cases.set(pod.uid, one);
    this.#open += 1;
    return one;
  }

  /** There is a verdict, or there is to be none. */
  close(one: Case): void {
    one.isClosed = true;
    one.real = null;
    this.#open -= 1;
    this.#looks.cancel(one.pod.uid);
  }

  forget(uid: string): void {
    this.#cases.delete(uid);
    this.#looks.cancel(uid);
  }

  /** It is looked at again then, and not before. */
  lookAt(uid: string, at: Instant): void {
    this.#looks.set(uid, at);
  }

  /** The uid of the next one to be looked at now; null: there is none. */
  takeDue(now: Instant): string | null {
    return this.#looks.takeDue(now);
  }

  nextWake(): Instant | null {
    return this.#looks.next();
  }
}
