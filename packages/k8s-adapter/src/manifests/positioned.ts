// YAML files whose every value knows its line, for faults that name `file:line:column`.
import { parseDuration } from '@taintmgr/core/time';
import { isMap, isScalar, isSeq, LineCounter, Scalar, type Node as YamlNode } from 'yaml';
import { didYouMean } from './did-you-mean.ts';
import { documentsIn, nameOf, plainValue, YamlError } from './go-yaml.ts';

/** Something wrong in a file: `file:line:column: path: text`. */
export class FileFault extends Error {
  override readonly name = 'FileFault';
}

/** A file that cannot be used: every fault that was found in it, one line each. */
export class FaultyFile extends Error {
  override readonly name = 'FaultyFile';
  /** One line for each fault. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * Reads YAML, or JSON as a part of it, so that every value knows its place; `want` says what should be in the
 * file. Throws FaultyFile.
 */
export function readPositioned(file: string, text: string, want: string): Field {
  const [document, another] = readAllPositioned(file, text);
  if (!document) throw new FaultyFile([`${file}:1:1: the file is empty, want ${want}`]);
  if (another) throw new FaultyFile([another.fault('want one document').message]);
  return document;
}

/**
 * Reads a text of several YAML documents, without those that are empty. `begin`: the text is a part
 * of the file, from there on. Throws FaultyFile.
 */
export function readAllPositioned(
  file: string,
  text: string,
  begin: TextBegin = fileBegin,
): readonly Field[] {
  const source = new PositionedText(file, begin);
  try {
    return documentsIn(text, source.lines).map((node) => new Field(source, node, begin.path));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new FaultyFile(
      error.faults.map(({ offset, text: why }) => {
        const { line, col } = source.placeOf(offset);
        return `${file}:${line}:${col}: ${why}`;
      }),
    );
  }
}

/** Where a part of a file begins: its line and column, from 1, and the path of its value. */
export interface TextBegin {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The path of the value in the file. */
  readonly path: Path;
}

const fileBegin: TextBegin = { line: 1, column: 1, path: [] };

class PositionedText {
  readonly file: string;
  readonly lines: LineCounter = new LineCounter();
  readonly #begin: TextBegin;

  constructor(file: string, begin: TextBegin) {
    this.file = file;
    this.#begin = begin;
  }

  placeOf(offset: number): { readonly line: number; readonly col: number } {
    const { line, col } = this.lines.linePos(offset);
    const { line: first, column } = this.#begin;
    return { line: line + first - 1, col: line === 1 ? col + column - 1 : col };
  }
}

type Path = readonly (string | number)[];

/** A value of a file. A value with a fault is a FileFault that names its place. */
export class Field {
  readonly #source: PositionedText;
  readonly #node: YamlNode;
  readonly #path: Path;
  /** Its name, where it is a member. */
  readonly #key: YamlNode | null;

  constructor(source: PositionedText, node: YamlNode, path: Path, key: YamlNode | null = null) {
    this.#source = source;
    this.#node = node;
    this.#path = path;
    this.#key = key;
  }

  /** The line on which it begins, from 1. */
  get line(): number {
    return this.#positionOf(this.#node).line;
  }

  /** `policies.yaml:12:3` */
  get place(): string {
    const { line, col } = this.#position;
    return `${this.#source.file}:${line}:${col}`;
  }

