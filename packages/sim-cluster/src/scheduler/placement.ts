// Chooses the node of a pending pod.
import { keyOf } from '../controllers/pods.ts';
import { seedFor } from '../kernel/hash.ts';
import { randomInteger, seededRandom } from '../kernel/prng.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { type SelectsDevice, selectsByDriver } from './device-pools.ts';
import { deviceFilters, devicesRefusal } from './devices.ts';
import { type Failure, failureText, type Refusal } from './failure.ts';
import { type Filter, firstRejection, type Rejection } from './filter.ts';
import type { PlacedPod } from './labelled-pods.ts';
import { namedNodes } from './node-affinity.ts';
import {
  diskFilters,
  nodeAffinityFilters,
  portFilters,
  resourceFilter,
  taintFilter,
} from './node-filters.ts';
import { NodePool } from './node-pool.ts';
import type { Place } from './place.ts';
import { heedsInAffinity, podAffinityFilters } from './pod-affinity.ts';
import { PodPeers } from './pod-peers.ts';
import type { NamespaceLabels } from './pod-selector.ts';
import { type SchedulingPod, schedulingPod } from './scheduling-pod.ts';
import { bestOf, type PluginScores, scoresOf } from './scores.ts';
import { heedsInSpread, spreadFilters } from './topology-spread.ts';
import type { Objects } from './volume-claims.ts';
import { claimsRefusal, volumeFilters } from './volumes.ts';

/** With fewer nodes than this all are compared; with more, only a share that fits. */
const compareAllBelow = 100;

/** The options of `Placement`. */
export interface PlacementOptions {
  /** Whatever else is stored and matters. */
  readonly objects: Objects;
  /** Decides among nodes with equal scores. */
  readonly seed: number;
  /** The place at which another search stopped, to continue from. */
  readonly next?: number;
  /** Ignores claims, for clusters in which no provisioner gives them volumes. */
  readonly ignoresClaims?: boolean;
  /** Reads the expressions that select devices; left out: those that name a driver. */
  readonly selects?: SelectsDevice;
}

/** A pod that joined a node, or is gone from it. */
export interface MovedPod extends PlacedPod {
  /** True if the pod is gone from the node. */
  readonly isGone: boolean;
}

/** The result of the search for a node. */
export type Search =
  | { readonly place: Place; readonly failure: null }
  | { readonly place: null; readonly failure: Failure };

/** The rules for one pod: those that a node is tried by first, and all in the order of their reasons. */
interface Rules {
  readonly extra: readonly Filter[];
  readonly all: readonly Filter[];
}

/**
 * Finds places for pods, one after the other, as kube-scheduler 1.36 does in its default profile:
 * of the nodes that pass all filters it takes one of those with the highest score. The choice among
 * equal nodes is drawn by the name of the pod, so that events of one pod do not change the places
 * of others.
 */
export class Placement {
  /** The nodes and the pods on them, by which places are found. */
  readonly pool: NodePool;
  readonly #objects: Objects;
  readonly #seed: number;
  readonly #ignoresClaims: boolean;
  readonly #selects: SelectsDevice;
  readonly #peers: PodPeers;
  readonly #labelsOf: NamespaceLabels;
  /** The nodes for which pods were nominated, by the keys of those. */
  readonly #nominations = new Map<string, Place>();
  #next: number;

