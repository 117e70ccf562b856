// The nodes of a cluster and the pods on them, as the scheduler counts them.
import { isTerminal } from '../controllers/pods.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { NodeImages } from './images.ts';
import { LabelledPods, type PlacedPod } from './labelled-pods.ts';
import { looksAlike, offerOf, Place } from './place.ts';
import type { NamespaceLabels } from './pod-selector.ts';
import { PodTallies } from './pod-tallies.ts';
import { Rooms } from './rooms.ts';
import { countsAlike, type SchedulingPod, schedulingPod } from './scheduling-pod.ts';
import { TermHolders } from './term-holders.ts';

/** The values that a label has on nodes, numbered. */
export interface Domains {
  /** By the place of a node in the order: the number of its value; -1: it has no such label. */
  readonly of: Int32Array;
  /** The number of values. */
  readonly size: number;
}

/**
 * Keeps the used amounts of each node, and an order in which zones take turns, as in
 * kube-scheduler's list of nodes.
 */
export class NodePool {
  readonly #places = new Map<string, Place>();
  /** The pods that count on a node. */
  readonly #pods = new Map<string, PlacedPod>();
  /** The number of pods of each priority. */
  readonly #priorities = new Map<number, number>();
  /** By namespace and name of a claim, the nodes of the pods that have it. */
  readonly #users = new Map<string, Map<string, Place>>();
  readonly #labelled = new LabelledPods();
  readonly #domains = new Map<string, Domains>();
  #order: readonly Place[] | null = null;
  #nodes = 0;
  #shyNodes = 0;
  /** The free room on each node, in that order. */
  readonly rooms: Rooms = new Rooms();
  readonly images: NodeImages = new NodeImages();
  readonly tallies: PodTallies;
  readonly holders: TermHolders;

