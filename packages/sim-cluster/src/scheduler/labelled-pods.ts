// The pods on nodes by their namespaces and labels, for lookups by selector.
import type { Place } from './place.ts';
import type { PodSelector } from './pod-selector.ts';
import type { SchedulingPod } from './scheduling-pod.ts';

/** A pod, and the node on which it counts. */
export interface PlacedPod {
  readonly pod: SchedulingPod;
  readonly place: Place;
}

/** The pods of one namespace, indexed by the labels that were asked for. */
class NamespacePods {
  readonly all = new Set<PlacedPod>();
  readonly #byLabel = new Map<string, Map<string, Set<PlacedPod>>>();

  add(placed: PlacedPod): void {
    this.all.add(placed);
    for (const [key, byValue] of this.#byLabel) index(byValue, key, placed);
  }

  delete(placed: PlacedPod): void {
    this.all.delete(placed);
    for (const [key, byValue] of this.#byLabel) {
      const value = placed.pod.labels[key] ?? '';
      const pods = byValue.get(value);
      pods?.delete(placed);
      if (pods?.size === 0) byValue.delete(value);
    }
  }

  /** The pods whose label is this, and others for an empty value. */
  with(key: string, value: string): Iterable<PlacedPod> {
    const known = this.#byLabel.get(key);
    if (known) return known.get(value) ?? nobody;
    const byValue = new Map<string, Set<PlacedPod>>();
    for (const placed of this.all) index(byValue, key, placed);
    this.#byLabel.set(key, byValue);
    return byValue.get(value) ?? nobody;
  }
}

const nobody: readonly PlacedPod[] = [];

function index(byValue: Map<string, Set<PlacedPod>>, key: string, placed: PlacedPod): void {
  const value = placed.pod.labels[key] ?? '';
  const pods = byValue.get(value);
  if (pods) pods.add(placed);
  else byValue.set(value, new Set([placed]));
}

/** All pods on nodes. */
export class LabelledPods {
  readonly #namespaces = new Map<string, NamespacePods>();

  add(placed: PlacedPod): void {
    const { namespace } = placed.pod;
    const pods = this.#namespaces.get(namespace) ?? new NamespacePods();
    this.#namespaces.set(namespace, pods);
    pods.add(placed);
  }

  delete(placed: PlacedPod): void {
    const { namespace } = placed.pod;
    const pods = this.#namespaces.get(namespace);
    pods?.delete(placed);
    if (pods?.all.size === 0) this.#namespaces.delete(namespace);
  }

  /** Calls `found` with every pod that a selector may select, and with few others. */
  forEach(selector: PodSelector, found: (placed: PlacedPod) => void): void {
    const { namespaces, namespaceSelector, requirements } = selector;
    const among = namespaceSelector === null ? namespaces : this.#namespaces.keys();
    const exact = requirements?.find(
      ({ operator, values }) => operator === 'in' && values.length === 1,
    );
    for (const namespace of among) {
      const pods = this.#namespaces.get(namespace);
      if (!pods) continue;
      const some = exact ? pods.with(exact.key, exact.values[0] ?? '') : pods.all;
      for (const placed of some) found(placed);
    }
  }
}
