import { isTerminal } from '../controllers/pods.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type Resources, requestsOf, type SchedulingNode, schedulingNode } from './node-fit.ts';

/** A node with what its pods take of it, as that is now. */
export type Place = Readonly<Slot>;

interface Slot {
  readonly name: string;
  seen: SchedulingNode;
  zone: Zone;
  /** Changes as pods come and go. */
  readonly used: Resources;
}

/** A failure domain, and how many siblings of the pod that is being placed are in it. */
interface Zone {
  siblings: number;
}

type Used = { -readonly [resource in keyof Resources]: Resources[resource] };

/**
 * The scheduler's picture of the nodes, kept up to date change by change: what they offer, what
 * is taken, and an order in which zones take turns.
 */
export class NodePool {
  readonly #slots = new Map<string, Slot>();
  readonly #zones = new Map<string, Zone>();
  readonly #used = new Map<string, Used>();
  /** What each counted pod takes and where. */
  readonly #pods = new Map<string, { readonly nodeName: string; readonly takes: Resources }>();
  #order: readonly Place[] | null = null;

  /** Returns whether something that matters for scheduling has changed. */
  setNode(node: KubeObject): boolean {
    const { name } = node.metadata;
    const slot = this.#slots.get(name);
    const before = slot?.seen;
    const after = schedulingNode(node);
    const zone = this.#zone(after.zone);
    if (!slot) this.#slots.set(name, { name, seen: after, zone, used: this.#usedOn(name) });
    else {
      slot.seen = after;
      slot.zone = zone;
    }
    if (before?.zone !== after.zone) this.#order = null;
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

  /** All nodes: by name within a zone, zones taking turns. */
  places(): readonly Place[] {
    this.#order ??= this.#interleaved();
    return this.#order;
  }

  #interleaved(): readonly Place[] {
    const zones = new Map<string, Place[]>();
    const byName = [...this.#slots.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const place of byName) {
      const members = zones.get(place.seen.zone);
      if (members) members.push(place);
      else zones.set(place.seen.zone, [place]);
    }
    const queues = [...zones].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => members);
    const places: Place[] = [];
    for (let turn = 0; places.length < this.#slots.size; turn++) {
      for (const members of queues) places.push(...members.slice(turn, turn + 1));
    }
    return places;
  }

  /** Counts in each zone the pods of `byNode`, siblings of the pod that is to be placed next. */
  countSiblings(byNode: ReadonlyMap<string, number>): void {
    for (const zone of this.#zones.values()) zone.siblings = 0;
    for (const [name, count] of byNode) {
      const slot = this.#slots.get(name);
      if (slot) slot.zone.siblings += count;
    }
  }

  #zone(name: string): Zone {
    const known = this.#zones.get(name);
    if (known) return known;
    const zone = { siblings: 0 };
    this.#zones.set(name, zone);
    return zone;
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
