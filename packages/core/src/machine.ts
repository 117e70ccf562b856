import type { Command } from './command.ts';
import type { Event } from './event.ts';
import type { Decision } from './eviction/decide.ts';
import type { ObservedTaint } from './eviction/taint-clock.ts';
import type { Work } from './eviction/work.ts';
import type { Instant } from './kernel/time.ts';
import type { NodeHealth, ZoneStatus } from './lifecycle/reason.ts';
import type { Node, Pod, PodRef } from './model.ts';
import type { LimitStatus } from './policy/limit.ts';
import type { Change } from './store.ts';

/**
 * One machine behind the engine: what each takes and gives. Machines share the store and know
 * nothing of each other: they meet through the API, where what one writes is an event for the
 * others.
 */
interface Machine {
  /** Takes an event, after the store took it (`change`), and answers what is to be done. */
  handle(now: Instant, event: Event, change: Change | null): readonly Command[];
  /** The earliest instant at which a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null;
}

/** A machine that evicts, and can be asked about it. */
export interface EvictionMachine extends Machine {
  /** The NoExecute taints of a node as this machine counts them, in the node's order. */
  taintsOf(nodeName: string): readonly ObservedTaint[];
  /** The decision on a pod that holds now: the one the machine acts on. */
  decisionOn(pod: Pod): Decision;
  /** How far the eviction of a pod has come; null when none is pending. */
  workOn(pod: PodRef): Work | null;
  /** The limits that have tripped, and those in whose window pods were evicted. */
  limits(now: Instant): readonly LimitStatus[];
}

/** A machine that watches over nodes, and can be asked about them. */
export interface LifecycleMachine extends Machine {
  /** Every zone that has nodes, by name. */
  zones(now: Instant): readonly ZoneStatus[];
  /** How a node is doing; what it says is what the machine acts on. */
  healthOf(now: Instant, node: Node): NodeHealth;
}
