// Topology spread: how evenly the pods of a selector are over the domains of a label.
import type { KubeObject } from '../objects/kube-object.ts';
import type { Requirement } from '../selectors/labels.ts';
import { type Filter, rejected, rejectedForGood } from './filter.ts';
import { admitsNode } from './node-affinity.ts';
import type { Domains, NodePool } from './node-pool.ts';
import type { Offer, Place } from './place.ts';
import {
  type Labels,
  type PodSelector,
  podSelector,
  requirementsWith,
  selects,
} from './pod-selector.ts';
import type { CountByPlace } from './pod-tallies.ts';
import type { SchedulingPod } from './scheduling-pod.ts';
import { isKeptOut, tolerationsOf } from './taints.ts';

interface GivenConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: KubeObject['selector'];
  readonly matchLabelKeys?: readonly string[];
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
}

/** A constraint, its selector read for one pod. */
interface Constraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: PodSelector;
  readonly heedsAffinity: boolean;
  readonly heedsTaints: boolean;
}

const hostnameLabel = 'kubernetes.io/hostname';
const zoneLabel = 'topology.kubernetes.io/zone';
const noLabels = (): Labels => ({});
const unlabelled = rejectedForGood(
  'spread',
  "node(s) didn't match pod topology spread constraints (missing required label)",
);
const skewed = rejected('spread', "node(s) didn't match pod topology spread constraints");

function givenIn({ pod }: Readonly<SchedulingPod>): readonly GivenConstraint[] {
  return pod.spec.topologySpreadConstraints ?? [];
}

/** The constraints of one kind, about pods of the pod's own namespace. */
function constraintsOf(pod: SchedulingPod, kind: string): readonly Constraint[] {
  return givenIn(pod)
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === kind)
    .map((given) => ({
      topologyKey: given.topologyKey,
      maxSkew: given.maxSkew,
      minDomains: given.minDomains ?? 1,
      selector: podSelector(
        [pod.namespace],
        requirementsWith(given.labelSelector, pod.labels, given.matchLabelKeys),
      ),
      heedsAffinity: given.nodeAffinityPolicy !== 'Ignore',
      heedsTaints: given.nodeTaintsPolicy === 'Honor',
    }));
}

/** True if the pods of a node count, by the policies of a constraint. */
function isIncluded(pod: SchedulingPod, constraint: Constraint, offer: Offer): boolean {
  if (constraint.heedsAffinity && !admitsNode(pod.pod.spec, offer.node)) return false;
  return !constraint.heedsTaints || !isKeptOut(offer, tolerationsOf(pod));
}

/** The pods of the domains of one constraint. */
class Spread {
  readonly #constraint: Constraint;
  readonly #domains: Domains;
  readonly #counts: Int32Array;
  /** The number of nodes of a domain that count; a domain without any does not exist. */
  readonly #nodes: Int32Array;
  readonly #isCounted: Uint8Array;
  readonly #own: 0 | 1;
  /** The fewest pods in a domain; null: to be looked for. */
  #least: number | null = null;

  constructor(pool: NodePool, pod: SchedulingPod, all: readonly Constraint[], own: Constraint) {
    this.#constraint = own;
    this.#domains = pool.domains(own.topologyKey);
    this.#counts = new Int32Array(this.#domains.size);
    this.#nodes = new Int32Array(this.#domains.size);
    const places = pool.places();
    const others = all.map(({ topologyKey }) => pool.domains(topologyKey).of);
    this.#isCounted = new Uint8Array(places.length);
    for (const [index, { offer }] of places.entries()) {
      if (!offer || others.some((domains) => (domains[index] ?? -1) < 0)) continue;
      if (!isIncluded(pod, own, offer)) continue;
      this.#isCounted[index] = 1;
      const domain = this.#domains.of[index] ?? 0;
      this.#nodes[domain] = (this.#nodes[domain] ?? 0) + 1;
    }
    for (const [place, count] of pool.tallies.staying(own.selector)) this.#add(place, count);
    this.#own = selects(own.selector, pod, noLabels) ? 1 : 0;
  }

