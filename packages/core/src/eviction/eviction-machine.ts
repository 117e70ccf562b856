import type { AttemptState } from '../attempt/attempt.ts';
import type { BudgetPolicy } from '../attempt/delete-or-evict.ts';
import type { Setback } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import type { Machine } from '../machine.ts';
import type { Pod, PodRef } from '../model/pod.ts';
import type { LimitStatus } from '../policy/limit.ts';
import type { Decision, Eviction } from './decide.ts';
import type { MachineCommand } from './eviction-command.ts';
import type { ObservedTaint } from './taint-clock.ts';

/** A machine that evicts, and can be asked about it. */
export interface EvictionMachine extends Machine<MachineCommand> {
  /** The NoExecute taints of a node as this machine counts them, in the node's order. */
  taintsOf(nodeName: string): readonly ObservedTaint[];
  /** The decision on a pod that holds now: the one the machine acts on. */
  decisionOn(pod: Pod): Decision;
  /** What is done about its budgets when a pod goes for this decision. */
  budgetsOf(pod: Pod, decision: Decision): BudgetPolicy;
  /** When a pod that goes is deleted whatever budgets say, by the cluster's clock; null: never, or at once. */
  deletedAt(now: Instant, pod: Pod, decision: Eviction): Instant | null;
  /** How far the eviction of a pod has come; null when none is pending. */
  attemptOn(pod: PodRef): AttemptState | null;
  /** Why the last try to evict a pod failed, also while it waits for the next; null: none did. */
  lastSetbackOn(pod: PodRef): Setback | null;
  /** The limits that have tripped, those in whose window pods were evicted, and rates in use. */
  limits(now: Instant): readonly LimitStatus[];
}
