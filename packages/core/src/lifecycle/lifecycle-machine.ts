import type { Instant } from '../kernel/time.ts';
import type { Machine } from '../machine.ts';
import type { Node } from '../model/node.ts';
import type { LifecycleCommand } from './command.ts';
import type { NodeHealth, ZoneStatus } from './reason.ts';

/** A machine that watches over nodes, and can be asked about them. */
export interface LifecycleMachine extends Machine<LifecycleCommand> {
  /** Every zone that has nodes, by name. */
  zones(now: Instant): readonly ZoneStatus[];
  /** How a node is doing; what it says is what the machine acts on. */
  healthOf(now: Instant, node: Node): NodeHealth;
}
