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
  /** NodeDrains that are not over. */
  readonly #openDrains = new Set<string>();
  /** Those of which the status says nothing yet, or not as they were edited last. */
  readonly #newDrains = new Map<string, FollowedObject>();

  get size(): number {
    return this.#objects.size;
  }

  get hasOpenDrains(): boolean {
    return this.#openDrains.size > 0;
  }

  get newDrains(): Iterable<FollowedObject> {
    return this.#newDrains.values();
  }

  [Symbol.iterator](): Iterator<FollowedObject> {
    return this.#objects.values();
  }

  /** Null: it is not there. */
  get(kind: FollowedKind, name: string): FollowedObject | null {
    return this.#objects.get(keyOf(kind, name)) ?? null;
  }

  put(object: FollowedObject): void {
    const key = keyOf(object.kind, object.name);
    this.#objects.set(key, object);
    if (isOpenDrain(object)) this.#openDrains.add(key);
    else this.#openDrains.delete(key);
    if (isNewDrain(object)) this.#newDrains.set(key, object);
    else this.#newDrains.delete(key);
  }

  delete(kind: FollowedKind, name: string): void {
    const key = keyOf(kind, name);
    this.#objects.delete(key);
    this.#openDrains.delete(key);
    this.#newDrains.delete(key);
  }
}

/** Whether something is still to happen to it. */
export function isOpenDrain({ object }: Pick<FollowedObject, 'object'>): boolean {
  return object?.kind === 'NodeDrain' && (!object.value.isOver || object.value.isDeleted);
}

function isNewDrain({ object }: FollowedObject): boolean {
  if (object?.kind !== 'NodeDrain' || object.value.isOver) return false;
  return object.value.observedGeneration !== object.value.generation;
}

function keyOf(kind: FollowedKind, name: string): string {
  return `${kind}/${name}`;
}
