import type { Event } from './event.ts';
import { ClusterClock, type ClusterTime } from './kernel/cluster-clock.ts';
import type { Instant } from './kernel/time.ts';
import type { Namespace } from './model/namespace.ts';
import type { Lease, Node } from './model/node.ts';
import type { DaemonSet, Owner, Pod } from './model/pod.ts';
import type { PodView } from './model/pod-view.ts';
import type { Labels } from './model/selector.ts';
import type { Toleration } from './model/toleration.ts';
import { PolicyStore } from './policy/policy-store.ts';
import type { EvictionPause, EvictionPolicy, NodeTaintRule } from './policy/values.ts';

/** What an event did to the store; null for events that carry no object. */
export type Change =
  | {
      readonly kind: 'node';
      readonly name: string;
      /** Null: it is gone. */
      readonly node: Node | null;
      /** Null: it is new. */
      readonly previous: Node | null;
      /** Whether there may have been states in between of which nothing was told. */
      readonly afterGap: boolean;
    }
  | { readonly kind: 'pod'; readonly pod: Pod; readonly previous: Pod | null }
  | { readonly kind: 'podGone'; readonly previous: Pod }
  /** Null: it is gone. */
  | { readonly kind: 'lease'; readonly nodeName: string; readonly lease: Lease | null }
  /** The labels of a namespace are others, or it is gone. */
  | { readonly kind: 'namespace'; readonly name: string }
  /** A policy, a rule or a pause is new, says something else, or (null) is gone. */
  | { readonly kind: 'policy'; readonly policy: EvictionPolicy | null }
  | {
      readonly kind: 'taintRule';
      readonly name: string;
      readonly rule: NodeTaintRule | null;
    }
  | {
      readonly kind: 'pause';
      readonly name: string;
      readonly pause: EvictionPause | null;
      readonly previous: EvictionPause | null;
    }
  /** The time of a pause is over; it is still there. */
  | { readonly kind: 'pauseEnd'; readonly pause: EvictionPause };

/** What the machines may do with the store: read it. */
export interface StoreView {
  /** For instants that the API stores, or is to store. */
  readonly clock: ClusterTime;
  node(name: string): Node | null;
  nodes(): Iterable<Node>;
  pod(uid: string): Pod | null;
  pods(): Iterable<Pod>;
  readonly podCount: number;
  podsOn(nodeName: string): Iterable<Pod>;
  /** How the pods of a node are known. */
  podView(nodeName: string): PodView;
  podNamed(namespace: string, name: string): Pod | null;
  /** The lease of a node; null: it has none. */
  lease(nodeName: string): Lease | null;
  daemonSetsIn(namespace: string): Iterable<DaemonSet>;
  /** The eviction policies, in the order in which they count. */
  policies(): readonly EvictionPolicy[];
  /** The pauses that are there, with whether their time is over. */
  pauses(): Iterable<{ readonly pause: EvictionPause; readonly isOver: boolean }>;
  /** Null: the namespace is not known. */
  namespaceLabels(name: string): Labels | null;
  namespaces(): Iterable<readonly [name: string, labels: Labels]>;
}

/**
 * The engine's picture of the cluster: nodes, pods, and pods by node. It has one writer, the
 * engine. Equal tolerations, owners and names of nodes and namespaces are kept once, whoever built
 * them: a cluster has few different ones and a great many pods.
 */
export class Store implements StoreView {
  readonly clock: ClusterClock = new ClusterClock();
  readonly #nodes = new Map<string, Node>();
  readonly #pods = new Map<string, Pod>();
  readonly #podsByNode = new Map<string, Map<string, Pod>>();
  readonly #leases = new Map<string, Lease>();
  readonly #daemonSets = new Map<string, DaemonSet>();
  #podViews: Omit<Extract<Event, { kind: 'podViews' }>, 'kind'> = { byNode: false, nodes: {} };
  readonly #policies = new PolicyStore();
  readonly #names = new Interned<string>((name) => name);
  readonly #owners = new Interned<Owner>(ownerKey);
  readonly #tolerations = new Interned<readonly Toleration[]>(tolerationsKey);
  readonly #labels = new Interned<Labels>(JSON.stringify);

  node(name: string): Node | null {
    return this.#nodes.get(name) ?? null;
  }

  nodes(): Iterable<Node> {
    return this.#nodes.values();
  }

  pod(uid: string): Pod | null {
    return this.#pods.get(uid) ?? null;
  }

