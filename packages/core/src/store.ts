import type { DeviceEvent } from './devices/device.ts';
import { Devices } from './devices/devices.ts';
import type { Event } from './event.ts';
import { ClusterClock, type ClusterTime, earliest, finite, type Instant } from './kernel/time.ts';
import { Interned, type KeptPod, KeptTraits, keepPod } from './model/kept-pod.ts';
import type { Lease, Node } from './model/node.ts';
import type { DaemonSet, Pod, PodView } from './model/pod.ts';
import type { Labels } from './model/selector.ts';
import { inPolicyOrder } from './policy/choice.ts';
import type { EvictionPause, EvictionPolicy, NodeTaintRule } from './policy/values.ts';

/** The present and the former state of a node. */
export interface NodeChange {
  readonly kind: 'node';
  readonly name: string;
  /** Null: it is gone. */
  readonly node: Node | null;
  /** Null: it is new. */
  readonly previous: Node | null;
  /** True when there may have been states in between that were not reported. */
  readonly afterGap: boolean;
}

/** The change that an event made to the store; null for events that carry no object. */
export type Change =
  | NodeChange
  | { readonly kind: 'pod'; readonly pod: Pod; readonly previous: Pod | null }
  | { readonly kind: 'podGone'; readonly previous: Pod }
  /** Null: it is gone. */
  | { readonly kind: 'lease'; readonly nodeName: string; readonly lease: Lease | null }
  /** Taints, devices or claims are others: what becomes of these pods for them may be, too. */
  | { readonly kind: 'devices'; readonly pods: ReadonlySet<string> }
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

/**
 * A machine behind the engine: its inputs and outputs. Machines share the store and know nothing of
 * each other: they meet through the API, where what one writes is an event for the others.
 */
export interface Machine<C> {
  /** Takes an event, after the store took it (`changes`), and returns the commands. */
  handle(now: Instant, event: Event, changes: readonly Change[]): readonly C[];
  /** Who asks by its commands (askerOf of their ids): it alone hears of their results. */
  readonly askers: readonly string[];
  /** The earliest instant at which a tick could yield a command; null: only an event can. */
  nextWake(): Instant | null;
}

/** A pause that is there. */
export interface KnownPause {
  /** The pause as the cluster or a file has it. */
  readonly pause: EvictionPause;
  /** Its time is over: it holds nothing any more. */
  readonly isOver: boolean;
}

/** The store as the machines see it: they read it. */
export interface StoreView {
  /** For instants that the API stores, or is to store. */
  readonly clock: ClusterTime;
  node(name: string): Node | null;
  nodes(): Iterable<Node>;
  pod(uid: string): Pod | null;
  pods(): Iterable<Pod>;
  readonly podCount: number;
  podsOn(nodeName: string): Iterable<Pod>;
  /** The view of the pods of a node. */
  podView(nodeName: string): PodView;
  podNamed(namespace: string, name: string): Pod | null;
  /** The lease of a node; null: it has none. */
  lease(nodeName: string): Lease | null;
  daemonSetsIn(namespace: string): Iterable<DaemonSet>;
  /** The state of devices, and of the pods that use them; null: no such event came. */
  readonly devices: Devices | null;
  /** The eviction policies, in the order in which they count. */
  policies(): readonly EvictionPolicy[];
  /** The pauses that are there. */
  pauses(): Iterable<KnownPause>;
  /** Null: the namespace is not known. */
  namespaceLabels(name: string): Labels | null;
  namespaces(): Iterable<readonly [name: string, labels: Labels]>;
}

/**
 * The engine's picture of the cluster: nodes, pods, and pods by node. The store has one writer, the
 * engine. Names of nodes and the common fields of pods are kept once, regardless of the builder: a
 * cluster has few different ones and a great many pods.
 */
