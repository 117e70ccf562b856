// The JSON of objects in lists and of fields that somebody owns, kept for the next time: to write it takes
// longer than all else of a list.
import { jsonOf } from './json.ts';
import { KeptTexts } from './kept-texts.ts';

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
