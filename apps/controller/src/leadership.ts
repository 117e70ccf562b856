/**
 * Whether this replica acts: it has been elected, where there are elections, and no
 * kube-controller-manager does the same work.
 */
export class Leadership {
  #elected: boolean;
  #overlap: string | null = null;
  #held: boolean;
  readonly #onChange: (held: boolean) => void;

  constructor(elected: boolean, onChange: (held: boolean) => void) {
    this.#elected = elected;
    this.#held = elected;
    this.#onChange = onChange;
  }

  /** Whether it may act. */
  get held(): boolean {
    return this.#held;
  }

  /** Whether it holds the lease, or needs none. */
  get elected(): boolean {
    return this.#elected;
  }

  /** Who else does the same work, in words; null: nobody. */
  get overlap(): string | null {
    return this.#overlap;
  }

  elect(elected: boolean): void {
    this.#elected = elected;
    this.#update();
  }

  collide(overlap: string | null): void {
    this.#overlap = overlap;
    this.#update();
  }

  #update(): void {
    const held = this.#elected && this.#overlap === null;
    if (held === this.#held) return;
    this.#held = held;
    this.#onChange(held);
  }
}
