// Counts of pods by node that some selectors select, kept as pods come and go.
import type { LabelledPods } from './labelled-pods.ts';
import type { Place } from './place.ts';
import { type NamespaceLabels, type PodSelector, SelectorIndex, selects } from './pod-selector.ts';
import type { SchedulingPod } from './scheduling-pod.ts';

/** The number of pods in each place. */
export type CountByPlace = ReadonlyMap<Place, number>;

class Tally {
  readonly selector: PodSelector;
  /** The pods, including terminating ones. */
  readonly all = new Map<Place, number>();
  readonly staying = new Map<Place, number>();

  constructor(selector: PodSelector) {
    this.selector = selector;
  }

  count(pod: SchedulingPod, place: Place, by: 1 | -1): void {
    countAt(this.all, place, by);
    if (!pod.isEnding) countAt(this.staying, place, by);
  }
}

/** Changes a count by so much; a count of 0 is left out. */
export function countAt(counts: Map<Place, number>, place: Place, by: number): void {
  const count = (counts.get(place) ?? 0) + by;
  if (count === 0) counts.delete(place);
  else counts.set(place, count);
}

/**
 * The pods on nodes by the selectors that match them. A count is computed on first use and kept
 * until there is nothing left to count.
 */
export class PodTallies {
  readonly #pods: LabelledPods;
  readonly #labelsOf: NamespaceLabels;
  readonly #tallies = new Map<string, Tally>();
  readonly #index: SelectorIndex<Tally>;

  constructor(pods: LabelledPods, labelsOf: NamespaceLabels) {
    this.#pods = pods;
    this.#labelsOf = labelsOf;
    this.#index = new SelectorIndex(labelsOf);
  }

  /** The selected pods by node. */
  of(selector: PodSelector): CountByPlace {
    return this.#tally(selector).all;
  }

  /** The same without those whose deletion has begun. */
  staying(selector: PodSelector): CountByPlace {
    return this.#tally(selector).staying;
  }

  count(pod: SchedulingPod, place: Place, by: 1 | -1): void {
    this.#index.forEach(pod, (tally) => {
      tally.count(pod, place, by);
      if (by < 0 && tally.all.size === 0) this.#forget(tally);
    });
  }

  /** Forgets all counts: the namespaces have changed by which some of them choose. */
  clear(): void {
    this.#tallies.clear();
    this.#index.clear();
  }

  #tally(selector: PodSelector): Tally {
    const known = this.#tallies.get(selector.key);
    if (known) return known;
    const tally = new Tally(selector);
    this.#pods.forEach(selector, ({ pod, place }) => {
      if (selects(selector, pod, this.#labelsOf)) tally.count(pod, place, 1);
    });
    this.#tallies.set(selector.key, tally);
    this.#index.add(tally);
    return tally;
  }

  #forget(tally: Tally): void {
    this.#tallies.delete(tally.selector.key);
    this.#index.delete(tally);
  }
}
