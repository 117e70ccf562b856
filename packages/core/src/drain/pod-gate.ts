// What holds pods of a drain back that nothing in the drain itself holds.
import type { Outcome } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import type { Pod } from '../model/pod.ts';

/** Is asked before a request for a pod is sent, and hears what came of it. */
export interface PodGate {
  /** Why the pod must not go now, in words; null: it may. */
  holdOf(now: Instant, pod: Pod): string | null;
  sent(now: Instant, pod: Pod): void;
  answered(uid: string, outcome: Outcome): void;
  /** Whether its workload was asked to put another pod in its place, and does. Left out: none is asked. */
  isReplaced?(uid: string): boolean;
  /** True where others were asked to move the pod, and may. Left out: nobody is asked. */
  isRequested?(uid: string): boolean;
}

/** Lets all pods go. */
export const openGate: PodGate = {
  holdOf: () => null,
  sent: () => {},
  answered: () => {},
};
