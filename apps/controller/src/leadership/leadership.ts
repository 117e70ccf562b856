/**
 * Whether this replica acts: it has been elected, where there are elections, and no other program does
 * the same work, or that is accepted. The loop runs the election itself; it learns from here whether
 * it may act once elected.
 */
export class Leadership {
  #elected: boolean;
  #overlap: string | null = null;
  readonly #onChange: (mayAct: boolean) => void;
  readonly #accepts: boolean;

  /** `accepts`: act beside other programs that do the same work. */
  constructor(elected: boolean, onChange: (mayAct: boolean) => void, accepts = false) {
    this.#elected = elected;
    this.#onChange = onChange;
    this.#accepts = accepts;
  }

  /** Whether it acts. */
  get held(): boolean {
    return this.#elected && this.standsBackFor === null;
  }

  /** Whether it holds the lease, or needs none. */
  get elected(): boolean {
    return this.#elected;
  }

  /** Which other program does the same work, in words, accepted or not; null: none. */
  get overlap(): string | null {
    return this.#overlap;
  }

  /** The same, where it keeps this replica from acting. */
  get standsBackFor(): string | null {
    return this.#accepts ? null : this.#overlap;
  }

  elect(elected: boolean): void {
    this.#elected = elected;
  }

  collide(overlap: string | null): void {
    const isNews = (overlap === null) !== (this.#overlap === null);
    this.#overlap = overlap;
    if (isNews && !this.#accepts) this.#onChange(overlap === null);
  }
}
