// Marks the pods of unreachable nodes as not ready.
import { KeyedWrites } from '../attempt/keyed-writes.ts';
import type { Outcome } from '../attempt/outcome.ts';
import type { Instant } from '../kernel/time.ts';
import { type Node, readyOf } from '../model/node.ts';
import { type Pod, podRef } from '../model/pod.ts';
import { unreachableKey } from '../model/taint.ts';
import { coversNamespace, coversNode, coversTaint } from '../policy/scope.ts';
import type { EvictionPause } from '../policy/values.ts';
import type { StoreView } from '../store.ts';
import type { LifecycleConfig } from './config.ts';
import { type LifecycleCommand, podNotReadyEvent } from './node-command.ts';
import { describeHold, type HoldReason, type ReadinessHold, type ZoneStatus } from './reason.ts';

const waits = { confirmationWaitMs: 10_000, retryWaitMsMin: 200, retryWaitMsMax: 30_000 };

/**
 * Marks pods not ready whose node has become unreachable, so that no traffic goes there. A kubelet that
 * says itself that its node is not ready is alive and answers for its pods; nothing here marks a pod
 * ready again: its kubelet does when it is back.
 */
export class ReadinessMarker {
  readonly #store: StoreView;
  readonly #config: LifecycleConfig;
  readonly #holdOn: (nodeName: string) => HoldReason | null;
  readonly #writes: KeyedWrites;

