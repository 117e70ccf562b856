// Texts that many objects have, kept once each: parsed JSON has a new one in every place.

/** More are in use at a time in few clusters; beyond it all are forgotten, and found anew. */
const textsMax = 4096;
/** Longer texts are seldom seen twice. */
const lengthMax = 128;

/** Knows only what it has read, so sharing it changes nothing. */
const texts = new Map<string, string>();

/** The same text, as it was seen first. */
export function sharedText(text: string): string {
  if (text.length > lengthMax) return text;
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size >= textsMax) texts.clear();
  texts.set(text, text);
  return text;
}
