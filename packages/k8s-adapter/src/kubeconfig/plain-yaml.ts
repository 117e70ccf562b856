// Reads the YAML that kubectl and its like write: maps and lists in blocks, of words in one line. For
// that nobody waits until a library for all of YAML is loaded; what it does not know is left to that.
import type { JsonRecord } from '../proto/json.ts';

interface Line {
  readonly indent: number;
  /** A key with or without its value, a value, or `-`, whose item is the next line. */
  readonly text: string;
}

const notPlain = new Error('not plain YAML');

const keyAndValue = /^([A-Za-z][\w.-]*):(?: (\S.*))?$/;
/** Whatever begins so is no number, no date, and no mark of YAML's own. */
const word = /^(?:[A-Za-z/]|--?[A-Za-z])[\w./:@+=%~-]*$/;
/** Some that read YAML take these for something else than text. */
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
const quoted = /^"([\w ./:@+=%~,-]*)"$/;

/** A document that is a map; null: it takes more to read it than is known here. */
export function readPlainYaml(text: string): JsonRecord | null {
  try {
    const lines = text.split('\n').flatMap(linesOf);
    if (lines.length === 0) return null;
    const reader = new Reader(lines);
    const value = reader.map(0);
    return reader.next === undefined ? value : null;
  } catch (error) {
    if (error === notPlain) return null;
    throw error;
  }
}

/** `- - key: value` is three lines. */
function linesOf(line: string): readonly Line[] {
  const indent = line.search(/[^ ]/);
  if (indent === -1 || line[indent] === '#') return [];
  const text = line.slice(indent);
  if (!text.startsWith('- ')) return [{ indent, text }];
  return [{ indent, text: '-' }, ...linesOf(`${' '.repeat(indent + 2)}${text.slice(2)}`)];
}

class Reader {
  readonly #lines: readonly Line[];
  #at = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
  }

  get next(): Line | undefined {
    return this.#lines[this.#at];
  }

  /** The members of a map at this depth, of which there is one at least. */
  map(indent: number): JsonRecord {
    const members: Record<string, unknown> = {};
    do {
      const [, key, value] = keyAndValue.exec(this.#take(indent)) ?? [];
      if (key === undefined || reserved.test(key) || Object.hasOwn(members, key)) throw notPlain;
      members[key] = value === undefined ? this.#below(indent) : scalar(value);
    } while (this.#goesOn(indent) && this.next?.text !== '-');
    return members;
  }

  /** What stands under a key: a list may be as deep as its key. */
  #below(indent: number): unknown {
    const { next } = this;
    if (!next || next.indent < indent) throw notPlain;
    if (next.text === '-') return this.#list(next.indent);
    if (next.indent === indent) throw notPlain;
    return this.map(next.indent);
  }

  #list(indent: number): readonly unknown[] {
    const items: unknown[] = [];
    do {
      if (this.#take(indent) !== '-') throw notPlain;
      items.push(this.#item(indent + 2));
    } while (this.#goesOn(indent) && this.next?.text === '-');
    return items;
  }

  #item(indent: number): unknown {
    const { next } = this;
    if (next?.text === '-') return this.#list(indent);
    if (next && keyAndValue.test(next.text)) return this.map(indent);
    return scalar(this.#take(indent));
  }

  #take(indent: number): string {
    const { next } = this;
    if (next?.indent !== indent) throw notPlain;
    this.#at += 1;
    return next.text;
  }

  /** A line that is deeper goes on with a value, which takes more to read. */
  #goesOn(indent: number): boolean {
    const { next } = this;
    if (next && next.indent > indent) throw notPlain;
    return next?.indent === indent;
  }
}

function scalar(text: string): unknown {
  if (text === '{}') return {};
  if (text === '[]') return [];
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  const [, inside] = quoted.exec(text) ?? [];
  if (inside !== undefined) return inside;
  // A colon at the end makes it a key.
  if (!word.test(text) || reserved.test(text) || text.endsWith(':')) throw notPlain;
  return text;
}