  pods(): Iterable<Pod> {
    return this.#pods.values();
  }

  get podCount(): number {
    return this.#pods.size;
  }

  podsOn(nodeName: string): Iterable<Pod> {
    return this.#podsByNode.get(nodeName)?.values() ?? [];
  }

  podView(nodeName: string): PodView {
    const { byNode, nodes } = this.#podViews;
    const view = Object.hasOwn(nodes, nodeName) ? nodes[nodeName] : undefined;
    return view ?? (byNode ? 'unread' : 'watched');
  }

  /** Looks through all pods: for people's questions, not for decisions. */
  podNamed(namespace: string, name: string): Pod | null {
    for (const pod of this.#pods.values()) {
      if (pod.name === name && pod.namespace === namespace) return pod;
    }
    return null;
  }

  lease(nodeName: string): Lease | null {
    return this.#leases.get(nodeName) ?? null;
  }

  /** Looks through all of them: clusters have dozens. */
  daemonSetsIn(namespace: string): Iterable<DaemonSet> {
    return [...this.#daemonSets.values()].filter((daemonSet) => daemonSet.namespace === namespace);
  }

  policies(): readonly EvictionPolicy[] {
    return this.#policies.policies;
  }

  pauses(): Iterable<{ readonly pause: EvictionPause; readonly isOver: boolean }> {
    const policies = this.#policies;
    return Array.from(policies.pauses, (pause) => ({ pause, isOver: policies.isOver(pause.name) }));
  }

  namespaceLabels(name: string): Labels | null {
    return this.#policies.namespaceLabels(name);
  }

  namespaces(): Iterable<readonly [name: string, labels: Labels]> {
    return this.#policies.namespaces;
  }

  /** The pauses whose time is over at `now` and was not before. */
  endPauses(now: Instant): readonly Change[] {
    const ended = this.#policies.endPauses(this.clock.wall(now));
    return ended.map((pause) => ({ kind: 'pauseEnd', pause }));
  }

  /** When the time of the next pause is over; null: none ends by itself. */
  nextPauseEnd(): Instant | null {
    const end = this.#policies.nextPauseEnd();
    return end === null ? null : this.clock.when(end);
  }

  /** Takes in what the event says about an object; null when that changes nothing. */
  apply(now: Instant, event: Event): Change | null {
    switch (event.kind) {
      case 'nodeUpsert':
        return this.#upsertNode(event.node, event.afterGap ?? false);
      case 'nodeDelete':
        return this.#deleteNode(event.name);
      case 'podUpsert':
        return this.#upsertPod(now, event.pod);
      case 'podDelete':
        return this.#deletePod(event.uid);
      case 'leaseUpsert': {
        const { lease } = event;
        this.#leases.set(lease.nodeName, lease);
        return { kind: 'lease', nodeName: lease.nodeName, lease };
      }
      case 'leaseDelete':
        this.#leases.delete(event.nodeName);
        return { kind: 'lease', nodeName: event.nodeName, lease: null };
      case 'podViews':
        this.#podViews = event;
        return null;
      case 'clock':
        this.clock.set(event.ahead);
        return null;
      case 'daemonSetUpsert':
        this.#daemonSets.set(event.daemonSet.uid, event.daemonSet);
        return null;
      case 'daemonSetDelete':
        this.#daemonSets.delete(event.uid);
        return null;
      default:
        return this.#applyPolicy(event);
    }
  }

  #applyPolicy(event: Event): Change | null {
    switch (event.kind) {
      case 'namespaceUpsert':
        return this.#putNamespace(event.namespace.name, event.namespace);
      case 'namespaceDelete':
        return this.#putNamespace(event.name, null);
      case 'policyUpsert':
        return this.#putPolicy(event.policy.name, event.policy);
      case 'policyDelete':
        return this.#putPolicy(event.name, null);
      case 'taintRuleUpsert':
        return this.#putTaintRule(event.rule.name, event.rule);
      case 'taintRuleDelete':
        return this.#putTaintRule(event.name, null);
      case 'pauseUpsert':
        return this.#putPause(event.pause.name, event.pause);
      case 'pauseDelete':
        return this.#putPause(event.name, null);
      default:
        return null;
    }
  }

