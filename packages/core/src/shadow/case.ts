// What the shadow knows of one pod that it or kube-controller-manager has evicted.
import type { Reason } from '../eviction/reason.ts';
import type { Instant } from '../kernel/time.ts';
import { type Pod, type PodRef, podRef } from '../model/pod.ts';

/** When the engine evicted a pod, and how. */
interface Eviction {
  readonly at: Instant;
  readonly asks: boolean;
  readonly because: readonly Reason[];
  /** A live read found it gone, or terminating: somebody was first, of whom nothing was seen yet. */
  readonly isTooLate: boolean;
}

export type Sent = Omit<Eviction, 'isTooLate'> & { readonly pod: PodRef };

/** One pod that one of the two has evicted. */
export interface Case {
  readonly pod: PodRef;
  /** As it is in the cluster; null: it is gone, or was never marked by a taint manager. */
  real: Pod | null;
  /** When kube-controller-manager marked it; null: it did not. */
  theirs: Instant | null;
  /** Whether it is terminating, or gone, since it was marked. */
  isDeleted: boolean;
  isGone: boolean;
  ours: Eviction | null;
  /** What decided when it was marked: later its taint may be gone. */
  because: readonly Reason[];
  /** There is a verdict, or there is to be none. */
  isClosed: boolean;
  /** It is gone, and Events have not said yet whether kube-controller-manager deleted it. */
  isDoubted: boolean;
}

/** What Events say of a pod: when it was marked, by the clock of the cluster; null: it was not. */
export interface EventsAnswer {
  readonly uid: string;
  readonly at: Instant | null;
}

/** A pod of which nothing was seen yet. */
export function newCase(pod: PodRef): Case {
  return {
    ...{ pod: podRef(pod), real: null, theirs: null, isDeleted: false, isGone: false, ours: null },
    ...{ because: [], isClosed: false, isDoubted: false },
  };
}
