// Upstream's legacy mode: pods of nodes that are not ready are deleted.
import type { NodeNotReadyReason } from '../../attempt/pod-command.ts';
import type { Instant, Millis } from '../../kernel/time.ts';
import type { Node, NodeRef } from '../../model/node.ts';
import { type Pod, podRef } from '../../model/pod.ts';
import { isEmptySelector, selects } from '../../model/selector.ts';
import type { OwnReplicas } from '../../own-replicas.ts';
import type { StoreView } from '../../store.ts';
import type { LifecycleCommand } from '../command.ts';
import { nodeEvent, podEvictionEvent } from '../node-events.ts';
import type { Enforcement, Finding } from './enforcement.ts';
import type { HealthEntry } from './health.ts';
import { call, type Task } from './tasks.ts';
import type { ItemResult, QueuedNode } from './zone-queue.ts';
import type { ZoneStore } from './zones.ts';

type EvictionState = 'unmarked' | 'toBeEvicted' | 'evicted';

const conflict = 409;

/** What it goes by. */
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
 * is not ready for `podEvictionTimeoutMs` are deleted, node by node at the rate of the zone. What
 * comes to a node whose pods were deleted is deleted at once.
 */
export class PodEnforcement implements Enforcement {
  readonly #store: StoreView;
  readonly #zones: ZoneStore;
  readonly #timeout: Millis;
  readonly #now: () => Instant;
  readonly #emit: (command: LifecycleCommand) => void;
  readonly #replicas: OwnReplicas | null;
  readonly #states = new Map<string, EvictionState>();
  /** The uids of the pods that are marked as lost, by node. */
  readonly #lost = new Map<string, Set<string>>();
  /** Why, by node, as it was last found. */
  readonly #reasons = new Map<string, NodeNotReadyReason>();

  constructor({ store, zones, timeout, now, emit, replicas }: PodEnforcementSite) {
    this.#store = store;
    this.#zones = zones;
    this.#timeout = timeout;
    this.#now = now;
    this.#emit = emit;
    this.#replicas = replicas;
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
    yield* this.judgePods(node, finding, [...this.#store.podsOn(node.name)]);
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
    if (this.#now() <= since + this.#timeout) return true;
    if (this.stateOf(node.name) === 'evicted') return yield* this.#deletePods(node, pods);
    this.#mark(node.name, 'toBeEvicted');
    this.#zones.queueOf(node)?.add(node.name, node.uid, this.#zones.stamp(this.#now()));
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
    const since = this.#store.clock.wall(at);
    return { code: 'NodeNotReady', nodeName, ready, since, deadline: since + this.#timeout };
  }

  // biome-ignore lint/correctness/useYield: an Enforcement that never has to wait here
  *release(node: Node): Task {
    this.#mark(node.name, 'unmarked');
    this.#lost.delete(node.name);
    this.#zones.queueOf(node)?.remove(node.name);
  }

  *enforce(zone: string, { value: name, uid }: QueuedNode): Task<ItemResult> {
    const pods = [...this.#store.podsOn(name)];
    if (!(yield* this.#deletePods({ name, uid }, pods))) return { done: false, wait: 0 };
    this.#mark(name, 'evicted');
    if (this.#store.node(name)) this.#zones.countEviction(zone);
    return { done: true };
  }

  #mark(nodeName: string, state: EvictionState): void {
    if (this.#states.has(nodeName)) this.#states.set(nodeName, state);
  }

  /** False: to be tried again. A conflict skips one pod, a refused deletion ends the round. */
  *#deletePods(node: NodeRef, pods: readonly Pod[]): Task<boolean> {
    if (pods.length > 0) this.#emit(nodeEvent(node, 'DeletingAllPods'));
    let isComplete = true;
    for (const pod of pods) {
      if (!(yield* this.#markLost(node.name, pod))) isComplete = false;
      else if (pod.deletionTimestamp !== null || this.#isDaemon(pod)) continue;
      // It is tried again, and does not keep the others waiting.
      else if (this.#replicas?.standIns(pod)?.length === 0) isComplete = false;
      else if (!(yield* this.#deletePod(pod))) return false;
    }
    return isComplete;
  }

  /** False: somebody else has written the pod meanwhile. A pod that is marked is not written again. */
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
    this.#emit(podEvictionEvent(pod));
    const reason = this.#reasons.get(pod.nodeName);
    const because = reason ? [reason] : [];
    const { generation } = pod;
    const plain = {
      guard: 'name',
      confirm: false,
      gracePeriodSeconds: null,
      unmarked: true,
    } as const;
    this.#replicas?.sent(pod);
    const outcome = yield* call((id) => {
      const target = { kind: 'deletePod', id, pod: podRef(pod), generation } as const;
      return { ...target, ...plain, escalated: false, because };
    });
    this.#replicas?.answered(pod.uid, outcome);
    return outcome.kind === 'done' || outcome.kind === 'gone';
  }

  /** Goes by labels alone: a pod that only looks like one of a DaemonSet is spared with them. */
  #isDaemon({ namespace, labels = {} }: Pod): boolean {
    if (Object.keys(labels).length === 0) return false;
    return [...this.#store.daemonSetsIn(namespace)].some(
      ({ selector }) => !isEmptySelector(selector) && selects(selector, labels),
    );
  }
}
