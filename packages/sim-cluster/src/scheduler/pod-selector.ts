// Selects pods by their namespace and labels, and finds the selectors that select a pod.
import type { KubeObject } from '../objects/kube-object.ts';
import {
  labelSelectorRequirements,
  labelSelectorText,
  matchesLabels,
  type Requirement,
} from '../selectors/labels.ts';

export type Labels = Readonly<Record<string, string>>;

/** The fields of a pod that a selector reads. */
interface Labelled {
  readonly namespace: string;
  readonly labels: Labels;
}

/** The labels of a namespace. */
export type NamespaceLabels = (namespace: string) => Labels;

/** Pods of some namespaces with some labels. Equal selectors have equal keys. */
export interface PodSelector {
  readonly key: string;
  /** The namespaces that are named. */
  readonly namespaces: ReadonlySet<string>;
  /** The namespaces chosen by their labels as well; null: none. */
  readonly namespaceSelector: readonly Requirement[] | null;
  /** Null selects nothing. */
  readonly requirements: readonly Requirement[] | null;
}

/** A selector of pods; `namespaceSelector` undefined: there is none. */
export function podSelector(
  namespaces: readonly string[],
  requirements: readonly Requirement[] | null,
  namespaceSelector: readonly Requirement[] | null = null,
): PodSelector {
  const text = requirements === null ? '-' : `=${labelSelectorText(requirements)}`;
  const chosen = namespaceSelector === null ? '-' : `=${labelSelectorText(namespaceSelector)}`;
  const named = [...new Set(namespaces)].sort();
  const key = `${named.join(',')} ${chosen} ${text}`;
  return { key, namespaces: new Set(named), namespaceSelector, requirements };
}

/**
 * The requirements of a label selector with those of further keys, whose values are the pod's own; a key that
 * it lacks is left out. Null for no selector.
 */
export function requirementsWith(
  selector: KubeObject['selector'],
  labels: Labels,
  keys: readonly string[] = [],
  otherKeys: readonly string[] = [],
): readonly Requirement[] | null {
  const requirements = labelSelectorRequirements(selector);
  if (!requirements) return null;
  const own = (among: readonly string[], operator: 'in' | 'notin'): readonly Requirement[] =>
    among.flatMap((key) => {
      const value = labels[key];
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  // The API server has written them into the selector of most pods already.
  const added = [...own(keys, 'in'), ...own(otherKeys, 'notin')].filter(
    ({ key, operator, values }) =>
      !requirements.some(
        (one) => one.key === key && one.operator === operator && one.values[0] === values[0],
      ),
  );
  return added.length === 0 ? requirements : [...requirements, ...added];
}

/** True if the selector matches a pod. */
export function selects(
  { namespaces, namespaceSelector, requirements }: PodSelector,
  { namespace, labels }: Labelled,
  labelsOf: NamespaceLabels,
): boolean {
  if (requirements === null || !matchesLabels(requirements, labels)) return false;
  if (namespaces.has(namespace)) return true;
  return namespaceSelector !== null && matchesLabels(namespaceSelector, labelsOf(namespace));
}

interface Entry {
  readonly selector: PodSelector;
}

/**
 * Entries by their selectors: those that may select a pod are found by one of its labels, so that a cluster
 * with thousands of them does not try them all.
 */
export class SelectorIndex<T extends Entry> {
  readonly #labelsOf: NamespaceLabels;
  /** By namespace, by the key of a label and by its value. */
  readonly #byLabel = new Map<string, Map<string, Map<string, Set<T>>>>();
  readonly #others = new Set<T>();
  #size = 0;

  constructor(labelsOf: NamespaceLabels) {
    this.#labelsOf = labelsOf;
  }

  get size(): number {
    return this.#size;
  }

  add(entry: T): void {
    this.#shelf(entry, true)?.add(entry);
    this.#size++;
  }

  delete(entry: T): void {
    if (this.#shelf(entry, false)?.delete(entry)) this.#size--;
  }

  clear(): void {
    this.#byLabel.clear();
    this.#others.clear();
    this.#size = 0;
  }

  /** Calls `found` with each entry that selects the pod. */
  forEach(pod: Labelled, found: (entry: T) => void): void {
    if (this.#size === 0) return;
    const byLabel = this.#byLabel.get(pod.namespace);
    if (byLabel) {
      for (const key in pod.labels) {
        const entries = byLabel.get(key)?.get(pod.labels[key] ?? '');
        if (entries) this.#visit(entries, pod, found);
      }
    }
    if (this.#others.size > 0) this.#visit(this.#others, pod, found);
  }

  #visit(entries: ReadonlySet<T>, pod: Labelled, found: (entry: T) => void): void {
    for (const entry of entries) {
      if (selects(entry.selector, pod, this.#labelsOf)) found(entry);
    }
  }

  /** The index of an entry: a label that all its pods have, in their one namespace. */
  #shelf({ selector }: T, makes: boolean): Set<T> | undefined {
    const [namespace, ...others] = selector.namespaces;
    const isOne = namespace !== undefined && others.length === 0;
    const exact = selector.requirements?.find(
      ({ operator, values }) => operator === 'in' && values.length === 1,
    );
    if (!exact || !isOne || selector.namespaceSelector !== null) return this.#others;
    const byKey = within(this.#byLabel, namespace, makes, () => new Map());
    const byValue = byKey && within(byKey, exact.key, makes, () => new Map());
    return byValue && within(byValue, exact.values[0] ?? '', makes, () => new Set<T>());
  }
}

function within<V>(map: Map<string, V>, key: string, makes: boolean, make: () => V): V | undefined {
  const known = map.get(key);
  if (known !== undefined || !makes) return known;
  const made = make();
  map.set(key, made);
  return made;
}
