/** Names to be worked on, each once however often it is asked for, by so many workers at most. */
export class WorkQueue {
  readonly #workersMax: number;
  readonly #waiting = new Set<string>();
  readonly #active = new Set<string>();

  constructor(workersMax: number) {
    this.#workersMax = workersMax;
  }

  get hasWork(): boolean {
    return this.#next() !== null;
  }

  add(name: string): void {
    this.#waiting.add(name);
  }

  /** Takes the next name nobody works on; null: none, or no worker is free. */
  take(): string | null {
    const name = this.#next();
    if (name === null) return null;
    this.#waiting.delete(name);
    this.#active.add(name);
    return name;
  }

  done(name: string): void {
    this.#active.delete(name);
  }

  #next(): string | null {
    if (this.#active.size >= this.#workersMax) return null;
    for (const name of this.#waiting) if (!this.#active.has(name)) return name;
    return null;
  }
}
