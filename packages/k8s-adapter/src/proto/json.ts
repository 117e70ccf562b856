/** Parsed JSON, read field by field because anything may be in it. */
export type JsonRecord = Readonly<Record<string, unknown>>;

const empty: JsonRecord = {};

/** The value as an object; an empty one for anything else, lists included. */
export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : empty;
}

/** The value as a list; an empty one for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a string; '' for anything else. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * The value as a whole number, cut towards zero and held within the safe integers; null for
 * anything that is not a number.
 */
export function asInteger(value: unknown): number | null {
  if (typeof value !== 'number' || Number.isNaN(value)) return null;
  const whole = Math.trunc(value);
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, whole));
}

/** Tells whether the value is a JSON object: not null, not a list. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Objects of the API are a few dozen deep; to parse a level takes hundreds of times the memory of its bracket. */
const depthMax = 1_000;
/** In shorter ones there is no room for harm, and most are shorter. */
const shallowLength = 65_536;
const [quote, backslash, openList, openObject, closeList, closeObject] = [
  0x22, 0x5c, 0x5b, 0x7b, 0x5d, 0x7d,
];

/** Tells whether values stand in each other deeper than any object of the API. */
function isTooDeep(text: string, shallow: number = shallowLength): boolean {
  if (text.length <= shallow) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfText(text, at);
    else if (code === openList || code === openObject) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (code === closeList || code === closeObject) depth -= 1;
  }
  return false;
}

/** Where the string that begins here ends; its end where it does not. */
function endOfText(text: string, begins: number): number {
  for (let end = text.indexOf('"', begins + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/**
 * Parses a JSON text; undefined, which no JSON text gives, for one that is broken, or whose values stand in each
 * other too deep.
 */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The means of JSON itself for numbers that JavaScript cannot hold, and TypeScript does not know yet. */
interface ExactJson {
  parse(
    text: string,
    revive: (key: string, value: unknown, at?: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
}

function isExact(json: object): json is ExactJson {
  return 'rawJSON' in json;
}

/**
 * Where a number may stand that JavaScript writes otherwise: with a fraction, an exponent or more
 * digits than it can hold. Nearly no object has one, and to look at each number takes its time.
 */
const inexact = /(?:^|"\s*:|[[,])\s*(?:-0|-?\d+[.eE]|-?\d{16})/;

/**
 * Parses an object to write back: a number that JavaScript would write in another form, as the
 * largest int64, is kept as its text, and JSON.stringify gives that back. Undefined for a text that
 * is broken.
 */
export function parseToWriteBack(text: string): unknown {
  const json: object = JSON;
  // To write it takes the stack.
  if (isTooDeep(text, depthMax)) return undefined;
  if (!isExact(json) || !inexact.test(text)) return parseJson(text);
  try {
    return json.parse(text, (_key, value, at) => {
      const { source } = at ?? {};
      const isSame = typeof value !== 'number' || source === undefined || String(value) === source;
      return isSame ? value : json.rawJSON(source);
    });
  } catch {
    return undefined;
  }
}
