// Pods in the order in which they are tried, and those that wait for something to change.
import type { KubeObject } from '../objects/kube-object.ts';
import type { Subject } from './filter.ts';

/** The pods to try: higher priorities first, then in the order of their arrival. */
export class ActivePods {
  readonly #byPriority = new Map<number, Set<string>>();
  readonly #priorities = new Map<string, number>();

  get size(): number {
    return this.#priorities.size;
  }

  has(key: string): boolean {
    return this.#priorities.has(key);
  }

  add(key: string, priority: number): void {
    const known = this.#priorities.get(key);
    if (known === priority) return;
    this.delete(key);
    this.#priorities.set(key, priority);
    const peers = this.#byPriority.get(priority);
    if (peers) peers.add(key);
    else this.#byPriority.set(priority, new Set([key]));
  }

  delete(key: string): void {
    const priority = this.#priorities.get(key);
    if (priority === undefined) return;
    this.#priorities.delete(key);
    const peers = this.#byPriority.get(priority);
    peers?.delete(key);
    if (peers?.size === 0) this.#byPriority.delete(priority);
  }

  clear(): void {
    this.#byPriority.clear();
    this.#priorities.clear();
  }

  /** Takes out the next one; null: there is none. */
  take(): string | null {
    let highest: number | null = null;
    for (const priority of this.#byPriority.keys()) {
      if (highest === null || priority > highest) highest = priority;
    }
    if (highest === null) return null;
    const [key = null] = this.#byPriority.get(highest) ?? [];
    if (key !== null) this.delete(key);
    return key;
  }
}

/**
 * Pods that are equal in everything that decides about their placement: a result for one holds for
 * all.
 */
interface Likes {
  readonly signature: string;
  readonly keys: Set<string>;
  /** The subjects of changes that could help them. */
  subjects: ReadonlySet<Subject>;
}

/** All by which a pod is placed, as a text. */
export function signatureOf({ metadata, spec, status }: KubeObject): string {
  const { namespace, labels, ownerReferences } = metadata;
  const { nominatedNodeName, resourceClaimStatuses } = status ?? {};
  const claims = resourceClaimStatuses === undefined ? [] : [resourceClaimStatuses];
  return JSON.stringify([namespace, labels, ownerReferences, spec, nominatedNodeName, ...claims]);
}

/**
 * Pods that fitted nowhere, grouped by likeness: after a change one of a group is tried, and the
 * others only if it fits. So thousands of pods that wait for room cost no more than the number of
 * groups.
 */
export class UnschedulablePods {
  readonly #likes = new Map<string, Likes>();
  readonly #of = new Map<string, Likes>();

  has(key: string): boolean {
    return this.#of.has(key);
  }

  /** Takes a pod in, or keeps it where it is among those that are like it. */
  add(key: string, signature: string, subjects: ReadonlySet<Subject>): void {
    const known = this.#of.get(key);
    if (known?.signature !== signature) this.delete(key);
    const likes = this.#likes.get(signature) ?? { signature, keys: new Set<string>(), subjects };
    likes.subjects = subjects;
    likes.keys.add(key);
    this.#likes.set(signature, likes);
    this.#of.set(key, likes);
  }

  /** Returns another pod that is like it and waits; null: none does. */
  delete(key: string): string | null {
    const likes = this.#of.get(key);
    if (!likes) return null;
    this.#of.delete(key);
    likes.keys.delete(key);
    if (likes.keys.size === 0) this.#likes.delete(likes.signature);
    const [next = null] = likes.keys;
    return next;
  }

  clear(): void {
    this.#likes.clear();
    this.#of.clear();
  }

  /** One pod of each group that a change of these subjects may help; null: of any subject. */
  helpedBy(subjects: readonly Subject[] | null): readonly string[] {
    const keys: string[] = [];
    for (const likes of this.#likes.values()) {
      const isHelped = subjects === null || subjects.some((one) => likes.subjects.has(one));
      const [first] = likes.keys;
      if (isHelped && first !== undefined) keys.push(first);
    }
    return keys;
  }
}
