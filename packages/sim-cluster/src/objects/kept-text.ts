// The texts written for immutable values, kept for the next time: the JSON of listed objects and of
// owned fields, and the protobuf of parts of pods.
import { jsonOf } from './json.ts';

const lengthMax = 32 * 1024 * 1024;

/**
 * The texts written for frozen values, kept until the values are gone; all texts are dropped when
 * their total is too long.
 */
export class KeptTexts {
  #texts = new WeakMap<object, string>();
  #length = 0;

  /** The text kept for this value. */
  of(value: object): string | undefined {
    return this.#texts.get(value);
  }

  /** Keeps a text for this value, which is frozen. */
  keep(value: object, text: string): void {
    if (this.#length + text.length > lengthMax) {
      this.#texts = new WeakMap();
      this.#length = 0;
    }
    this.#texts.set(value, text);
    this.#length += text.length;
  }
}

const kept = new KeptTexts();

/** The JSON text of a value; of a frozen object it is written once. */
export function keptText(value: unknown): string {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return jsonOf(value);
  const known = kept.of(value);
  if (known !== undefined) return known;
  const text = jsonOf(value);
  kept.keep(value, text);
  return text;
}