export class Store implements StoreView {
  readonly clock: ClusterClock = new ClusterClock();
  readonly #nodes = new Map<string, Node>();
  readonly #pods = new Map<string, KeptPod>();
  /** In lists: a Map for each node would take more room than the pods of most of them. */
  readonly #podsByNode = new Map<string, KeptPod[]>();
  readonly #leases = new Map<string, Lease>();
  readonly #daemonSets = new Map<string, DaemonSet>();
  #podViews: Omit<Extract<Event, { kind: 'podViews' }>, 'kind'> = { others: 'watched', nodes: {} };
  readonly #policies = new Map<string, EvictionPolicy>();
  #policiesInOrder: readonly EvictionPolicy[] = [];
  readonly #pauses = new Map<string, EvictionPause>();
  /** The pauses that are over, though they are still there. */
  readonly #over = new Set<string>();
  readonly #rules = new Map<string, NodeTaintRule>();
  readonly #namespaces = new Map<string, Labels>();
  #devices: Devices | null = null;
  readonly #names = new Interned<string>((name) => name);
  readonly #traits = new KeptTraits();

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
    return this.#podsByNode.get(nodeName) ?? [];
  }

  podView(nodeName: string): PodView {
    const { others, nodes } = this.#podViews;
    const view = Object.hasOwn(nodes, nodeName) ? nodes[nodeName] : undefined;
    return view ?? others;
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

  get devices(): Devices | null {
    return this.#devices;
  }

  policies(): readonly EvictionPolicy[] {
    return this.#policiesInOrder;
  }

  pauses(): Iterable<KnownPause> {
    return Array.from(this.#pauses.values(), (pause) => {
      return { pause, isOver: this.#over.has(pause.name) };
    });
  }

  namespaceLabels(name: string): Labels | null {
    return this.#namespaces.get(name) ?? null;
  }

  namespaces(): Iterable<readonly [name: string, labels: Labels]> {
    return this.#namespaces;
  }

  /** The pauses whose time is over at `now` and was not before. */
  endPauses(now: Instant): readonly Change[] {
    // Asked at each event, and nearly always there are none.
    if (this.#pauses.size === 0) return [];
    const wall = this.clock.wall(now);
    const ended = this.#running().filter(({ until }) => until !== null && until <= wall);
    for (const { name } of ended) this.#over.add(name);
    return ended.map((pause) => ({ kind: 'pauseEnd', pause }));
  }

  /** When the time of the next pause is over; null: none ends by itself. */
  nextPauseEnd(): Instant | null {
    if (this.#pauses.size === 0) return null;
    const end = earliest(this.#running().map(({ until }) => finite(until)));
    return end === null ? null : this.clock.when(end);
  }

  #running(): readonly EvictionPause[] {
    return [...this.#pauses.values()].filter(({ name }) => !this.#over.has(name));
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
        return this.#applyPolicy(now, event);
    }
  }

  #applyPolicy(now: Instant, event: Event): Change | null {
    switch (event.kind) {
      case 'namespaceUpsert':
        return this.#putNamespace(event.namespace.name, event.namespace.labels);
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
        return this.#putPause(event.pause.name, this.#begun(now, event.pause));
      case 'pauseDelete':
        return this.#putPause(event.name, null);
      case 'resourceSliceUpsert':
      case 'resourceSliceDelete':
      case 'deviceTaintRuleUpsert':
      case 'deviceTaintRuleDelete':
      case 'resourceClaimUpsert':
      case 'resourceClaimDelete':
      case 'deviceRights':
        return this.#applyDevice(event);
      default:
        return null;
    }
  }

  /** Most clusters have none: then nothing is kept for them. */
  #applyDevice(event: DeviceEvent): Change | null {
    this.#devices ??= devicesWith(this.#pods.values());
    const pods = this.#devices.handle(event);
    return pods.size === 0 ? null : { kind: 'devices', pods };
  }

  #putNamespace(name: string, labels: Labels | null): Change | null {
    return replace(this.#namespaces, name, labels).isNews ? { kind: 'namespace', name } : null;
  }

  #putPolicy(name: string, policy: EvictionPolicy | null): Change | null {
    const { isNews } = replace(this.#policies, name, policy);
    this.#policiesInOrder = [...this.#policies.values()].sort(inPolicyOrder);
    return isNews ? { kind: 'policy', policy } : null;
  }

  #putTaintRule(name: string, rule: NodeTaintRule | null): Change | null {
    return replace(this.#rules, name, rule).isNews ? { kind: 'taintRule', name, rule } : null;
  }

  /** A pause that does not say since when it holds begins when it is heard of. */
  #begun(now: Instant, pause: EvictionPause): EvictionPause {
    if (Number.isFinite(pause.since)) return pause;
    const since = this.#pauses.get(pause.name)?.since ?? this.clock.wall(now);
    return { ...pause, since };
  }

  #putPause(name: string, pause: EvictionPause | null): Change | null {
    const { isNews, previous } = replace(this.#pauses, name, pause);
    if (isNews) this.#over.delete(name);
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
    const pod = this.#kept(incoming, boundAt, previous);
    if (previous) this.#forget(previous);
    this.#pods.set(pod.uid, pod);
    if (pod.nodeName !== '') {
      const pods = this.#podsByNode.get(pod.nodeName);
      if (pods) pods.push(pod);
      else this.#podsByNode.set(pod.nodeName, [pod]);
    }
    if (usesClaims(pod) || usesClaims(previous)) this.#devices?.handle({ kind: 'podUpsert', pod });
    return { kind: 'pod', pod, previous };
  }

  #deletePod(uid: string): Change | null {
    const previous = this.#pods.get(uid);
    if (!previous) return null;
    this.#forget(previous);
    this.#pods.delete(uid);
    if (usesClaims(previous)) this.#devices?.handle({ kind: 'podDelete', uid });
    return { kind: 'podGone', previous };
  }

  /** A trait that has not changed stays the same object, and the pod stays where it is among all. */
  #kept(incoming: Pod, boundAt: Instant | null, previous: KeptPod | null): KeptPod {
    const { deletionTimestamp, claims } = incoming;
    const nodeName = this.#names.take(incoming.nodeName);
    const { name, uid } = previous?.name === incoming.name ? previous : incoming;
    const traits = this.#traits.take(incoming, previous?.traits ?? null);
    return keepPod({ name, uid, nodeName, boundAt, deletionTimestamp, claims }, traits);
  }

  #forget(pod: KeptPod): void {
    this.#names.release(pod.nodeName);
    this.#traits.release(pod.traits);
    const pods = this.#podsByNode.get(pod.nodeName);
    pods?.splice(pods.indexOf(pod), 1);
    if (pods?.length === 0) this.#podsByNode.delete(pod.nodeName);
  }
}

function usesClaims(pod: Pod | null): boolean {
  return pod?.claims !== undefined;
}

function devicesWith(pods: Iterable<Pod>): Devices {
  const devices = new Devices();
  for (const pod of pods) if (usesClaims(pod)) devices.handle({ kind: 'podUpsert', pod });
  return devices;
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

/**
 * Takes in an object (null: it is gone): returns the earlier state, and true if anything changed
 * that matters. An object that comes again and says the same is no news: its status may be written
 * often.
 */
function replace<T extends object>(
  map: Map<string, T>,
  name: string,
  value: T | null,
): { readonly previous: T | null; readonly isNews: boolean } {
  const previous = map.get(name) ?? null;
  if (value) map.set(name, value);
  else map.delete(name);
  return { previous, isNews: said(previous) !== said(value) };
}

/** The content of an object, without which of its versions says it. */
function said(value: object | null): string {
  return JSON.stringify(value, (key, member) =>
    key === 'uid' || key === 'generation' ? undefined : member,
  );
}
