// Upstream's usual mode: nodes that are not ready get NoExecute taints.
import type { Instant } from '../../kernel/time.ts';
import { notReadyKey, unreachableKey } from '../../model/lifecycle-taints.ts';
import { type Node, readyOf } from '../../model/node.ts';
import { hasTaint, type TaintName } from '../../model/taint.ts';
import type { StoreView } from '../../store.ts';
import type { Enforcement, Finding } from './enforcement.ts';
import type { Task } from './tasks.ts';
import { removeTaints, swapTaints } from './writes.ts';
import type { ItemResult, QueuedNode } from './zone-queue.ts';
import type { ZoneStore } from './zones.ts';

const notReady: TaintName = { key: notReadyKey, effect: 'NoExecute' };
const unreachable: TaintName = { key: unreachableKey, effect: 'NoExecute' };

/** Which taint goes with which status of Ready, and which it takes the place of. */
const swaps: ReadonlyMap<string, { readonly add: TaintName; readonly remove: TaintName }> = new Map(
  [
    ['False', { add: notReady, remove: unreachable }],
    ['Unknown', { add: unreachable, remove: notReady }],
  ],
);

const retryWaitMs = 50;

/** Taints NoExecute on nodes that are not ready, through the queue of their zone. */
export class TaintEnforcement implements Enforcement {
  readonly #store: StoreView;
  readonly #zones: ZoneStore;
  readonly #now: () => Instant;

  constructor(store: StoreView, zones: ZoneStore, now: () => Instant) {
    this.#store = store;
    this.#zones = zones;
    this.#now = now;
  }

  *judge(node: Node, { current }: Finding): Task {
    if (current.status === 'True') yield* this.release(node);
    const swap = swaps.get(current.status);
    if (!swap) return;
    if (hasTaint(node.taints, swap.remove)) {
      yield* swapTaints(this.#store.clock.wall(this.#now()), node, [swap.add], [swap.remove]);
      return;
    }
    const queue = this.#zones.queueOf(node);
    // Defect: whoever still waits goes to the back of the queue, at every pass.
    if (!hasTaint(node.taints, swap.add)) queue?.remove(node.name);
    queue?.add(node.name, node.uid, this.#zones.stamp(this.#now()));
  }

  *release(node: Node): Task {
    if (!(yield* removeTaints(node, [unreachable]))) return;
    if (!(yield* removeTaints(node, [notReady]))) return;
    this.#zones.queueOf(node)?.remove(node.name);
  }

  /** Defect: whatever comes of it, the token of the zone is spent. */
  *enforce(zone: string, { value }: QueuedNode): Task<ItemResult> {
    const node = this.#store.node(value);
    if (!node) return { done: true };
    const ready = readyOf(node.conditions);
    if (!ready) return { done: false, wait: retryWaitMs };
    const swap = swaps.get(ready.status);
    if (!swap) return { done: true };
    if (
      !(yield* swapTaints(this.#store.clock.wall(this.#now()), node, [swap.add], [swap.remove]))
    ) {
      return { done: false, wait: 0 };
    }
    this.#zones.countEviction(zone);
    return { done: true };
  }
}
