import type { NodeNotReadyReason } from '../../attempt/pod-command.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import { type Node, type NodeCondition, type NodeRef, nodeRef, readyOf } from '../../model/node.ts';
import { type Pod, podRef } from '../../model/pod.ts';
import { isEmptySelector, selects } from '../../model/selector.ts';
import {
  hasTaint,
  notReadyKey,
  type Taint,
  type TaintName,
  unreachableKey,
} from '../../model/taint.ts';
import type { OwnReplicas } from '../../own-replicas.ts';
import type { StoreView } from '../../store.ts';
import { type LifecycleCommand, nodeEvent, podEvictionEvent } from '../node-command.ts';
import type { HealthEntry } from './health.ts';
import { call, sleep, type Task } from './tasks.ts';
import type { ItemResult, QueuedNode, ZoneStore } from './zone-store.ts';

/** The findings of a pass about a node: Ready before and after its own change, and its health entry. */
interface Finding {
  readonly observed: NodeCondition;
  readonly current: NodeCondition;
  readonly entry: HealthEntry | null;
}

/** The treatment of nodes that are not ready: taints, or deleted pods (legacy mode). */
interface Enforcement {
  /** Takes in what a pass found. */
  judge(node: Node, finding: Finding): Task;
  /** Lets a node off: it is ready, new, or the whole cluster is down. */
  release(node: Node): Task;
  /** The turn of a queued node has come. */
  enforce(zone: string, item: QueuedNode): Task<ItemResult>;
}

const notReady: TaintName = { key: notReadyKey, effect: 'NoExecute' };
const unreachable: TaintName = { key: unreachableKey, effect: 'NoExecute' };

/** The taint that goes with each status of Ready, and the one whose place it takes. */
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
    // Defect: a node that still waits moves to the back of the queue, at every pass.
    if (!hasTaint(node.taints, swap.add)) queue?.remove(node.name);
    queue?.add(node.name, node.uid, this.#zones.stamp(this.#now()));
  }

  /** Queues a node that waits for its taint since a pass before; one that has the taint had its turn. */
  takeUp(node: Node): void {
    const swap = swaps.get(readyOf(node.conditions)?.status ?? '');
    const queue = this.#zones.queueOf(node);
    if (!swap || !queue) return;
    if (hasTaint(node.taints, swap.add)) queue.noteDone(node.name);
    else queue.add(node.name, node.uid, this.#zones.stamp(this.#now()));
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

const attemptsMax = 5;
/** Upstream draws 100 to 200 ms. */
const conflictPauseMs: Millis = 150;
const conflict = 409;

/**
 * Puts taints on and takes others off, in two writes, so that between them the node has both. The
 * second is left out when the first fails, or when the node as it was listed has none of them.
 */
export function* swapTaints(
  now: Instant,
  node: Node,
  add: readonly TaintName[],
  remove: readonly TaintName[],
): Task<boolean> {
  const taints = add.map((taint): Taint => ({ ...taint, value: '', timeAdded: now }));
  if (taints.length > 0 && !(yield* changeTaints(node, taints, []))) return false;
  return yield* removeTaints(node, remove);
}

/** Defect: judges by the node as it was listed, be that old. */
function* removeTaints(node: Node, taints: readonly TaintName[]): Task<boolean> {
  if (!taints.some((taint) => hasTaint(node.taints, taint))) return true;
  return yield* changeTaints(node, [], taints);
}

/** Tries again after a conflict; whatever else goes wrong ends it. */
function* changeTaints(
  node: Node,
  add: readonly Taint[],
  remove: readonly TaintName[],
): Task<boolean> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const outcome = yield* call((id) => {
      const target = { id, node: nodeRef(node), fresh: attempt > 1, because: [] };
      return { kind: 'changeTaints', ...target, overwrite: true, add, remove };
    });
    if (outcome.kind === 'done') return true;
    if (outcome.kind !== 'failed' || outcome.status !== conflict) return false;
    yield* sleep(conflictPauseMs);
  }
  return false;
}

type EvictionState = 'unmarked' | 'toBeEvicted' | 'evicted';

/** The surroundings of the legacy mode. */
interface PodEnforcementSite {
  readonly store: StoreView;
  readonly zones: ZoneStore;
  readonly timeout: Millis;
  readonly now: () => Instant;
  readonly emit: (command: LifecycleCommand) => void;
  /** Null: none is ours. */
  readonly replicas: OwnReplicas | null;
}

/**
 * The legacy mode, as kube-controller-manager had it until 1.26: no taints; the pods of a node that
 * is not ready for `podEvictionTimeoutMs` are deleted, node by node at the rate of the zone. A pod
 * that arrives on a node whose pods were deleted is deleted at once.
 */
export class PodEnforcement implements Enforcement {
  readonly #site: PodEnforcementSite;
  readonly #states = new Map<string, EvictionState>();
  /** The uids of the pods that are marked as lost, by node. */
  readonly #lost = new Map<string, Set<string>>();
  /** Why, by node, as it was last found. */
  readonly #reasons = new Map<string, NodeNotReadyReason>();

  constructor(site: PodEnforcementSite) {
    this.#site = site;
  }

  register(nodeName: string): void {
    this.#states.set(nodeName, 'unmarked');
  }

  unregister(nodeName: string): void {
    this.#reasons.delete(nodeName);
    this.#lost.delete(nodeName);
    this.#states.delete(nodeName);
  }

  stateOf(nodeName: string): EvictionState | null {
    return this.#states.get(nodeName) ?? null;
  }

