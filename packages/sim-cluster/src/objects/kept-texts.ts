/** What was written of frozen values, for as long as they live; all of it is forgotten when it is too long. */
export class KeptTexts {
  #texts = new WeakMap<object, string>();
  #length = 0;

  /** What was kept for this value. */
  of(value: object): string | undefined {
    return this.#texts.get(value);
  }

  /** Keeps a text for this value, which nobody can change. */
  keep(value: object, text: string): void {
    if (this.#length + text.length > lengthMax) {
      this.#texts = new WeakMap();
      this.#length = 0;
    }
    this.#texts.set(value, text);
    this.#length += text.length;
  }
}

const lengthMax = 32 * 1024 * 1024;
