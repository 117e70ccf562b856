// The objects of one resource as a cache sees them, a little after each change.
import type { Change, Clock, KubeObject, Store } from '@taintmgr/sim-cluster/server';
import { objectKey } from '@taintmgr/sim-cluster/server';

/** The delay until the API server's own caches see a change. */
const lagMs = 3;

export class LaggingView {
  readonly #objects = new Map<string, KubeObject>();
  readonly #clock: Clock;
  readonly #unsubscribe: () => void;

  constructor(store: Store, clock: Clock, resource: string) {
    this.#clock = clock;
    for (const object of store.collection(resource).list('')) {
      this.#objects.set(keyOf(object), object);
    }
    this.#unsubscribe = store.subscribe((change) => this.#learn(change), new Set([resource]));
  }

  get isEmpty(): boolean {
    return this.#objects.size === 0;
  }

  get(namespace: string, name: string): KubeObject | null {
    return this.#objects.get(objectKey(namespace, name)) ?? null;
  }

  /** The objects of a namespace, or all of them. */
  list(namespace: string): readonly KubeObject[] {
    const all = [...this.#objects.values()];
    return namespace === '' ? all : all.filter((one) => one.metadata.namespace === namespace);
  }

  /** Hears of nothing more. */
  stop(): void {
    this.#unsubscribe();
  }

  #learn({ type, object }: Change): void {
    this.#clock.after(lagMs, () => {
      if (type === 'DELETED') this.#objects.delete(keyOf(object));
      else this.#objects.set(keyOf(object), object);
    });
  }
}

function keyOf({ metadata }: KubeObject): string {
  return objectKey(metadata.namespace ?? '', metadata.name);
}
