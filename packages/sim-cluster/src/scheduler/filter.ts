// The form of the rules that keep a pod from a node.
import type { Place } from './place.ts';
import type { SchedulingPod } from './scheduling-pod.ts';

/** The subjects that may have to change before a pod is worth another try. */
export type Subject =
  | 'node'
  | 'ports'
  | 'resources'
  | 'disks'
  | 'volumes'
  | 'spread'
  | 'podAffinity'
  | 'devices';

/** Why a pod cannot be placed on a node, in kube-scheduler's words. */
export interface Rejection {
  readonly subject: Subject;
  readonly reasons: readonly string[];
  /** True if removing pods from the node cannot help. */
  readonly isFinal: boolean;
}

/** A rule for one pod that looks for a node. */
export interface Filter {
  /** Null: the rule lets the pod in. */
  check(place: Place): Rejection | null;
  /**
   * Counts a pod that joins a node (1) or leaves it (-1), for rules that do not look at the node
   * itself.
   */
  note?(pod: SchedulingPod, place: Place, by: 1 | -1): void;
}

/** The first reason not to place the pod there; null: there is none. */
export function firstRejection(filters: readonly Filter[], place: Place): Rejection | null {
  for (const filter of filters) {
    const rejection = filter.check(place);
    if (rejection) return rejection;
  }
  return null;
}

/** A rejection that other pods have brought about. */
export function rejected(subject: Subject, ...reasons: readonly string[]): Rejection {
  return { subject, reasons, isFinal: false };
}

/** A rejection that stays whatever pods leave. */
export function rejectedForGood(subject: Subject, ...reasons: readonly string[]): Rejection {
  return { subject, reasons, isFinal: true };
}