  /** True if a node has the label. */
  has({ index }: Place): boolean {
    return (this.#domains.of[index] ?? -1) >= 0;
  }

  /** True if one more pod on the node is within the skew. */
  admits({ index }: Place): boolean {
    const there = this.#counts[this.#domains.of[index] ?? 0] ?? 0;
    this.#least ??= this.#leastCount();
    return there + this.#own - this.#least <= this.#constraint.maxSkew;
  }

  note(pod: SchedulingPod, place: Place, by: 1 | -1): void {
    if (selects(this.#constraint.selector, pod, noLabels)) this.#add(place, by);
  }

  #add({ index }: Place, count: number): void {
    if (index < 0 || this.#isCounted[index] === 0) return;
    const domain = this.#domains.of[index] ?? 0;
    this.#counts[domain] = (this.#counts[domain] ?? 0) + count;
    this.#least = null;
  }

  /** With too few domains as if there were an empty one. */
  #leastCount(): number {
    let domains = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let domain = 0; domain < this.#nodes.length; domain++) {
      if (this.#nodes[domain] === 0) continue;
      domains++;
      least = Math.min(least, this.#counts[domain] ?? 0);
    }
    return domains < this.#constraint.minDomains ? 0 : least;
  }
}

/** PodTopologySpread, where the pod has constraints that must hold. */
export function spreadFilters(pool: NodePool, pod: SchedulingPod): readonly Filter[] {
  const constraints = constraintsOf(pod, 'DoNotSchedule');
  if (constraints.length === 0) return [];
  const spreads = constraints.map((one) => new Spread(pool, pod, constraints, one));
  return [
    {
      check: (place) => {
        for (const spread of spreads) {
          if (!spread.has(place)) return unlabelled;
          if (!spread.admits(place)) return skewed;
        }
        return null;
      },
      note: (other, place, by) => {
        if (!spreads.every((spread) => spread.has(place))) return;
        for (const spread of spreads) spread.note(other, place, by);
      },
    },
  ];
}

/** True if required constraints of the first pod count the other one. */
export function heedsInSpread(pod: SchedulingPod, other: SchedulingPod): boolean {
  if (givenIn(pod).length === 0) return false;
  return constraintsOf(pod, 'DoNotSchedule').some(({ selector }) =>
    selects(selector, other, noLabels),
  );
}

/** The nodes that are compared, by their places in the order of the pool. */
type Compared = readonly number[];

/**
 * Selects the pods that belong with a pod: those of its Services and of its controller; null:
 * unknown.
 */
export type PeersOf = (pod: SchedulingPod) => readonly Requirement[] | null;

/**
 * The scores of PodTopologySpread, before they are weighted; null: there is nothing to spread. A
 * pod without constraints that a Service selects or that a ReplicaSet, StatefulSet or
 * ReplicationController owns is spread over nodes and zones, and also over nodes without a zone.
 */
export function spreadScores(
  pool: NodePool,
  pod: SchedulingPod,
  compared: Compared,
  peersOf: PeersOf,
): Float64Array | null {
  const isGiven = givenIn(pod).length > 0;
  const peers = isGiven ? null : peersOf(pod);
  const usual = peers === null ? [] : usualConstraints(pod, peers);
  const constraints = isGiven ? constraintsOf(pod, 'ScheduleAnyway') : usual;
  if (constraints.length === 0) return null;
  const scores = new Float64Array(compared.length);
  const left = isGiven ? leftOut(pool, compared, constraints) : null;
  for (const constraint of constraints) {
    addCounts(scores, { pool, pod, constraint, compared, left, all: isGiven ? constraints : [] });
  }
  return normalized(scores, left);
}

function usualConstraints(
  pod: SchedulingPod,
  peers: readonly Requirement[],
): readonly Constraint[] {
  const selector = podSelector([pod.namespace], peers);
  const shared = { selector, minDomains: 1, heedsAffinity: true, heedsTaints: false };
  return [
    { ...shared, topologyKey: hostnameLabel, maxSkew: 3 },
    { ...shared, topologyKey: zoneLabel, maxSkew: 5 },
  ];
}

/** Marks with 1 those compared nodes that lack one of the labels; null: none does. */
function leftOut(
  pool: NodePool,
  compared: Compared,
  constraints: readonly Constraint[],
): Uint8Array | null {
  const all = constraints.map(({ topologyKey }) => pool.domains(topologyKey).of);
  const marks = Uint8Array.from(compared, (index) =>
    all.some((domains) => (domains[index] ?? -1) < 0) ? 1 : 0,
  );
  return marks.includes(1) ? marks : null;
}

interface Adding {
  readonly pool: NodePool;
  readonly pod: SchedulingPod;
  readonly constraint: Constraint;
  readonly compared: Compared;
  readonly left: Uint8Array | null;
  /** All constraints whose labels a node must have to count; none: any does. */
  readonly all: readonly Constraint[];
}

/** Adds what the pods of each domain count: the more domains there are, the more a pod does. */
function addCounts(scores: Float64Array, adding: Adding): void {
  const { pool, pod, constraint, compared, left, all } = adding;
  const { topologyKey, maxSkew, selector } = constraint;
  const isHost = topologyKey === hostnameLabel;
  const counted = pool.tallies.staying(selector);
  const domains = pool.domains(topologyKey);
  // Each node is one domain, whatever its hostname is.
  const counts = isHost
    ? countsByNode(pool, counted)
    : countsByDomain(pool, { pod, constraint, domains, counted, all });
  const size = isHost ? remaining(compared, left) : domainsIn(domains, compared, left);
  const weight = Math.log(size + 2);
  for (const [at, index] of compared.entries()) {
    const domain = domains.of[index] ?? -1;
    if (left?.[at] === 1 || domain < 0) continue;
    const count = counts[isHost ? index : domain] ?? 0;
    scores[at] = (scores[at] ?? 0) + count * weight + maxSkew - 1;
  }
}

function countsByNode(pool: NodePool, counted: CountByPlace): Int32Array {
  const counts = new Int32Array(pool.places().length);
  counted.forEach((count, { index }) => {
    if (index >= 0) counts[index] = count;
  });
  return counts;
}

function countsByDomain(
  pool: NodePool,
  {
    pod,
    constraint,
    domains,
    counted,
    all,
  }: Pick<Adding, 'pod' | 'constraint' | 'all'> & {
    readonly domains: Domains;
    readonly counted: CountByPlace;
  },
): Int32Array {
  const counts = new Int32Array(domains.size);
  const others = all.map(({ topologyKey }) => pool.domains(topologyKey).of);
  counted.forEach((count, { index, offer }) => {
    const domain = domains.of[index] ?? -1;
    if (!offer || domain < 0 || !isIncluded(pod, constraint, offer)) return;
    if (others.some((ids) => (ids[index] ?? -1) < 0)) return;
    counts[domain] = (counts[domain] ?? 0) + count;
  });
  return counts;
}

function remaining(compared: Compared, left: Uint8Array | null): number {
  if (!left) return compared.length;
  return left.reduce((rest, mark) => rest - mark, compared.length);
}

/**
 * The number of domains of the compared nodes; nodes without the label form one domain unless they
 * are left out.
 */
function domainsIn(domains: Domains, compared: Compared, left: Uint8Array | null): number {
  const seen = new Uint8Array(domains.size + 1);
  let size = 0;
  for (const [at, index] of compared.entries()) {
    const domain = (domains.of[index] ?? -1) + 1;
    if (left?.[at] === 1 || seen[domain] === 1) continue;
    seen[domain] = 1;
    size++;
  }
  return size;
}

/** The fewer the better, of 100; nodes that were left out get 0. */
function normalized(scores: Float64Array, left: Uint8Array | null): Float64Array {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let at = 0; at < scores.length; at++) {
    const score = Math.round(scores[at] ?? 0);
    scores[at] = score;
    if (left?.[at] === 1) continue;
    least = Math.min(least, score);
    most = Math.max(most, score);
  }
  for (let at = 0; at < scores.length; at++) {
    if (left?.[at] === 1) scores[at] = 0;
    else
      scores[at] = most === 0 ? 100 : Math.trunc((100 * (most + least - (scores[at] ?? 0))) / most);
  }
  return scores;
}