  constructor({ objects, seed, next = 0, ignoresClaims = false, selects }: PlacementOptions) {
    this.#objects = objects;
    this.#seed = seed;
    this.#next = next;
    this.#ignoresClaims = ignoresClaims;
    this.#selects = selects ?? selectsByDriver;
    this.#peers = new PodPeers(objects);
    this.#labelsOf = (namespace) =>
      objects.get('namespaces', '', namespace)?.metadata.labels ?? noLabels;
    this.pool = new NodePool(this.#labelsOf);
  }

  /** The place at which the next search begins. */
  get next(): number {
    return this.#next;
  }

  /** Returns the node, if something that matters for scheduling has changed; else null. */
  setNode(node: KubeObject): Place | null {
    return this.pool.setNode(node);
  }

  /** Returns the remaining place of the node; null: it was not there. */
  deleteNode(name: string): Place | null {
    return this.pool.deleteNode(name);
  }

  /** Takes a pod in the state that it has now; returns how it counts, where that has changed; else null. */
  setPod(key: string, pod: KubeObject): PlacedPod | null {
    return this.pool.setPod(key, pod);
  }

  /** Returns the pod as it was counted; null: it was not. */
  deletePod(key: string): PlacedPod | null {
    return this.pool.deletePod(key);
  }

  /**
   * True if a pod that fitted nowhere may fit after another one has joined a node or has left it:
   * required terms relate the two, or the node has room now.
   */
  isHelpedBy(pod: SchedulingPod, { pod: moved, place, isGone }: MovedPod): boolean {
    if (heedsInSpread(pod, moved) || heedsInAffinity(pod, moved, this.#labelsOf)) return true;
    if (!isGone) return false;
    if (pod.claims.some((claim) => moved.claims.includes(claim))) return true;
    return this.#hasRoom(pod, place);
  }

  /** True if a pod that fitted nowhere may fit after a node was added, changed or removed. */
  isHelpedByNode(pod: SchedulingPod, place: Place): boolean {
    if (pod.pod.spec.topologySpreadConstraints || pod.terms.near.length > 0) return true;
    if (!place.offer || taintFilter(pod).check(place)) return false;
    if (firstRejection(nodeAffinityFilters(pod), place)) return false;
    return this.#hasRoom(pod, place);
  }

  /** True if CPU, memory and a place are free, or less important pods could free them. */
  #hasRoom(pod: SchedulingPod, place: Place): boolean {
    const { pool } = this;
    if (!place.offer || pool.places().length === 0) return false;
    if (pool.rooms.fits(place.index, pod.requests)) return true;
    if (!pool.hasBelow(pod.priority)) return false;
    for (const { priority } of place.pods.values()) if (priority < pod.priority) return true;
    return false;
  }

  /** Something else has changed that pods are placed by: a Service, a controller, a namespace. */
  forget(resource: string): void {
    if (resource === 'namespaces') this.pool.tallies.clear();
    else this.#peers.clear();
  }

  /** Notes the node on which a pod has made room for itself, or none; returns whether it had one. */
  nominate(key: string, name: string | null, pod: KubeObject | null = null): boolean {
    const before = this.#nominations.get(key);
    before?.nominated.delete(key);
    this.#nominations.delete(key);
    const place = name === null ? null : this.pool.place(name);
    if (!place || !pod) return before !== undefined;
    place.nominated.set(key, schedulingPod(key, pod));
    this.#nominations.set(key, place);
    return before !== undefined;
  }

  /** The best place that fits; null: none does. */
  best(pod: KubeObject): Place | null {
    return this.search(schedulingPod(keyOf(pod), pod)).place;
  }

  /** Looks for the best place, first of all where the pod was nominated. */
  search(pod: SchedulingPod): Search {
    const { pool } = this;
    // The rules go by the places of nodes in their order.
    pool.places();
    const refusal = this.#refusal(pod);
    if (pool.size === 0 || refusal !== null) return this.#failed({ refusal });
    const rules = this.#rulesFor(pod);
    const nominated = this.#nominations.get(pod.key);
    if (nominated?.offer && !this.rejection(rules.all, pod, nominated)) {
      return { place: nominated, failure: null };
    }
    const compared = this.#feasible(pod, rules);
    const [only] = compared;
    if (only === undefined) return this.#failed({ pod, filters: rules.all });
    const index = compared.length === 1 ? only : this.#chosen(pod, compared);
    const place = pool.places()[index];
    if (!place) throw new Error(`no node stands at ${index}`);
    return { place, failure: null };
  }

  /** The scores of each plugin for the nodes that fit, with the nodes' names. */
  scores(pod: SchedulingPod): { readonly names: readonly string[]; readonly of: PluginScores[] } {
    const places = this.pool.places();
    const compared = this.#feasible(pod, this.#rulesFor(pod));
    return {
      names: compared.map((index) => places[index]?.name ?? ''),
      of: [...this.#scoresOf(pod, compared)],
    };
  }

  /** Why a pod fits nowhere. */
  refusal(pod: KubeObject): string {
    const { failure } = this.search(schedulingPod(keyOf(pod), pod));
    return failure ? failureText(failure) : '';
  }

  /**
   * Why a node cannot take the pod; null: it can, whether or not the pods come that made room there for
   * themselves and are not less important.
   */
  rejection(filters: readonly Filter[], pod: SchedulingPod, place: Place): Rejection | null {
    const before = place.nominated.size === 0 ? none : nominatedBefore(pod, place);
    if (before.length > 0) {
      for (const other of before) shift(filters, other, place, 1);
      const rejection = firstRejection(filters, place);
      for (const other of before) shift(filters, other, place, -1);
      if (rejection) return rejection;
    }
    return firstRejection(filters, place);
  }

  #refusal(pod: SchedulingPod): Refusal | null {
    const objects = this.#objects;
    if (namedNodes(pod.pod.spec)?.size === 0) {
      return { text: 'pod affinity terms conflict', subject: 'volumes' };
    }
    if (!this.#ignoresClaims && pod.claims.length > 0) {
      const text = claimsRefusal(objects, pod);
      if (text !== null) return { text, subject: 'volumes' };
    }
    const text = devicesRefusal(objects, pod);
    return text === null ? null : { text, subject: 'devices' };
  }

  #rulesFor(pod: SchedulingPod): Rules {
    const { pool } = this;
    const objects = this.#objects;
    const taints = taintFilter(pod);
    const affinity = nodeAffinityFilters(pod);
    const ports = portFilters(pod);
    const resources = resourceFilter(pod);
    const others = [
      ...diskFilters(pod),
      ...(this.#ignoresClaims ? [] : volumeFilters(objects, pool, pod)),
      ...spreadFilters(pool, pod),
      ...podAffinityFilters(pool, pod, this.#labelsOf),
      ...deviceFilters(objects, pod, this.#selects),
    ];
    const rare = pod.requests.others.size > 0 ? [resources] : [];
    return {
      extra: [...affinity, ...ports, ...rare, ...others],
      all: [taints, ...affinity, ...ports, resources, ...others],
    };
  }

  /**
   * The nodes that fit, as many as are compared, by their places in the order of the pool. If not
   * all nodes are read, the next search starts where this one stopped.
   */
  #feasible(pod: SchedulingPod, rules: Rules): readonly number[] {
    const names = namedNodes(pod.pod.spec);
    const places = this.pool.places();
    if (names) {
      const named = [...names].flatMap((name) => this.pool.place(name) ?? []);
      const fit = named.filter((place) => !this.rejection(rules.all, pod, place));
      return fit.map(({ index }) => index).sort((one, other) => one - other);
    }
    const isAny = places.length < compareAllBelow;
    let index = isAny ? 0 : this.#next % places.length;
    const wanted = comparedAtMost(places.length);
    const found: number[] = [];
    for (let step = 0; step < places.length && found.length < wanted; step++) {
      if (this.#fits(pod, rules, places, index)) found.push(index);
      index++;
      if (index === places.length) index = 0;
    }
    if (!isAny) this.#next = index;
    return found;
  }

  /** Most nodes are judged by the rows of numbers alone. */
  #fits(pod: SchedulingPod, rules: Rules, places: readonly Place[], index: number): boolean {
    const { rooms } = this.pool;
    if (!rooms.fits(index, pod.requests)) return false;
    const isQuick = this.#nominations.size === 0 && rules.extra.length === 0;
    if (isQuick && rooms.isOpen(index)) return true;
    const place = places[index];
    if (!place) return false;
    if (place.nominated.size > 0) return !this.rejection(rules.all, pod, place);
    const [taints] = rules.all;
    if (!rooms.isOpen(index) && taints?.check(place)) return false;
    return !firstRejection(rules.extra, place);
  }

  #chosen(pod: SchedulingPod, compared: readonly number[]): number {
    const best = bestOf(compared.length, this.#scoresOf(pod, compared));
    const [first = 0] = best;
    if (best.length === 1) return compared[first] ?? 0;
    const random = seededRandom(seedFor(this.#seed, pod.key));
    return compared[best[randomInteger(random, 0, best.length)] ?? first] ?? 0;
  }

  #scoresOf(pod: SchedulingPod, compared: readonly number[]): readonly PluginScores[] {
    return scoresOf(this.pool, pod, compared, (one) => this.#peers.of(one));
  }

  #failed(of: { pod: SchedulingPod; filters: readonly Filter[] } | { refusal: Refusal | null }): {
    readonly place: null;
    readonly failure: Failure;
  } {
    const nodes = this.pool.size;
    if ('refusal' in of) {
      const { refusal } = of;
      return { place: null, failure: { nodes, refusal, rejections: new Map(), filters: [] } };
    }
    const { pod, filters } = of;
    const names = namedNodes(pod.pod.spec);
    const asked = names
      ? [...names].flatMap((name) => this.pool.place(name) ?? [])
      : this.pool.places();
    const rejections = new Map<Place, Rejection>();
    for (const place of asked) {
      const rejection = this.rejection(filters, pod, place);
      if (rejection) rejections.set(place, rejection);
    }
    return { place: null, failure: { nodes, refusal: null, rejections, filters } };
  }
}

const noLabels = {};
const none: readonly SchedulingPod[] = [];

/** Pods that were nominated for the node and do not give way to this one. */
function nominatedBefore(pod: SchedulingPod, place: Place): readonly SchedulingPod[] {
  return [...place.nominated.values()].filter(
    ({ key, priority }) => key !== pod.key && priority >= pod.priority,
  );
}

/** Puts a pod on a node, or takes it away, for the rules of another one alone. */
export function shift(
  filters: readonly Filter[],
  pod: SchedulingPod,
  place: Place,
  by: 1 | -1,
): void {
  if (by > 0) place.add(pod);
  else place.delete(pod);
  for (const filter of filters) filter.note?.(pod, place, by);
}

/** kube-scheduler's adaptive share: half of 100 nodes, falling to 5 %, never below 100 nodes. */
function comparedAtMost(nodeCount: number): number {
  if (nodeCount < compareAllBelow) return nodeCount;
  const percent = Math.max(5, 50 - Math.floor(nodeCount / 125));
  return Math.max(compareAllBelow, Math.floor((nodeCount * percent) / 100));
}
