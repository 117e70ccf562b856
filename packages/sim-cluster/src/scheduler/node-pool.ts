import { isTerminal } from '../controllers/pods.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type Resources, requestsOf, type SchedulingNode, schedulingNode } from './node-fit.ts';
import { Rooms } from './rooms.ts';

/** A node with what its pods take of it, as that is now. */
export type Place = Readonly<Slot>;

interface Slot {
  readonly name: string;
  seen: SchedulingNode;
  /** Changes as pods come and go. */
  readonly used: Resources;
  /** Its place in the order of all; -1 while there is no order. */
  index: number;
}

type Used = { -readonly [resource in keyof Resources]: Resources[resource] };

/**
 * The scheduler's picture of the nodes, kept up to date change by change: what they offer, what
 * is taken, and an order in which zones take turns.
 */
export class NodePool {
  readonly #slots = new Map<string, Slot>();
  readonly #used = new Map<string, Used>();
  /** What each counted pod takes and where. */
  readonly #pods = new Map<string, { readonly nodeName: string; readonly takes: Resources }>();
  #order: readonly Slot[] | null = null;
  /** What is left on each node, in that order. */
  readonly rooms: Rooms = new Rooms();

  /** Returns whether something that matters for scheduling has changed. */
  setNode(node: KubeObject): boolean {
    const { name } = node.metadata;
    const slot = this.#slots.get(name);
    const before = slot?.seen;
    const after = schedulingNode(node);
    if (slot) slot.seen = after;
    else this.#slots.set(name, { name, seen: after, used: this.#usedOn(name), index: -1 });
    if (before?.zone !== after.zone) this.#order = null;
    else if (slot) this.#refresh(slot);
    return !before || !looksAlike(before, after);
  }

  deleteNode(name: string): void {
    this.#slots.delete(name);
    this.#order = null;
  }

  /** Counts a bound pod, once; a pod that has ended takes nothing any more. */
  setPod(key: string, pod: KubeObject): void {
    const takesNothing = !pod.spec.nodeName || isTerminal(pod);
    if (this.#pods.has(key) && !takesNothing) return;
    this.deletePod(key);
    if (takesNothing) return;
    const takes = requestsOf(pod);
    this.#pods.set(key, { nodeName: pod.spec.nodeName, takes });
    this.#take(pod.spec.nodeName, takes, 1);
  }

  deletePod(key: string): void {
    const counted = this.#pods.get(key);
    if (!counted) return;
    this.#pods.delete(key);
    this.#take(counted.nodeName, counted.takes, -1);
  }

  get size(): number {
    return this.#slots.size;
  }

  place(name: string): Place | null {
    return this.#slots.get(name) ?? null;
  }

  /** All nodes: by name within a zone, zones taking turns. Their `rooms` are in the same order. */
  places(): readonly Place[] {
    if (this.#order) return this.#order;
    const order = this.#interleaved();
    this.#order = order;
    this.rooms.reset(order.length);
    for (const [index, slot] of order.entries()) {
      slot.index = index;
      this.#refresh(slot);
    }
    return order;
  }

  #interleaved(): readonly Slot[] {
    const zones = new Map<string, Slot[]>();
    const byName = [...this.#slots.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const slot of byName) {
      const members = zones.get(slot.seen.zone);
      if (members) members.push(slot);
      else zones.set(slot.seen.zone, [slot]);
    }
    const queues = [...zones].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => members);
    const slots: Slot[] = [];
    for (let turn = 0; slots.length < this.#slots.size; turn++) {
      for (const members of queues) slots.push(...members.slice(turn, turn + 1));
    }
    return slots;
  }

  #refresh({ index, seen, used }: Slot): void {
    if (this.#order) this.rooms.set(index, seen, used);
  }

  #usedOn(nodeName: string): Used {
    const known = this.#used.get(nodeName);
    if (known) return known;
    const used = { cpu: 0, memory: 0, pods: 0 };
    this.#used.set(nodeName, used);
    return used;
  }

  #take(nodeName: string, amount: Resources, sign: 1 | -1): void {
    const used = this.#usedOn(nodeName);
    used.cpu += sign * amount.cpu;
    used.memory += sign * amount.memory;
    used.pods += sign * amount.pods;
    const slot = this.#slots.get(nodeName);
    if (slot) this.#refresh(slot);
  }
}

/** Heartbeats leave all of this as it was. */
function looksAlike(a: SchedulingNode, b: SchedulingNode): boolean {
  return (
    a.zone === b.zone &&
    Boolean(a.node.spec?.unschedulable) === Boolean(b.node.spec?.unschedulable) &&
    equal(a.taints, b.taints) &&
    equal(a.allocatable, b.allocatable) &&
    equal(a.node.metadata.labels, b.node.metadata.labels)
  );
}
