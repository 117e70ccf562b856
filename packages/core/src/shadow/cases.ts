// The pods that are followed or remembered, and when each is looked at again.

import type { Reason } from '../eviction/reason.ts';
import { Schedule } from '../kernel/schedule.ts';
import type { Instant } from '../kernel/time.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';

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

/** When the engine evicted a pod, and how. */
export interface OurEviction {
  readonly at: Instant;
  readonly asks: boolean;
  readonly because: readonly Reason[];
  /** A live read found it gone, or terminating: somebody was first, of whom nothing was seen yet. */
  readonly isTooLate: boolean;
}

export type Sent = Omit<OurEviction, 'isTooLate'> & { readonly pod: PodRef };

/** One pod that one of the two has evicted. */
export interface Case {
  readonly pod: PodRef;
  /** As it is in the cluster; null: it is gone, or was never marked by a taint manager. */
  real: Pod | null;
  /** When kube-controller-manager marked it; null: it did not. */
  theirs: Instant | null;
  /** True when it is terminating, or gone, since it was marked. */
  isDeleted: boolean;
  isGone: boolean;
  ours: OurEviction | null;
  /** The reasons that decided when it was marked: later its taint may be gone. */
  because: readonly Reason[];
  /** There is a verdict, or there is to be none. */
  isClosed: boolean;
  /** It is gone, and Events have not said yet whether kube-controller-manager deleted it. */
  isDoubted: boolean;
}

/** The answer of Events about a pod: when it was marked, by the clock of the cluster; null: it was not. */
export interface EventsAnswer {
  readonly uid: string;
  readonly at: Instant | null;
}

/** A pod of which nothing was seen yet. */
function newCase(pod: PodRef): Case {
  return {
    ...{ pod: podRef(pod), real: null, theirs: null, isDeleted: false, isGone: false, ours: null },
    ...{ because: [], isClosed: false, isDoubted: false },
  };
}
