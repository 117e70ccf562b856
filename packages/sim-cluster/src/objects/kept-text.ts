// The JSON of objects in lists and of fields that somebody owns, kept for the next time: to write it takes
// longer than all else of a list.
import { jsonOf } from './json.ts';

const keptCharactersMax = 32 * 1024 * 1024;

let kept = new WeakMap<object, string>();
let keptCharacters = 0;

/** The JSON text of a value; of a frozen object it is written once. */
export function keptText(value: unknown): string {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return jsonOf(value);
  const known = kept.get(value);
  if (known !== undefined) return known;
  const text = jsonOf(value);
  if (keptCharacters + text.length > keptCharactersMax) {
    kept = new WeakMap();
    keptCharacters = 0;
  }
  kept.set(value, text);
  keptCharacters += text.length;
  return text;
}
