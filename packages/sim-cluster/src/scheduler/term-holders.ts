// The affinity terms of pods on nodes: those that are about a pod are found without a walk over all pods.
import type { AffinityTerm } from './affinity-terms.ts';
import type { Place } from './place.ts';
import { type NamespaceLabels, type PodSelector, SelectorIndex } from './pod-selector.ts';
import { type CountByPlace, countAt } from './pod-tallies.ts';
import type { SchedulingPod } from './scheduling-pod.ts';

/** A term, and how many pods on each node have it. */
export interface HeldTerm {
  readonly selector: PodSelector;
  readonly term: AffinityTerm;
  readonly counts: CountByPlace;
}

interface Held extends HeldTerm {
  readonly counts: Map<Place, number>;
}

/** Equal terms of pods, each once. */
class HeldTerms {
  readonly #held = new Map<string, Held>();
  readonly #index: SelectorIndex<Held>;

  constructor(labelsOf: NamespaceLabels) {
    this.#index = new SelectorIndex(labelsOf);
  }

  /** The terms that match the pod. */
  about(pod: SchedulingPod): readonly HeldTerm[] {
    const found: HeldTerm[] = [];
    this.#index.forEach(pod, (held) => found.push(held));
    return found;
  }

  count(term: AffinityTerm, place: Place, by: 1 | -1): void {
    const { selector, topologyKey, weight } = term;
    const key = `${weight} ${topologyKey} ${selector.key}`;
    const held = this.#held.get(key) ?? this.#add(key, { selector, term, counts: new Map() });
    countAt(held.counts, place, by);
    if (held.counts.size > 0) return;
    this.#held.delete(key);
    this.#index.delete(held);
  }

  #add(key: string, held: Held): Held {
    this.#held.set(key, held);
    this.#index.add(held);
    return held;
  }
}

/** The affinity terms of the pods on nodes. */
export class TermHolders {
  readonly #far: HeldTerms;
  readonly #scoring: HeldTerms;

  constructor(labelsOf: NamespaceLabels) {
    this.#far = new HeldTerms(labelsOf);
    this.#scoring = new HeldTerms(labelsOf);
  }

  /** The required anti-affinity terms about a pod. */
  keepingAway(pod: SchedulingPod): readonly HeldTerm[] {
    return this.#far.about(pod);
  }

  /** The terms by which pods want a pod near them or far: required affinity counts 1. */
  wanting(pod: SchedulingPod): readonly HeldTerm[] {
    return this.#scoring.about(pod);
  }

  count({ terms }: SchedulingPod, place: Place, by: 1 | -1): void {
    for (const term of terms.far) this.#far.count(term, place, by);
    for (const term of terms.preferred) this.#scoring.count(term, place, by);
    for (const term of terms.near) this.#scoring.count(term, place, by);
  }
}