  /** `spec.taints[0].key` */
  get path(): string {
    return pathText(this.#path);
  }

  /** The member or item of a path; null: there is none. */
  find(path: Path): Field | null {
    const found = this.at(path);
    return found.#path.length === this.#path.length + path.length ? found : null;
  }

  /** As plain data. */
  get value(): unknown {
    return plainValue(this.#node);
  }

  /** A fault of this value, with its place. */
  fault(text: string): FileFault {
    return this.#faultAt(this.#node, text);
  }

  #faultAt(node: YamlNode | null, text: string): FileFault {
    const { line, col } = this.#positionOf(node);
    const where = this.#path.length === 0 ? '' : `${this.path}: `;
    const hint = this.hint(text);
    const why = hint === '' ? text : `${text} (${hint})`;
    return new FileFault(`${this.#source.file}:${line}:${col}: ${where}${why}`);
  }

  /** Hints that YAML 1.1 takes a name or value for something else, where that may be wrong; '': nothing to hint at. */
  hint(fault: string): string {
    const key = wordHint(this.#key, '');
    return key === '' ? wordHint(this.#node, fault) : key;
  }

  /** A fault that names the path itself, at the value there or where it should be. */
  faultAt(path: Path, text: string): FileFault {
    const at = this.at(path);
    const hint = at.hint(text);
    return new FileFault(`${at.place}: ${hint === '' ? text : `${text} (${hint})`}`);
  }

  /** The place where people look for it: content that continues below begins with its name. */
  get #position(): { readonly line: number; readonly col: number } {
    return this.#positionOf(isScalar(this.#node) ? this.#node : (this.#key ?? this.#node));
  }

  /** The same about something at this path, of which this is the last part that is there. */
  faultBelow(path: string, text: string): FileFault {
    const missing = path.slice(this.path.length).replace(/^\./, '');
    return this.fault(missing === '' ? text : `${missing}: ${text}`);
  }

  /**
   * The members of an object, of which no others than these may be there. `renamed` are those of
   * earlier versions, and their present names.
   */
  members(
    allowed: readonly string[],
    renamed: ReadonlyMap<string, string> = new Map(),
  ): ReadonlyMap<string, Field> {
    const members = this.entries(`an object with ${allowed.join(', ')}`);
    for (const [key, field] of members) {
      if (allowed.includes(key)) continue;
      const want = renamed.get(key) ?? allowed.join(', ');
      const meant = renamed.has(key) ? '' : didYouMean(key, allowed);
      throw field.#faultAt(field.#key, `unknown field${meant || ';'} want ${want}`);
    }
    return members;
  }

  /** The items of a list. Throws FileFault for another value. */
  items(): readonly Field[] {
    if (!isSeq(this.#node)) throw this.fault(`want a list, got ${this.#shown}`);
    return this.#node.items.map((item, index) => this.#below(item as YamlNode, index));
  }

  /** A text that is not empty. Throws FileFault for another value. */
  text(): string {
    const { value } = this;
    return this.#want('a text', typeof value === 'string' && value !== '' ? value : null);
  }

  /** A whole number from `min` to `max`. Throws FileFault for another value. */
  wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): number {
    const isWhole = (value: unknown): value is number => Number.isInteger(value);
    const { value } = this;
    const isIn = isWhole(value) && value >= min && value <= max;
    const upTo = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
    return this.#want(`a whole number from ${min}${upTo}`, isIn ? value : null);
  }

  /** True or false. Throws FileFault for another value. */
  truth(): boolean {
    return this.#want('true or false', typeof this.value === 'boolean' ? this.value : null);
  }

  /** In milliseconds. */
  duration(): number {
    const { value } = this;
    const millis = typeof value === 'string' || value === 0 ? parseDuration(String(value)) : null;
    return this.#want('a duration such as 90s, 5m or 1h30m', millis);
  }

  /** One of the allowed texts. Throws FileFault for another value. */
  oneOf<T extends string>(allowed: readonly T[]): T {
    return this.#want(allowed.join(', '), allowed.find((one) => one === this.value) ?? null);
  }

  #want<T>(what: string, found: T | null): T {
    if (found !== null) return found;
    throw this.fault(`want ${what}, got ${this.#shown}`);
  }

  /** The value as another reader takes it; its RangeError is a fault of this field. */
  read<T>(reader: (value: unknown) => T): T {
    try {
      return reader(this.value);
    } catch (error) {
      if (error instanceof RangeError) throw this.fault(error.message);
      throw error;
    }
  }

  /** The member or item of a path, or the last there is on the way to it. */
  at(path: Path): Field {
    const [first, ...rest] = path;
    if (first === undefined) return this;
    const child = this.#children.find((field) => field.#path.at(-1) === first);
    return child ? child.at(rest) : this;
  }

  /** The same where the indices of lists are not known: the item whose member is of that kind. */
  below(path: readonly string[], kind: string): Field {
    const [first, ...rest] = path;
    if (first === undefined) return this;
    if (isSeq(this.#node)) {
      const found = this.items().map((item) => item.below(path, kind));
      return found.find(({ value }) => kindOf(value) === kind) ?? found[0] ?? this;
    }
    const member = this.#pairsOrNone().get(first);
    if (!member || rest.length > 0 || !isSeq(member.#node))
      return member?.below(rest, kind) ?? this;
    return member.items().find(({ value }) => kindOf(value) === kind) ?? member;
  }

  /** The first member anywhere in it that is this value; null: there is none. */
  holding(value: unknown): Field | null {
    if (this.value === value) return this;
    return this.#children.reduce<Field | null>(
      (found, child) => found ?? child.holding(value),
      null,
    );
  }

  /** The numbers anywhere in it that are others than they look like, as 010, which is 8. */
  oddNumbers(): readonly Field[] {
    const isOdd = typeof this.value === 'number' && wordHint(this.#node, '') !== '';
    return isOdd ? [this] : this.#children.flatMap((child) => child.oddNumbers());
  }

  get #children(): readonly Field[] {
    return isSeq(this.#node) ? this.items() : [...this.#pairsOrNone().values()];
  }

  #pairsOrNone(): ReadonlyMap<string, Field> {
    return isMap(this.#node) ? this.entries() : new Map();
  }

  /** The members of an object, whatever their names are. */
  entries(want = 'an object'): ReadonlyMap<string, Field> {
    if (!isMap(this.#node)) throw this.fault(`want ${want}, got ${this.#shown}`);
    return new Map(
      this.#node.items.map(({ key, value }) => {
        const name = nameOf(key);
        return [name, this.#below(value as YamlNode, name, key as YamlNode)];
      }),
    );
  }

  #below(node: YamlNode, step: string | number, key: YamlNode | null = null): Field {
    return new Field(this.#source, node, [...this.#path, step], key);
  }

  #positionOf(node: YamlNode | null): { readonly line: number; readonly col: number } {
    return this.#source.placeOf(node?.range?.[0] ?? 0);
  }

  get #shown(): string {
    const text = JSON.stringify(this.value);
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  }
}

/** `on is a boolean in YAML 1.1; write 'on' in quotes`, about a scalar without them. */
function wordHint(node: YamlNode | null, fault: string): string {
  if (!isScalar(node) || node.type !== Scalar.PLAIN) return '';
  const { source = '', value } = node;
  const isText = typeof value === 'string' && value === source;
  if (value === null || isText || node.tag !== undefined) return '';
  const plain = source.toLowerCase().replaceAll('_', '');
  const isClear = plain === String(value) || Number(plain) === value;
  if (isClear && !/of type string|want a text|Required value/.test(fault)) return '';
  const isTruth = /^(?:true|false)$/.test(String(value));
  const what = isTruth ? 'a boolean' : isClear ? 'a number' : `the number ${value}`;
  return `${source} is ${what} in YAML 1.1; to have a text write '${source}' in quotes`;
}

/** As Go's JSON names it. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function pathText(path: Path): string {
  const parts = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  return parts.join('').replace(/^\./, '');
}
