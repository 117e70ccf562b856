// YAML files whose every value knows its line, for faults that name `file:line:column`.
import { parseDuration } from '@taintmgr/core/time';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type YAMLError,
  type Node as YamlNode,
} from 'yaml';
import { treeFault } from '../proto/tree.ts';
import { didYouMean } from './did-you-mean.ts';

/** Something wrong in a file: `file:line:column: path: text`. */
export class FileFault extends Error {
  override readonly name = 'FileFault';
}

/** A file that cannot be used: every fault that was found in it, one line each. */
export class FaultyFile extends Error {
  override readonly name = 'FaultyFile';
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

/** The same for a file of several documents, without those that are empty. */
export function readAllPositioned(file: string, text: string): readonly Field[] {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false };
  const parsed = parseAllDocuments(text, options);
  const documents = 'empty' in parsed ? [] : parsed;
  // The first is what is wrong; what follows in its document mostly comes of it.
  const errors = documents.flatMap((document) => document.errors.slice(0, 1));
  if (errors.length > 0) {
    throw new FaultyFile(errors.map((error) => syntaxFault(file, lines, error)));
  }
  for (const document of documents) {
    const fault = aliasFault(document);
    if (fault !== null) throw new FaultyFile([`${file}:1:1: ${fault}`]);
  }
  return documents
    .filter(({ contents }) => (isScalar(contents) ? contents.value : contents) !== null)
    .map((document) => new Field({ file, lines, document }, document.contents, []));
}

/** What is wrong with a document whose aliases make more of it than stands there; null: nothing. */
function aliasFault(document: Document): string | null {
  let hasAlias = false;
  visit(document, {
    Alias() {
      hasAlias = true;
      return visit.BREAK;
    },
  });
  if (!hasAlias) return null;
  try {
    return treeFault(document.toJS());
  } catch (error) {
    return (error as Error).message;
  }
}

function syntaxFault(file: string, lines: LineCounter, { pos, message }: YAMLError): string {
  const { line, col } = lines.linePos(pos[0]);
  return `${file}:${line}:${col}: ${message.split('\n')[0]}`;
}

interface PositionedText {
  readonly file: string;
  readonly lines: LineCounter;
  readonly document: Document;
}

type Path = readonly (string | number)[];

/** One value of a file. What is not as it is asked for is a FileFault that names its place. */
export class Field {
  readonly #source: PositionedText;
  readonly #node: YamlNode | null;
  readonly #path: Path;
  /** Its name, where it is a member. */
  readonly #key: YamlNode | null;

  constructor(
    source: PositionedText,
    node: YamlNode | null,
    path: Path,
    key: YamlNode | null = null,
  ) {
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
    return this.#node?.toJS(this.#source.document) ?? null;
  }

  fault(text: string): FileFault {
    return this.#faultAt(this.#node, text);
  }

  #faultAt(node: YamlNode | null, text: string): FileFault {
    const { line, col } = this.#positionOf(node);
    const where = this.#path.length === 0 ? '' : `${this.path}: `;
    return new FileFault(`${this.#source.file}:${line}:${col}: ${where}${text}`);
  }

  /** A fault that names the path itself, at the value there or where it should be. */
  faultAt(path: Path, text: string): FileFault {
    return new FileFault(`${this.at(path).place}: ${text}`);
  }

  /** Where people look for it: what goes on below begins with its name. */
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
   * earlier versions, and what they are called now.
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

  items(): readonly Field[] {
    if (!isSeq(this.#node)) throw this.fault(`want a list, got ${this.#shown}`);
    return this.#node.items.map((item, index) => this.#below(item as YamlNode, index));
  }

  text(): string {
    const { value } = this;
    return this.#want('a text', typeof value === 'string' && value !== '' ? value : null);
  }

  wholeNumber(min: number): number {
    const isWhole = (value: unknown): value is number => Number.isInteger(value);
    const { value } = this;
    return this.#want(`a whole number from ${min}`, isWhole(value) && value >= min ? value : null);
  }

  truth(): boolean {
    return this.#want('true or false', typeof this.value === 'boolean' ? this.value : null);
  }

  /** In milliseconds. */
  duration(): number {
    const { value } = this;
    const millis = typeof value === 'string' || value === 0 ? parseDuration(String(value)) : null;
    return this.#want('a duration such as 90s, 5m or 1h30m', millis);
  }

  oneOf<T extends string>(allowed: readonly T[]): T {
    return this.#want(allowed.join(', '), allowed.find((one) => one === this.value) ?? null);
  }

  #want<T>(what: string, found: T | null): T {
    if (found !== null) return found;
    throw this.fault(`want ${what}, got ${this.#shown}`);
  }

  /** What another reader makes of the value; its RangeError is a fault of this field. */
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
        const name = String(isScalar(key) ? key.value : key);
        const node = (value ?? key) as YamlNode;
        return [name, this.#below(node, name, isScalar(key) ? key : null)];
      }),
    );
  }

  #below(node: YamlNode, step: string | number, key: YamlNode | null = null): Field {
    const meant = isAlias(node) ? node.resolve(this.#source.document) : node;
    return new Field(this.#source, meant ?? node, [...this.#path, step], key);
  }

  #positionOf(node: YamlNode | null): { readonly line: number; readonly col: number } {
    return this.#source.lines.linePos(node?.range?.[0] ?? 0);
  }

  get #shown(): string {
    const text = JSON.stringify(this.value);
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  }
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
