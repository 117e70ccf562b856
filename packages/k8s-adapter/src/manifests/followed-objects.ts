// The objects of the cluster that say what is to be done, as they were read last.
import type { FollowedKind } from './events.ts';
import type { Followed } from './followed.ts';

/** One of them. */
export interface FollowedObject extends Followed {
  readonly kind: FollowedKind;
  /** A file has one of its name, which counts. */
  readonly isInFile: boolean;
}

/** Whoever reads them writes here. */
export class FollowedObjects implements Iterable<FollowedObject> {
  readonly #objects = new Map<string, FollowedObject>();

  get size(): number {
    return this.#objects.size;
  }

  [Symbol.iterator](): Iterator<FollowedObject> {
    return this.#objects.values();
  }

  /** Null: it is not there. */
  get(kind: FollowedKind, name: string): FollowedObject | null {
    return this.#objects.get(keyOf(kind, name)) ?? null;
  }

  put(object: FollowedObject): void {
    this.#objects.set(keyOf(object.kind, object.name), object);
  }

  delete(kind: FollowedKind, name: string): void {
    this.#objects.delete(keyOf(kind, name));
  }
}

function keyOf(kind: FollowedKind, name: string): string {
  return `${kind}/${name}`;
}
