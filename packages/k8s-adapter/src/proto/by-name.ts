// Objects by namespace and name.

/** What an object is called; the namespace is '' for those that stand in none. */
interface Name {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Values by the names of objects. A name is kept as it was given first, so that whoever else keeps
 * that shares it; a key made of both parts would be a text more for each object.
 */
export class ByName<T> {
  readonly #namespaces = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ namespace, name }: Name): T | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  set({ namespace, name }: Name, value: T): void {
    const names = this.#namespaces.get(namespace) ?? new Map<string, T>();
    if (names.size === 0) this.#namespaces.set(namespace, names);
    const before = names.size;
    names.set(name, value);
    this.#size += names.size - before;
  }

  delete({ namespace, name }: Name): void {
    const names = this.#namespaces.get(namespace);
    if (!names?.delete(name)) return;
    this.#size -= 1;
    if (names.size === 0) this.#namespaces.delete(namespace);
  }

  *entries(): Generator<readonly [name: Name, value: T]> {
    for (const [namespace, names] of this.#namespaces) {
      for (const [name, value] of names) yield [{ namespace, name }, value];
    }
  }
}
