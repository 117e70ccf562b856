import type { Node, NodeCondition } from '../../model/node.ts';
import type { HealthEntry } from './health.ts';
import type { Task } from './tasks.ts';
import type { ItemResult, QueuedNode } from './zone-queue.ts';

/** What a pass found about a node: Ready before and after its own change, and its health entry. */
export interface Finding {
  readonly observed: NodeCondition;
  readonly current: NodeCondition;
  readonly entry: HealthEntry | null;
}

/** What is done about nodes that are not ready: taints, or deleted pods (legacy mode). */
export interface Enforcement {
  /** Takes in what a pass found. */
  judge(node: Node, finding: Finding): Task;
  /** Lets a node off: it is ready, new, or the whole cluster is down. */
  release(node: Node): Task;
  /** The turn of a queued node has come. */
  enforce(zone: string, item: QueuedNode): Task<ItemResult>;
}