  #putNamespace(name: string, namespace: Namespace | null): Change | null {
    const { isNews } = this.#policies.putNamespace(name, namespace);
    return isNews ? { kind: 'namespace', name } : null;
  }

  #putPolicy(name: string, policy: EvictionPolicy | null): Change | null {
    const { isNews } = this.#policies.putPolicy(name, policy);
    return isNews ? { kind: 'policy', policy } : null;
  }

  #putTaintRule(name: string, rule: NodeTaintRule | null): Change | null {
    const { isNews } = this.#policies.putTaintRule(name, rule);
    return isNews ? { kind: 'taintRule', name, rule } : null;
  }

  #putPause(name: string, pause: EvictionPause | null): Change | null {
    const { isNews, previous } = this.#policies.putPause(name, pause);
    return isNews ? { kind: 'pause', name, pause, previous } : null;
  }

  #upsertNode(node: Node, afterGap: boolean): Change {
    const { name } = node;
    const previous = this.node(name);
    this.#nodes.set(name, node);
    return { kind: 'node', name, node, previous, afterGap };
  }

  #deleteNode(name: string): Change | null {
    const previous = this.node(name);
    this.#nodes.delete(name);
    return previous && { kind: 'node', name, node: null, previous, afterGap: false };
  }

  #upsertPod(now: Instant, incoming: Pod): Change {
    const previous = this.#pods.get(incoming.uid) ?? null;
    const boundAt = possibleBinding(this.clock.wall(now), incoming, previous);
    const pod = this.#intern(boundAt === incoming.boundAt ? incoming : { ...incoming, boundAt });
    if (previous) this.#forget(previous);
    this.#pods.set(pod.uid, pod);
    if (pod.nodeName !== '') {
      const pods = this.#podsByNode.get(pod.nodeName) ?? new Map<string, Pod>();
      this.#podsByNode.set(pod.nodeName, pods.set(pod.uid, pod));
    }
    return { kind: 'pod', pod, previous };
  }

  #deletePod(uid: string): Change | null {
    const previous = this.#pods.get(uid);
    if (!previous) return null;
    this.#forget(previous);
    return { kind: 'podGone', previous };
  }

  #forget(pod: Pod): void {
    this.#pods.delete(pod.uid);
    this.#release(pod);
    const pods = this.#podsByNode.get(pod.nodeName);
    pods?.delete(pod.uid);
    if (pods?.size === 0) this.#podsByNode.delete(pod.nodeName);
  }

  #intern(pod: Pod): Pod {
    return {
      ...pod,
      namespace: this.#names.take(pod.namespace),
      nodeName: this.#names.take(pod.nodeName),
      phase: this.#names.take(pod.phase),
      tolerations: this.#tolerations.take(pod.tolerations),
      owner: pod.owner && this.#owners.take(pod.owner),
      ...(pod.labels && { labels: this.#labels.take(pod.labels) }),
    };
  }

  #release({ namespace, nodeName, phase, tolerations, owner, labels }: Pod): void {
    for (const name of [namespace, nodeName, phase]) this.#names.release(name);
    this.#tolerations.release(tolerations);
    if (owner) this.#owners.release(owner);
    if (labels) this.#labels.release(labels);
  }
}

/**
 * A pod that is there has been bound. Who writes its status may say that it will be in 2099: then it
 * was bound at the latest when we heard of it.
 */
function possibleBinding(
  wall: Instant,
  { boundAt, nodeName }: Pod,
  previous: Pod | null,
): Instant | null {
  if (boundAt === null || boundAt <= wall) return boundAt;
  const known = previous?.nodeName === nodeName ? previous.boundAt : null;
  return known === null ? wall : Math.min(wall, known);
}

/** Equal values kept once, for as long as somebody uses them. */
class Interned<T> {
  readonly #keyOf: (value: T) => string;
  readonly #kept = new Map<string, { readonly value: T; uses: number }>();

  constructor(keyOf: (value: T) => string) {
    this.#keyOf = keyOf;
  }

  take(value: T): T {
    const key = this.#keyOf(value);
    const entry = this.#kept.get(key) ?? { value, uses: 0 };
    entry.uses += 1;
    this.#kept.set(key, entry);
    return entry.value;
  }

  release(value: T): void {
    const key = this.#keyOf(value);
    const entry = this.#kept.get(key);
    if (entry && --entry.uses === 0) this.#kept.delete(key);
  }
}

function ownerKey({ apiVersion, kind, name }: Owner): string {
  return `${apiVersion}/${kind}/${name}`;
}

function tolerationsKey(tolerations: readonly Toleration[]): string {
  return JSON.stringify(
    tolerations.map((t) => [t.key, t.operator, t.value, t.effect, t.tolerationSeconds?.toString()]),
  );
}
