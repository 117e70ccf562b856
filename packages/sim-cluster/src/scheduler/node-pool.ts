import { isTerminal, keyOf } from '../controllers/pods.ts';
import { equal } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type Resources, requestsOf, type SchedulingNode, schedulingNode } from './node-fit.ts';

/** A node with what its pods take of it. */
export interface Place {
  readonly name: string;
  readonly seen: SchedulingNode;
  readonly used: Resources;
}

const nothing: Resources = { cpu: 0, memory: 0, pods: 0 };

/**
 * The scheduler's picture of the nodes, kept up to date change by change: what they offer, what
 * is taken, and an order in which zones take turns.
 */
export class NodePool {
  readonly #nodes = new Map<string, SchedulingNode>();
  readonly #used = new Map<string, Resources>();
  /** Both together, as long as neither changes. */
  readonly #places = new Map<string, Place>();
  /** What each counted pod takes and where. */
  readonly #pods = new Map<string, { readonly nodeName: string; readonly takes: Resources }>();
  #order: readonly string[] | null = null;

  /** Returns whether something that matters for scheduling has changed. */
  setNode(node: KubeObject): boolean {
    const { name } = node.metadata;
    const before = this.#nodes.get(name);
    const after = schedulingNode(node);
    this.#nodes.set(name, after);
    this.#places.delete(name);
    if (before?.zone !== after.zone) this.#order = null;
    return !before || !looksAlike(before, after);
  }

  deleteNode(name: string): void {
    this.#nodes.delete(name);
    this.#places.delete(name);
    this.#order = null;
  }

  /** Counts a bound pod, once; a pod that has ended takes nothing any more. */
  setPod(pod: KubeObject): void {
    const key = keyOf(pod);
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
    return this.#nodes.size;
  }

  place(name: string): Place | null {
    const known = this.#places.get(name);
    if (known) return known;
    const seen = this.#nodes.get(name);
    if (!seen) return null;
    const place = { name, seen, used: this.#used.get(name) ?? nothing };
    this.#places.set(name, place);
    return place;
  }

  /** All node names: by name within a zone, zones taking turns. */
  names(): readonly string[] {
    this.#order ??= this.#interleaved();
    return this.#order;
  }

  #interleaved(): readonly string[] {
    const zones = new Map<string, string[]>();
    for (const name of [...this.#nodes.keys()].sort()) {
      const zone = this.#nodes.get(name)?.zone ?? '';
      const members = zones.get(zone);
      if (members) members.push(name);
      else zones.set(zone, [name]);
    }
    const queues = [...zones].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => members);
    const names: string[] = [];
    for (let turn = 0; names.length < this.#nodes.size; turn++) {
      for (const members of queues) names.push(...members.slice(turn, turn + 1));
    }
    return names;
  }

  #take(nodeName: string, amount: Resources, sign: 1 | -1): void {
    this.#places.delete(nodeName);
    const used = this.#used.get(nodeName) ?? nothing;
    const next = {
      cpu: used.cpu + sign * amount.cpu,
      memory: used.memory + sign * amount.memory,
      pods: used.pods + sign * amount.pods,
    };
    if (next.pods === 0) this.#used.delete(nodeName);
    else this.#used.set(nodeName, next);
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
