// Affinity and anti-affinity between pods.
import type { AffinityTerm } from './affinity-terms.ts';
import { type Filter, rejected, rejectedForGood } from './filter.ts';
import type { NodePool } from './node-pool.ts';
import type { Place } from './place.ts';
import { type NamespaceLabels, type PodSelector, selects } from './pod-selector.ts';
import type { CountByPlace } from './pod-tallies.ts';
import type { SchedulingPod } from './scheduling-pod.ts';

const alone = rejectedForGood('podAffinity', "node(s) didn't match pod affinity rules");
const crowded = rejected('podAffinity', "node(s) didn't match pod anti-affinity rules");
const unwelcome = rejected(
  'podAffinity',
  "node(s) didn't satisfy existing pods anti-affinity rules",
);

/** Sums by the domains of labels. */
class DomainSums {
  readonly #pool: NodePool;
  readonly #sums = new Map<string, Float64Array>();
  #isEmpty = true;

  constructor(pool: NodePool) {
    this.#pool = pool;
  }

  /** True if nothing was ever added. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  add(label: string, { index }: Place, by: number): void {
    const domains = this.#pool.domains(label);
    const domain = domains.of[index] ?? -1;
    if (domain < 0) return;
    const sums = this.#sums.get(label) ?? new Float64Array(domains.size);
    this.#sums.set(label, sums);
    sums[domain] = (sums[domain] ?? 0) + by;
    this.#isEmpty = false;
  }

  addAll(label: string, counts: CountByPlace, weight = 1): void {
    for (const [place, count] of counts) this.add(label, place, count * weight);
  }

  /** The count in the domain of a node; 0 without such a label. */
  at(label: string, index: number): number {
    const sums = this.#sums.get(label);
    return sums?.[this.#pool.domains(label).of[index] ?? -1] ?? 0;
  }

  /** True if a domain has more than 0. */
  get hasAny(): boolean {
    for (const sums of this.#sums.values()) if (sums.some((sum) => sum > 0)) return true;
    return false;
  }

  /** Over all labels, for a node. */
  total(index: number): number {
    let total = 0;
    for (const label of this.#sums.keys()) total += this.at(label, index);
    return total;
  }
}

/** The pods that match all of the selectors. */
function countsOfAll(
  pool: NodePool,
  selectors: readonly PodSelector[],
  labelsOf: NamespaceLabels,
): CountByPlace {
  const [first, ...others] = selectors;
  if (!first) return new Map();
  if (others.every(({ key }) => key === first.key)) return pool.tallies.of(first);
  const counts = new Map<Place, number>();
  for (const place of pool.tallies.of(first).keys()) {
    let count = 0;
    for (const pod of place.pods.values()) {
      if (selectors.every((selector) => selects(selector, pod, labelsOf))) count++;
    }
    if (count > 0) counts.set(place, count);
  }
  return counts;
}

/** Rejects nodes without pods that match all of the pod's affinity terms. */
function affinityFilter(pool: NodePool, pod: SchedulingPod, labelsOf: NamespaceLabels): Filter {
  const { near } = pod.terms;
  const selectors = near.map(({ selector }) => selector);
  const matchesAll = (other: SchedulingPod): boolean =>
    selectors.every((selector) => selects(selector, other, labelsOf));
  const sums = new DomainSums(pool);
  const matching = countsOfAll(pool, selectors, labelsOf);
  for (const { topologyKey } of near) sums.addAll(topologyKey, matching);
  const isOwnPeer = matchesAll(pod);
  return {
    check: ({ index }) => {
      const isLabelled = near.every(({ topologyKey }) => hasLabel(pool, topologyKey, index));
      if (!isLabelled) return alone;
      if (near.every(({ topologyKey }) => sums.at(topologyKey, index) > 0)) return null;
      // The first of several pods with affinity to each other has no pod to join.
      return isOwnPeer && !sums.hasAny ? null : alone;
    },
    note: (other, place, by) => {
      if (!matchesAll(other)) return;
      for (const { topologyKey } of near) sums.add(topologyKey, place, by);
    },
  };
}

function hasLabel(pool: NodePool, label: string, index: number): boolean {
  return (pool.domains(label).of[index] ?? -1) >= 0;
}

/** Rejects nodes with pods that match the pod's anti-affinity terms. */
function antiAffinityFilter(
  pool: NodePool,
  { terms: { far } }: SchedulingPod,
  labelsOf: NamespaceLabels,
): Filter {
  const sums = new DomainSums(pool);
  for (const { topologyKey, selector } of far) {
    sums.addAll(topologyKey, pool.tallies.of(selector));
  }
  return {
    check: ({ index }) =>
      far.some(({ topologyKey }) => sums.at(topologyKey, index) > 0) ? crowded : null,
    note: (other, place, by) => {
      for (const { topologyKey, selector } of far) {
        if (selects(selector, other, labelsOf)) sums.add(topologyKey, place, by);
      }
    },
  };
}

/** The pods that want this one far from them. */
function existingFilters(
  pool: NodePool,
  pod: SchedulingPod,
  labelsOf: NamespaceLabels,
): readonly Filter[] {
  const held = pool.holders.keepingAway(pod);
  if (held.length === 0) return [];
  const sums = new DomainSums(pool);
  for (const { term, counts } of held) sums.addAll(term.topologyKey, counts);
  const isAbout = ({ selector }: AffinityTerm): boolean => selects(selector, pod, labelsOf);
  return [
    {
      check: ({ index }) => (sums.total(index) > 0 ? unwelcome : null),
      note: (other, place, by) => {
        for (const term of other.terms.far) {
          if (isAbout(term)) sums.add(term.topologyKey, place, by);
        }
      },
    },
  ];
}

/** InterPodAffinity, where the pod or one that is there has terms about the other. */
export function podAffinityFilters(
  pool: NodePool,
  pod: SchedulingPod,
  labelsOf: NamespaceLabels,
): readonly Filter[] {
  const { near, far } = pod.terms;
  return [
    ...(near.length === 0 ? [] : [affinityFilter(pool, pod, labelsOf)]),
    ...(far.length === 0 ? [] : [antiAffinityFilter(pool, pod, labelsOf)]),
    ...existingFilters(pool, pod, labelsOf),
  ];
}

/** True if required terms of either pod match the other pod. */
export function heedsInAffinity(
  pod: SchedulingPod,
  other: SchedulingPod,
  labelsOf: NamespaceLabels,
): boolean {
  const { near, far } = pod.terms;
  return (
    near.some(({ selector }) => selects(selector, other, labelsOf)) ||
    far.some(({ selector }) => selects(selector, other, labelsOf)) ||
    other.terms.far.some(({ selector }) => selects(selector, pod, labelsOf))
  );
}

/**
 * The scores of InterPodAffinity, before they are weighted; null: no terms are about the pod or any other.
 * `compared`: the nodes, by their places in the order of the pool.
 */
export function podAffinityScores(
  pool: NodePool,
  pod: SchedulingPod,
  compared: readonly number[],
): Float64Array | null {
  const held = pool.holders.wanting(pod);
  const { preferred } = pod.terms;
  if (held.length + preferred.length === 0) return null;
  const sums = new DomainSums(pool);
  for (const { topologyKey, selector, weight } of preferred) {
    sums.addAll(topologyKey, pool.tallies.of(selector), weight);
  }
  for (const { term, counts } of held) sums.addAll(term.topologyKey, counts, term.weight);
  if (sums.isEmpty) return null;
  const scores = Float64Array.from(compared, (index) => sums.total(index));
  const least = scores.reduce((one, other) => Math.min(one, other));
  const most = scores.reduce((one, other) => Math.max(one, other));
  return scores.map((score) =>
    most === least ? 0 : Math.trunc(100 * ((score - least) / (most - least))),
  );
}
