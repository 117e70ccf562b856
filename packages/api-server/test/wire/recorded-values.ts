/** How the recordings write a header that was not sent. */
export const absent = '(absent)';

const placeholder = /<[^<>]*>/;
const learned = /^<(?:uid|rv|continue)-\d+>$/;
const someTime = '2026-01-01T00:00:00Z';

/** The real values behind the placeholders of a recorded case, learned from the answers. */
export class Placeholders {
  readonly #values: Map<string, string>;

  /** Starts with values that no answer tells first. */
  constructor(known: Readonly<Record<string, string>>) {
    this.#values = new Map(Object.entries(known));
  }

  /** A request with its placeholders replaced by what the answers so far put in their place. */
  fill(value: unknown): unknown {
    if (typeof value === 'string') return this.#fillText(value);
    if (Array.isArray(value)) return value.map((item) => this.fill(item));
    if (!isObject(value)) return value;
    // Ownership that the recording only sums up is not sent back.
    const members = Object.entries(value).filter(
      ([key, member]) => key !== 'managedFields' || typeof member !== 'string',
    );
    return Object.fromEntries(members.map(([key, member]) => [key, this.fill(member)]));
  }

  #fillText(text: string): string {
    const repeated = /^<(\d+) times x>$/.exec(text);
    if (repeated) return 'x'.repeat(Number(repeated[1]));
    return text === '<time>' ? someTime : (this.#values.get(text) ?? text);
  }

  /**
   * True when `actual` may stand where `expected` has placeholders. A uid, version or token that
   * is named twice must be the same both times.
   */
  accept(expected: string, actual: string): boolean {
    const names = expected.match(new RegExp(placeholder, 'g')) ?? [];
    const literal = expected
      .split(placeholder)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const found = new RegExp(`^${literal.join('(.*?)')}$`, 's').exec(actual);
    if (!found) return false;
    return names.every((name, index) => {
      const value = found[index + 1] ?? '';
      if (!learned.test(name)) return true;
      const known = this.#values.get(name);
      if (known === undefined) this.#values.set(name, value);
      return known === undefined || known === value;
    });
  }
}

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members by which the recordings sum up a body; they are none of the body's own. */
const summaries = new Set(['accepted', 'messageLength', 'managedFields']);
/** Column descriptions, which nothing shows, are shorter here. */
const notCompared = new Set([...summaries, 'description']);

/**
 * The path at which an answer differs from the recorded body, or null. A refusal must be equal;
 * of other bodies the recordings often keep only a part (then also without its place: the
 * `conditions` of a status), and that part must be there. Placeholders stand for any value.
 */
export function difference(
  expected: unknown,
  text: string,
  placeholders: Placeholders,
): string | null {
  if (expected === undefined || expected === null) return null;
  // What the recording leaves to another case.
  if (expected === '(see create)') return null;
  if (typeof expected === 'string') return expected === text ? null : `text: ${text}`;
  const actual: unknown = JSON.parse(text);
  if (!isObject(expected) || !isObject(actual)) return 'no object';
  const isRefusal = expected.status === 'Failure' && expected.code !== undefined;
  const comparison = new Comparison(isRefusal, placeholders);
  return comparison.compare(expected, isRefusal ? actual : flattened(actual), '');
}

/** The body with the members of its parts beside them, where the recordings put them. */
function flattened(body: Members): Members {
  const part = (name: string): Members => (isObject(body[name]) ? body[name] : {});
  const items = Array.isArray(body.items) ? body.items : [];
  const itemNames = items.map((item) => item.metadata.name);
  const [container] = (part('spec').containers ?? []) as readonly Members[];
  return {
    ...container,
    ...part('spec'),
    ...part('status'),
    ...part('metadata'),
    itemNames,
    ...body,
  };
}

class Comparison {
  readonly #isExact: boolean;
  readonly #placeholders: Placeholders;

  constructor(isExact: boolean, placeholders: Placeholders) {
    this.#isExact = isExact;
    this.#placeholders = placeholders;
  }

  compare(expected: unknown, actual: unknown, path: string): string | null {
    if (typeof expected === 'string' && typeof actual === 'string') {
      return this.#textMatches(expected, actual, path) ? null : `${path}: ${actual}`;
    }
    if (Array.isArray(expected) && Array.isArray(actual)) {
      // The real server lists every cause of a refused node update twice.
      if (path.endsWith('.causes')) return this.#compareLists(unique(expected), actual, path);
      return this.#compareLists(expected, actual, path);
    }
    if (isObject(expected) && isObject(actual)) return this.#compareMembers(expected, actual, path);
    return expected === actual ? null : `${path}: ${JSON.stringify(actual)}`;
  }

  #compareLists(expected: readonly unknown[], actual: readonly unknown[], path: string) {
    if (expected.length !== actual.length) return `${path}: ${actual.length} items`;
    return first(expected.map((item, at) => this.compare(item, actual[at], `${path}[${at}]`)));
  }

  #compareMembers(expected: Members, actual: Members, path: string): string | null {
    const keys = Object.keys(this.#isExact ? { ...expected, ...actual } : expected);
    return first(
      keys
        .filter((key) => !key.startsWith('…') && !notCompared.has(key))
        .map((key) => this.compare(expected[key], actual[key], `${path}.${key}`)),
    );
  }

  #textMatches(expected: string, actual: string, path: string): boolean {
    // Some recordings keep the version numbers of their own run.
    const isVersion = path.endsWith('.resourceVersion') && /^\d+$/.test(expected);
    if (isVersion || expected === 'trimmed' || expected === actual) return true;
    return placeholder.test(expected) && this.#placeholders.accept(expected, actual);
  }
}

function unique(items: readonly unknown[]): readonly unknown[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

function first(found: readonly (string | null)[]): string | null {
  return found.find((problem) => problem !== null) ?? null;
}