  constructor(labelsOf: NamespaceLabels = () => ({})) {
    this.tallies = new PodTallies(this.#labelled, labelsOf);
    this.holders = new TermHolders(labelsOf);
  }

  /** The number of nodes. */
  get size(): number {
    return this.#nodes;
  }

  /** True if some nodes ask pods to prefer others. */
  get hasShyNodes(): boolean {
    return this.#shyNodes > 0;
  }

  /** Returns the node, if something that matters for scheduling has changed; else null. */
  setNode(node: KubeObject): Place | null {
    const place = this.#place(node.metadata.name);
    const before = place.offer;
    if (before && looksAlike(before, node)) return null;
    const after = offerOf(node);
    place.offer = after;
    if (!before) this.#nodes++;
    if (before?.images !== after.images) {
      this.images.set(place.name, before?.images ?? [], after.images);
    }
    this.#shyNodes += Number(after.isShy) - Number(before?.isShy ?? false);
    this.#domains.clear();
    if (before?.zone !== after.zone) this.#order = null;
    else if (this.#order) this.rooms.set(place);
    return place;
  }

  /** Returns the remaining place of the node; null: it was not there. */
  deleteNode(name: string): Place | null {
    const place = this.#places.get(name);
    if (!place?.offer) return null;
    if (place.offer.isShy) this.#shyNodes--;
    this.images.set(name, place.offer.images, []);
    place.offer = null;
    place.index = -1;
    this.#nodes--;
    this.#order = null;
    this.#domains.clear();
    if (place.pods.size + place.nominated.size === 0) this.#places.delete(name);
    return place;
  }

  /**
   * Counts a pod in the state that it has now, where it is bound; one that has ended takes nothing any more.
   * Returns how it counts, where that has changed; else null.
   */
  setPod(key: string, pod: KubeObject): PlacedPod | null {
    const counted = this.#pods.get(key);
    const nodeName: string = isTerminal(pod) ? '' : (pod.spec.nodeName ?? '');
    if (counted && nodeName === counted.place.name && countsAlike(counted.pod, pod)) {
      counted.pod.pod = pod;
      return null;
    }
    this.deletePod(key);
    return nodeName === '' ? null : this.count(schedulingPod(key, pod), this.#place(nodeName));
  }

  /** Counts a pod on a node. */
  count(pod: SchedulingPod, place: Place): PlacedPod {
    const placed = { pod, place };
    this.#pods.set(pod.key, placed);
    this.#labelled.add(placed);
    place.add(pod);
    this.#recount(placed, 1);
    return placed;
  }

  /** Returns the pod as it was counted; null: it was not. */
  deletePod(key: string): PlacedPod | null {
    const counted = this.#pods.get(key);
    if (!counted) return null;
    this.#pods.delete(key);
    this.#labelled.delete(counted);
    counted.place.delete(counted.pod);
    this.#recount(counted, -1);
    return counted;
  }

  /** The place of a node; null: there is no such node. */
  place(name: string): Place | null {
    const place = this.#places.get(name);
    return place?.offer ? place : null;
  }

  /** True if pods of a lower priority are on nodes. */
  hasBelow(priority: number): boolean {
    for (const one of this.#priorities.keys()) if (one < priority) return true;
    return false;
  }

  /** The nodes of the pods that have a claim, by the pods' keys. */
  usersOf(namespace: string, claim: string): ReadonlyMap<string, Place> {
    return this.#users.get(`${namespace}/${claim}`) ?? nobody;
  }

  /** All nodes: by name within a zone, zones taking turns. Their `rooms` are in the same order. */
  places(): readonly Place[] {
    if (this.#order) return this.#order;
    const order = this.#interleaved();
    this.#order = order;
    this.#domains.clear();
    this.rooms.reset(order.length);
    for (const [index, place] of order.entries()) {
      place.index = index;
      this.rooms.set(place);
    }
    return order;
  }

  /** The domains that a label makes of the nodes. */
  domains(label: string): Domains {
    const known = this.#domains.get(label);
    if (known) return known;
    const places = this.places();
    const numbers = new Map<string, number>();
    const of = new Int32Array(places.length).fill(-1);
    for (const [index, { offer }] of places.entries()) {
      const value = offer?.labels[label];
      if (value === undefined) continue;
      const number = numbers.get(value) ?? numbers.size;
      numbers.set(value, number);
      of[index] = number;
    }
    const domains = { of, size: numbers.size };
    this.#domains.set(label, domains);
    return domains;
  }

  #place(name: string): Place {
    const known = this.#places.get(name);
    if (known) return known;
    const place = new Place(name);
    this.#places.set(name, place);
    return place;
  }

  #interleaved(): readonly Place[] {
    const zones = new Map<string, Place[]>();
    const named = [...this.#places.values()].filter(({ offer }) => offer !== null);
    for (const place of named.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const zone = place.offer?.zone ?? '';
      const members = zones.get(zone);
      if (members) members.push(place);
      else zones.set(zone, [place]);
    }
    const queues = [...zones].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, members]) => members);
    const places: Place[] = [];
    for (let turn = 0; places.length < named.length; turn++) {
      for (const members of queues) places.push(...members.slice(turn, turn + 1));
    }
    return places;
  }

  #recount({ pod, place }: PlacedPod, by: 1 | -1): void {
    this.tallies.count(pod, place, by);
    this.holders.count(pod, place, by);
    const peers = (this.#priorities.get(pod.priority) ?? 0) + by;
    if (peers === 0) this.#priorities.delete(pod.priority);
    else this.#priorities.set(pod.priority, peers);
    for (const claim of pod.claims) this.#setUser(`${pod.namespace}/${claim}`, pod, place, by);
    if (this.#order && place.index >= 0) this.rooms.setUsed(place);
  }

  #setUser(claim: string, { key }: SchedulingPod, place: Place, by: 1 | -1): void {
    const users = this.#users.get(claim) ?? new Map<string, Place>();
    if (by > 0) users.set(key, place);
    else users.delete(key);
    if (users.size > 0) this.#users.set(claim, users);
    else this.#users.delete(claim);
  }
}

const nobody: ReadonlyMap<string, Place> = new Map();