  *judge(node: Node, finding: Finding): Task {
    yield* this.judgePods(node, finding, [...this.#site.store.podsOn(node.name)]);
  }

  /** The same for some of its pods; false when one could not be deleted. */
  *judgePods(
    node: Node,
    { observed, entry }: Pick<Finding, 'observed' | 'entry'>,
    pods: readonly Pod[],
  ): Task<boolean> {
    if (!entry) return false;
    if (observed.status === 'True') yield* this.release(node);
    const found = this.#overdue(observed.status, entry);
    if (found === null) return true;
    const { ready, since } = found;
    this.#reasons.set(node.name, this.#reasonFor(node.name, ready, since));
    if (this.#site.now() <= since + this.#site.timeout) return true;
    if (this.stateOf(node.name) === 'evicted') return yield* this.#deletePods(node, pods);
    this.#mark(node.name, 'toBeEvicted');
    this.#site.zones
      .queueOf(node)
      ?.add(node.name, node.uid, this.#site.zones.stamp(this.#site.now()));
    return true;
  }

  /** Why and when a pod of this node goes, as things are; null: it stays. */
  reasonOn(pod: Pod, ready: string, entry: HealthEntry): NodeNotReadyReason | null {
    const found = this.#overdue(ready, entry);
    if (found === null || pod.deletionTimestamp !== null || this.#isDaemon(pod)) return null;
    return this.#reasonFor(pod.nodeName, found.ready, found.since);
  }

  /** Since when its time counts: the change that was seen, or the last heartbeat. */
  #overdue(
    ready: string,
    { transition, probe }: HealthEntry,
  ): Pick<NodeNotReadyReason, 'ready' | 'since'> | null {
    if (ready === 'False') return { ready, since: transition };
    return ready === 'Unknown' ? { ready, since: probe } : null;
  }

  #reasonFor(
    nodeName: string,
    ready: NodeNotReadyReason['ready'],
    at: Instant,
  ): NodeNotReadyReason {
    const since = this.#site.store.clock.wall(at);
    return { code: 'NodeNotReady', nodeName, ready, since, deadline: since + this.#site.timeout };
  }

  // biome-ignore lint/correctness/useYield: an Enforcement that never has to wait here
  *release(node: Node): Task {
    this.#mark(node.name, 'unmarked');
    this.#lost.delete(node.name);
    this.#site.zones.queueOf(node)?.remove(node.name);
  }

  *enforce(zone: string, { value: name, uid }: QueuedNode): Task<ItemResult> {
    const pods = [...this.#site.store.podsOn(name)];
    if (!(yield* this.#deletePods({ name, uid }, pods))) return { done: false, wait: 0 };
    this.#mark(name, 'evicted');
    if (this.#site.store.node(name)) this.#site.zones.countEviction(zone);
    return { done: true };
  }

  #mark(nodeName: string, state: EvictionState): void {
    if (this.#states.has(nodeName)) this.#states.set(nodeName, state);
  }

  /** False: to be tried again. A conflict skips one pod, a refused deletion ends the round. */
  *#deletePods(node: NodeRef, pods: readonly Pod[]): Task<boolean> {
    if (pods.length > 0) this.#site.emit(nodeEvent(node, 'DeletingAllPods'));
    let isComplete = true;
    for (const pod of pods) {
      if (!(yield* this.#markLost(node.name, pod))) isComplete = false;
      else if (pod.deletionTimestamp !== null || this.#isDaemon(pod)) continue;
      // The pod is tried again, and does not keep the others waiting.
      else if (this.#site.replicas?.standIns(pod)?.length === 0) isComplete = false;
      else if (!(yield* this.#deletePod(pod))) return false;
    }
    return isComplete;
  }

  /**
   * False: another program has written the pod meanwhile. A pod that is marked is not written
   * again.
   */
  *#markLost(nodeName: string, pod: Pod): Task<boolean> {
    const lost = this.#lost.get(nodeName) ?? new Set();
    if (lost.has(pod.uid)) return true;
    const message = `Node ${nodeName} which was running pod ${pod.name} is unresponsive`;
    const mark = { kind: 'markPodLost', pod: podRef(pod), message } as const;
    const marked = yield* call((id) => ({ ...mark, id }));
    if (marked.kind === 'done') this.#lost.set(nodeName, lost.add(pod.uid));
    return marked.kind !== 'failed' || marked.status !== conflict;
  }

  *#deletePod(pod: Pod): Task<boolean> {
    this.#site.emit(podEvictionEvent(pod));
    const reason = this.#reasons.get(pod.nodeName);
    const because = reason ? [reason] : [];
    const { generation } = pod;
    const plain = {
      guard: 'name',
      confirm: false,
      gracePeriodSeconds: null,
      unmarked: true,
    } as const;
    this.#site.replicas?.sent(pod);
    const outcome = yield* call((id) => {
      const target = { kind: 'deletePod', id, pod: podRef(pod), generation } as const;
      return { ...target, ...plain, escalated: false, because };
    });
    this.#site.replicas?.answered(pod.uid, outcome);
    return outcome.kind === 'done' || outcome.kind === 'gone';
  }

  /** Compares labels alone: a pod that only looks like one of a DaemonSet is spared with them. */
  #isDaemon({ namespace, labels = {} }: Pod): boolean {
    if (Object.keys(labels).length === 0) return false;
    return [...this.#site.store.daemonSetsIn(namespace)].some(
      ({ selector }) => !isEmptySelector(selector) && selects(selector, labels),
    );
  }
}