  /** `holdOn`: why the zone of a node is held; null: it is not. */
  constructor(
    store: StoreView,
    config: LifecycleConfig,
    holdOn: (nodeName: string) => HoldReason | null,
  ) {
    this.#store = store;
    this.#config = config;
    this.#holdOn = holdOn;
    this.#writes = new KeyedWrites({
      ...waits,
      prefix: 'readiness',
      max: config.writesInFlightMax,
    });
  }

  /** All pods of the node may be concerned. */
  noticeNode(now: Instant, nodeName: string): void {
    if (!this.#isUnreachable(nodeName)) return;
    for (const pod of this.#store.podsOn(nodeName)) this.notice(now, pod);
  }

  /** The pod may be concerned. */
  notice(now: Instant, pod: Pod): void {
    const { uid } = pod;
    if (this.#writes.isUnderWay(uid)) return;
    if (!this.#isWanted(pod)) this.forget(uid);
    else if (this.#writes.dueAt(uid) === null) this.#writes.postpone(uid, now);
  }

  forget(uid: string): void {
    this.#writes.forget(uid);
  }

  nextWake(): Instant | null {
    return this.#writes.nextWake();
  }

  /** The commands that are due. Pods that may not be marked wait until their node is noticed again. */
  write(now: Instant): readonly LifecycleCommand[] {
    const commands: LifecycleCommand[] = [];
    for (const uid of this.#writes.takeDue(now)) {
      const pod = this.#store.pod(uid);
      if (!pod || !this.#isWanted(pod) || !this.#mayMark(pod)) continue;
      commands.push({ kind: 'markPodNotReady', id: this.#writes.begin(uid), pod: podRef(pod) });
    }
    return commands;
  }

  /** Takes a result; null when it is not one of ours. */
  settle(now: Instant, id: string, outcome: Outcome): readonly LifecycleCommand[] {
    const ended = this.#writes.settle(now, id, outcome);
    if (!ended) return [];
    const { key: uid, failures, at } = ended;
    const pod = this.#store.pod(uid);
    if (!pod || outcome.kind === 'gone') {
      this.forget(uid);
      return [];
    }
    if (outcome.kind === 'done') return [podNotReadyEvent(pod)];
    // Heard of meanwhile: that is no failure.
    if (outcome.kind !== 'failed') return [];
    const failed = { target: podRef(pod), attempt: failures, outcome, at };
    return [{ kind: 'report', report: { kind: 'podMarkFailed', ...failed } }];
  }

  /** True when pauses and the zone of its node let a pod be marked. */
  #mayMark(pod: Pod): boolean {
    if (this.#config.observes || markPause(this.#store, pod)) return false;
    if (this.#config.podReadiness === 'at-once') return true;
    const hold = this.#holdOn(pod.nodeName);
    return hold === null || hold.code === 'ZoneStopped' || hold.code === 'RateZero';
  }

  #isWanted({ ready, nodeName }: Pod): boolean {
    return ready === 'True' && this.#isUnreachable(nodeName);
  }

  #isUnreachable(nodeName: string): boolean {
    return readyOf(this.#store.node(nodeName)?.conditions)?.status === 'Unknown';
  }
}

/**
 * The pause that keeps such a taint from a node that has none of its kind; null: none does.
 * Existing taints stay and leave as usual, and so do those with NoSchedule: without them the
 * scheduler would send pods to a node that is down. A pause of some namespaces only does not apply
 * to nodes.
 */
export function taintPause(store: StoreView, node: Node, key: string): EvictionPause | null {
  return find(store, node, (pause) => keepsTaint(pause, node, key));
}

/** True when a pause that is not over keeps such a taint from a node. */
export function keepsTaint({ readiness, scope }: EvictionPause, node: Node, key: string): boolean {
  const isForNodes = readiness && scope.namespaces.length === 0;
  return isForNodes && coversNode(scope, node) && coversTaint(scope, key);
}

/** The pause that keeps a pod of an unreachable node from being marked not ready; null: none does. */
function markPause(store: StoreView, pod: Pod): EvictionPause | null {
  const node = store.node(pod.nodeName);
  return (
    node &&
    find(
      store,
      node,
      ({ scope }) => coversTaint(scope, unreachableKey) && coversNamespace(scope, pod.namespace),
    )
  );
}

function find(
  store: StoreView,
  node: Node,
  holds: (pause: EvictionPause) => boolean,
): EvictionPause | null {
  for (const { pause, isOver } of store.pauses()) {
    if (!isOver && pause.readiness && coversNode(pause.scope, node) && holds(pause)) return pause;
  }
  return null;
}

/** The number of zones with pods that must not be marked not ready for which a status has room. */
export const heldZonesMax = 64;
/** The number of nodes with pods that must not be marked not ready for which a status has room. */
export const heldNodesMax = 1024;

/**
 * The pods that must not be marked not ready: by pauses, and by doubts about ourselves or a zone.
 * Null: none.
 */
export function readinessHold(
  store: StoreView,
  zones: readonly ZoneStatus[],
): ReadinessHold | null {
  const parts = [...zonesHeld(store, zones), ...pausesHeld(store)];
  if (parts.length === 0) return null;
  const names = unitedOf(parts.map((part) => part.zones));
  const nodes = unitedOf(parts.map((part) => part.nodes));
  // The number for which a status has room; a part of them would let the others be marked.
  const isRoom = names.length <= heldZonesMax && nodes.length <= heldNodesMax;
  const all = parts.some((part) => part.all) || !isRoom;
  return {
    reason: [...new Set(parts.map(({ reason }) => reason))].join('; '),
    all,
    zones: all ? [] : names,
    nodes: all ? [] : nodes,
  };
}

/** True when two holds are of the same pods, for the same reason. */
export function isSameHold(one: ReadinessHold | null, other: ReadinessHold | null): boolean {
  if (!one || !other || one === other) return one === other;
  if (one.reason !== other.reason || one.all !== other.all) return false;
  return isSameList(one.zones, other.zones) && isSameList(one.nodes, other.nodes);
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}

function unitedOf(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())].sort();
}

/** A zone that is only tainted slowly is no reason to send traffic to pods that are gone. */
function isDoubt({ code }: HoldReason): boolean {
  return code !== 'ZoneStopped' && code !== 'RateZero';
}

function zonesHeld(store: StoreView, zones: readonly ZoneStatus[]): readonly ReadinessHold[] {
  const held = zones.flatMap(({ name, hold }) => (hold && isDoubt(hold) ? [{ name, hold }] : []));
  if (held.length > 0 && held.length === zones.length) {
    const reasons = new Set(held.map(({ hold }) => describeHold(hold)));
    return [{ reason: [...reasons].join('; '), all: true, zones: [], nodes: [] }];
  }
  return held.map(({ name, hold }) => {
    const nodes = [...store.nodes()].filter(({ zone = '' }) => zone === name);
    const names = nodes.map((node) => node.name);
    const reason = `zone ${name}: ${describeHold(hold)}`;
    return { reason, all: false, zones: name === '' ? [] : [name], nodes: names };
  });
}

/** Pauses of some namespaces only are left out: nodes cannot express the pods that they hold. */
function pausesHeld(store: StoreView): readonly ReadinessHold[] {
  return [...store.pauses()].flatMap(({ pause, isOver }) => {
    const { scope, readiness } = pause;
    if (isOver || !readiness || scope.namespaces.length > 0) return [];
    if (!coversTaint(scope, unreachableKey)) return [];
    return [partOf(store, pause)];
  });
}

function partOf(store: StoreView, { name, reason: why, scope }: EvictionPause): ReadinessHold {
  const reason = why === '' ? `pause ${name}` : `pause ${name}: ${why}`;
  if (scope.zones.length === 0 && scope.nodes === null) {
    return { reason, all: true, zones: [], nodes: [] };
  }
  const nodes = [...store.nodes()].filter((node) => coversNode(scope, node));
  const zones = scope.nodes === null ? scope.zones : [];
  return { reason, all: false, zones, nodes: nodes.map((node) => node.name) };
}
