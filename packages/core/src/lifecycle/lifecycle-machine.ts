import type { NodeNotReadyReason } from '../attempt/pod-command.ts';
import type { Instant } from '../kernel/time.ts';
import type { Machine } from '../machine.ts';
import type { Lease, Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import type { RuleStatus } from './condition-rules.ts';
import type { LifecycleCommand } from './node-command.ts';
import type { NodeHealth, ZoneStatus } from './reason.ts';

/** A machine that watches over nodes, and can be asked about them. */
export interface LifecycleMachine extends Machine<LifecycleCommand> {
  /** Every zone that has nodes, by name. */
  zones(now: Instant): readonly ZoneStatus[];
  /** How a node is doing; what it says is what the machine acts on. */
  healthOf(now: Instant, node: Node): NodeHealth;
  /** Takes a renewal of which nothing comes; false, or left out: something may, and `handle` is to take it. */
  hearLease?(now: Instant, lease: Lease): boolean;
  /** What taint rules have come to, while it leads; left out: it goes by none. */
  taintRules?(): readonly RuleStatus[];
  /** Why and when it deletes the pod itself, without a taint; null, or left out: it does not. */
  deletionOf?(pod: Pod): NodeNotReadyReason | null;
}
