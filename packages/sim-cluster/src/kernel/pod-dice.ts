// The random numbers of pods. They belong to the pod and are independent of the order of events:
// two simulations that differ in one workload draw the same numbers for all others.
import { seedFor } from './hash.ts';
import { type Random, seededRandom } from './prng.ts';

/** The draws that a node makes for a pod; each has its own numbers. */
export type PodDraw = 'start' | 'stop' | 'containers';

/**
 * The numbers from which the names and uids of pods come. A pod is known by its namespace, its name or the
 * prefix of its generated name, and by how many such pods there were before it.
 */
export class PodDice {
  readonly #seed: number;
  readonly #made: Map<string, number>;

  /** `made`: the counts of another PodDice, to continue from. */
  constructor(seed: number, made: ReadonlyMap<string, number> = new Map()) {
    this.#seed = seed;
    this.#made = new Map(made);
  }

  /** The number of pods made, by `namespace/name` or `namespace/prefix`. */
  get made(): ReadonlyMap<string, number> {
    return this.#made;
  }

  /** The numbers of the next pod of that name or prefix: the same until one is made. */
  ofNext(namespace: string, nameOrPrefix: string): Random {
    const key = `${namespace}/${nameOrPrefix}`;
    return seededRandom(seedFor(this.#seed, `pod/${key}#${this.#made.get(key) ?? 0}`));
  }

  /** Such a pod was made. */
  note(namespace: string, nameOrPrefix: string): void {
    const key = `${namespace}/${nameOrPrefix}`;
    this.#made.set(key, (this.#made.get(key) ?? 0) + 1);
  }
}

/** The numbers that a pod's node draws for it, the same on every node. */
export function podRandom(seed: number, uid: string, draw: PodDraw): Random {
  return seededRandom(seedFor(seed, `pod/${uid}/${draw}`));
}
