/**
 * Whether this replica acts: it has been elected, where there are elections, and no
 * kube-controller-manager does the same work. The loop sees to elections by itself; it is told
 * whether it may act once elected.
 */
export class Leadership {
  #elected: boolean;
  #overlap: string | null = null;
  readonly #onLeave: (mayAct: boolean) => void;

  constructor(elected: boolean, onLeave: (mayAct: boolean) => void) {
    this.#elected = elected;
    this.#onLeave = onLeave;
  }

  /** Whether it acts. */
  get held(): boolean {
    return this.#elected && this.#overlap === null;
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
  }

  collide(overlap: string | null): void {
    const isNews = (overlap === null) !== (this.#overlap === null);
    this.#overlap = overlap;
    if (isNews) this.#onLeave(overlap === null);
  }
}
