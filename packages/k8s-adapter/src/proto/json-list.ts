// Reads a list of the API a few objects at a time.
import { asList, asRecord, asText, isRecord, parseJson } from './json.ts';

/** One page of a list. */
export interface ListPage<T> {
  /** By which the next page is asked for; '': it is the last. */
  readonly continueToken: string;
  /** Reads its objects; undefined where they turn out to be no JSON. Called once. */
  readonly items: () => readonly T[] | undefined;
}

/** Shorter texts are parsed as a whole. */
const shortText = 20_000;
const opening = '"items":[';
/** So many are parsed together: JSON.parse is faster where objects are like the one before. */
const togetherMax = 16;

/**
 * A page, and what `read` makes of each object in it; undefined for a text that is no JSON.
 *
 * A long one is parsed a few objects at a time, and what was parsed of them is forgotten when the next
 * are: a page of pods is megabytes, and of a pod we want a few fields. `read` may be asked about an
 * object twice, where it turns out that a list was cut in the wrong place.
 */
export function parseList<T>(text: string, read: (object: unknown) => T): ListPage<T> | undefined {
  const cut = text.length < shortText ? null : cutApart(text);
  const page = cut ? cut.rest : parseJson(text);
  if (page === undefined) return undefined;
  const all = (value: unknown): readonly T[] | undefined =>
    value === undefined ? undefined : asList(asRecord(value).items).map((item) => read(item));
  return {
    continueToken: asText(asRecord(asRecord(page).metadata).continue),
    items: () => (cut && readEach(cut.items, read)) ?? all(cut ? parseJson(text) : page),
  };
}

/** A list without its objects, and texts of a few of them each, with commas in between. */
interface CutList {
  readonly rest: unknown;
  readonly items: readonly string[];
}

/**
 * Cuts a list as API servers write it, objects last; null for any other. Objects begin alike, e.g. with
 * `{"metadata":`, and no string can look like that, since quotes in it are escaped. What stands deeper
 * may, and is then cut where it is no JSON.
 */
function cutApart(text: string): CutList | null {
  const from = text.indexOf(opening) + opening.length;
  const to = text.lastIndexOf(']');
  if (from < opening.length || !/^\]\}\s*$/.test(text.slice(to))) return null;
  const rest = parseJson(text.slice(0, from) + text.slice(to));
  // Its last member, in which nothing is left: so that is the one that was cut out.
  if (!isRecord(rest) || !Array.isArray(rest.items) || rest.items.length > 0) return null;
  const head = text.slice(from, text.indexOf(':', from) + 1);
  if (!/^\{"\w+":$/.test(head)) return null;
  const items: string[] = [];
  let [start, count] = [from, 0];
  for (let end = from; end < to; ) {
    const next = text.indexOf(`},${head}`, end);
    end = next === -1 || next > to ? to : next + 2;
    if (++count % togetherMax > 0 && end < to) continue;
    items.push(text.slice(start, end < to ? end - 1 : to));
    start = end;
  }
  return { rest, items };
}

/** Null: one of the texts is none of objects. */
function readEach<T>(texts: readonly string[], read: (object: unknown) => T): readonly T[] | null {
  const objects: T[] = [];
  for (const text of texts) {
    const few = parseJson(`[${text}]`);
    if (!Array.isArray(few)) return null;
    for (const object of few) objects.push(read(object));
  }
  return objects;
}
