import { isTerminal } from '../controllers/pods.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type Resources, requestsOf, type SchedulingNode, schedulingNode } from './node-fit.ts';

// The room left on each node, in rows of numbers: the scheduler goes through them for every pod.

/**
 * The nodes of a pool as numbers, in the order of the pool. A few hundred are compared for each pod, which
 * in objects takes longer than all else that happens to the pod.
 */
class Rooms {
  #cpu = new Float64Array();
  #memory = new Float64Array();
  #pods = new Float64Array();
  #used = new Float64Array();
  #zone = new Int32Array();
  #isOpen = new Uint8Array();
  /** How many siblings of the pod that is being placed are on each node and in each zone. */
  #siblings = new Int32Array();
  #zoneSiblings: number[] = [];
  #zones = new Map<string, number>();

  /** Forgets all, and has so many nodes. */
  reset(length: number): void {
    this.#cpu = new Float64Array(length);
    this.#memory = new Float64Array(length);
    this.#pods = new Float64Array(length);
    this.#used = new Float64Array(length);
    this.#zone = new Int32Array(length);
    this.#isOpen = new Uint8Array(length);
    this.#siblings = new Int32Array(length);
    this.#zones = new Map();
    this.#zoneSiblings = [];
  }

  /** Takes in what a node offers, and what is taken of it. */
  set(index: number, { allocatable, isOpen, zone }: SchedulingNode, used: Resources): void {
    this.#cpu[index] = allocatable.cpu - used.cpu;
    this.#memory[index] = allocatable.memory - used.memory;
    this.#pods[index] = allocatable.pods - used.pods;
    this.#used[index] = used.pods;
    this.#isOpen[index] = isOpen ? 1 : 0;
    const known = this.#zones.get(zone) ?? this.#zones.size;
    this.#zones.set(zone, known);
    this.#zoneSiblings[known] ??= 0;
    this.#zone[index] = known;
  }

  /** Notes that a node has so many siblings of the pod that is to be placed; 0 takes that back. */
  noteSiblings(index: number, count: number): void {
    const zone = this.#zone[index] ?? 0;
    const before = this.#siblings[index] ?? 0;
    this.#zoneSiblings[zone] = (this.#zoneSiblings[zone] ?? 0) + count - before;
    this.#siblings[index] = count;
  }

  /** Whether a node lets every pod in that asks for no node in particular. */
  isOpen(index: number): boolean {
    return this.#isOpen[index] === 1;
  }

  /** Whether there is room on a node. */
  fits(index: number, wants: Resources): boolean {
    return (
      (this.#pods[index] ?? 0) >= 1 &&
      (wants.cpu === 0 || (this.#cpu[index] ?? 0) >= wants.cpu) &&
      (wants.memory === 0 || (this.#memory[index] ?? 0) >= wants.memory)
    );
  }

  /**
   * Whether the one is better than the other: fewer siblings in its zone, then on the node, then fewer
   * pods at all.
   */
  isBetter(index: number, other: number): boolean {
    const zone = this.#inZone(index) - this.#inZone(other);
    if (zone !== 0) return zone < 0;
    const own = (this.#siblings[index] ?? 0) - (this.#siblings[other] ?? 0);
    if (own !== 0) return own < 0;
    return (this.#used[index] ?? 0) < (this.#used[other] ?? 0);
  }

  #inZone(index: number): number {
    return this.#zoneSiblings[this.#zone[index] ?? 0] ?? 0;
  }
}

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
