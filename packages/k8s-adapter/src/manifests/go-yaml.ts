// YAML as kubectl and client-go read it: the YAML 1.1 of Go's library, which is made JSON. `on` is true, 010 is 8.
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type LineCounter,
  Pair,
  Parser,
  Scalar,
  type YAMLMap,
  type Node as YamlNode,
} from 'yaml';

/** A fault that keeps a text from being read, and its place. */
export interface YamlFault {
  readonly offset: number;
  readonly text: string;
}

/** All that keeps a text from being read. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
  readonly faults: readonly YamlFault[];

  constructor(faults: readonly YamlFault[]) {
    super(faults[0]?.text);
    this.faults = faults;
  }
}

/** `line 3, column 7`, where the first thing is wrong that keeps a text from being read. */
export function firstPlace(text: string, { faults }: YamlError): string {
  const before = text.slice(0, faults[0]?.offset ?? 0).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/**
 * The number of levels that maps and lists may be nested; the definitions of the API are a few
 * dozen deep.
 */
export const depthMax = 300;
/** A few lines of aliases may stand for more than any memory holds. */
const aliasedMax = 100_000;

/**
 * The value of each document of a text, without those that are empty. Keys of maps are texts, and
 * aliases and merges are replaced by their targets. Throws YamlError.
 */
export function documentsIn(text: string, lines: LineCounter | null = null): readonly YamlNode[] {
  const documents = compose(text.replace(/^\uFEFF/, ''), lines);
  // The first is the fault; later ones in its document mostly follow from it.
  const errors = documents.flatMap((document) => document.errors.slice(0, 1));
  const faults = errors.map(({ pos: [offset], message }): YamlFault => {
    return { offset, text: (message.split('\n')[0] ?? '').replace(/:$/, '') };
  });
  if (faults.length > 0) throw new YamlError(faults);
  return documents
    .map(({ contents }) => contents && new Resolver().resolve(contents).node)
    .filter((node) => node !== null)
    .filter((node) => !isScalar(node) || node.value !== null);
}

/**
 * Reads a text of one YAML document as Go does; null: it is empty. Throws an error that names each
 * fault.
 */
export function readGoYaml(text: string): unknown {
  const [node, another] = documentsIn(text);
  if (another) throw fault(another, 'want one document');
  return node ? plainValue(node) : null;
}

/** A node as plain data. */
export function plainValue(node: YamlNode): unknown {
  if (isSeq(node)) return node.items.map((item) => plainValue(item as YamlNode));
  if (!isMap(node)) return isScalar(node) ? node.value : null;
  return Object.fromEntries(
    node.items.map(({ key, value }) => [nameOf(key), plainValue(value as YamlNode)]),
  );
}

/** Keys are texts. */
export function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/** Texts that Go's library and kubectl refuse, and why. */
const refused: readonly (readonly [RegExp, text: string])[] = [
  [/^(?:\uFFFD\uFFFD|.\0)/s, 'the text is in UTF-16, want UTF-8'],
  [
    /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u,
    'control characters are not allowed',
  ],
  [/^---[ \t]*[^\s#]/m, 'want nothing but a comment after the --- that separates documents'],
];

function compose(text: string, lines: LineCounter | null): readonly Document[] {
  lines?.addNewLine(0);
  for (const { index } of lines ? text.matchAll(/\n/g) : []) lines?.addNewLine(index + 1);
  for (const [pattern, why] of refused) {
    const found = pattern.exec(text);
    if (found) throw new YamlError([{ offset: found.index, text: why }]);
  }
  const parser = new Parser();
  // Scalars are all texts at first: which of them are none is for Go's rules.
  const composer = new Composer({
    schema: 'failsafe',
    version: '1.1',
    prettyErrors: false,
    uniqueKeys: false,
  });
  const documents: Document[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === 'directive') {
        const why = `kubectl takes no directive: "${token.source.slice(0, 40)}"`;
        throw new YamlError([{ offset: token.offset, text: why }]);
      }
      documents.push(...composer.next(token));
    }
    // The document itself and the value being read are there too.
    if (parser.stack.length > depthMax + 2) throw tooDeep(parser.offset);
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  return [...documents, ...composer.end()];
}

function tooDeep(offset: number): YamlError {
  return new YamlError([{ offset, text: `it is nested more than ${depthMax} deep` }]);
}

function fault(node: YamlNode, text: string): YamlError {
  return new YamlError([{ offset: node.range?.[0] ?? 0, text }]);
}

/** A node as Go has it, with how many values it holds and how deep they stand in each other. */
interface Resolved {
  readonly node: YamlNode;
  readonly values: number;
  readonly depth: number;
}

/** Converts one document as Go does, in place. */
class Resolver {
  /** Values by their anchor; null while the value is being read. */
  readonly #anchors = new Map<string, Resolved | null>();
  #hasAlias = false;

  resolve(node: YamlNode): Resolved {
    if (isAlias(node)) return this.#aliased(node, node.source);
    const { anchor } = node as { readonly anchor?: string };
    if (anchor !== undefined) this.#anchors.set(anchor, null);
    const resolved = this.#own(node);
    if (anchor !== undefined) this.#anchors.set(anchor, resolved);
    if (resolved.depth > depthMax) throw fault(node, `it is nested more than ${depthMax} deep`);
    if (this.#hasAlias && resolved.values > aliasedMax) {
      throw fault(node, `it stands for more than ${aliasedMax} values`);
    }
    return resolved;
  }

  #aliased(node: YamlNode, name: string): Resolved {
    const resolved = this.#anchors.get(name);
    if (resolved === undefined) throw fault(node, `unknown anchor "${name}"`);
    if (resolved === null) throw fault(node, `a value contains itself: anchor "${name}"`);
    this.#hasAlias = true;
    return resolved;
  }

  #own(node: YamlNode): Resolved {
    if (isScalar(node)) return { node: scalar(node), values: 1, depth: 0 };
    if (isMap(node)) return this.#map(node);
    if (!isSeq(node)) return { node, values: 1, depth: 0 };
    const items = node.items.map((item) => this.resolve(nodeOf(item, node)));
    node.items = items.map((item) => item.node);
    return around(node, items);
  }

  #map(map: YAMLMap): Resolved {
    const members = new Map<string, Member>();
    const own = new Set<string>();
    for (const { key, value } of map.items) {
      const keyNode = key as YamlNode;
      const valueNode = nodeOf(value, keyNode);
      if (isMerge(keyNode)) {
        // As in Go, a merged value replaces the one before it.
        for (const [name, member] of this.#merged(valueNode)) members.set(name, member);
        continue;
      }
      const resolved = this.resolve(keyNode).node;
      const name = isScalar(resolved) ? keyText(resolved.value) : null;
      if (name === null) throw fault(keyNode, 'the key of a member must be a text');
      if (own.has(name)) throw fault(keyNode, `the key ${JSON.stringify(name)} is there twice`);
      own.add(name);
      members.set(name, { key: keyOf(name, keyNode), value: this.resolve(valueNode) });
    }
    map.items = Array.from(members.values(), ({ key, value }) => new Pair(key, value.node));
    this.#members.set(map, members);
    return around(
      map,
      Array.from(members.values(), ({ value }) => value),
    );
  }

  readonly #members = new Map<YamlNode, ReadonlyMap<string, Member>>();

  #merged(value: YamlNode): Iterable<readonly [string, Member]> {
    this.#hasAlias = true;
    const source = this.resolve(value).node;
    const isList = isSeq(source) && !isAlias(value);
    // Earlier ones count.
    const sources = isList ? source.items.toReversed() : [source];
    return sources.flatMap((one) => {
      const members = this.#members.get(one as YamlNode);
      if (!members) throw fault(value, 'what is merged by << must be a map or a list of maps');
      return [...members];
    });
  }
}

interface Member {
  readonly key: Scalar;
  readonly value: Resolved;
}

function around(node: YamlNode, parts: readonly Resolved[]): Resolved {
  let [values, depth] = [1, 0];
  for (const part of parts) {
    values += part.values;
    depth = Math.max(depth, part.depth);
  }
  return { node, values, depth: depth + 1 };
}

/** A value; a null that stands where `beside` does for one that is not there. */
function nodeOf(value: unknown, beside: YamlNode): YamlNode {
  if (value !== null && value !== undefined) return value as YamlNode;
  const node = new Scalar('');
  node.type = Scalar.PLAIN;
  node.range = beside.range ?? null;
  return node;
}

/** A key as a text, which remembers how it is written. */
function keyOf(name: string, written: YamlNode): Scalar {
  const key = new Scalar(name);
  key.range = written.range ?? null;
  key.source = isScalar(written) ? (written.source ?? name) : name;
  if (isScalar(written) && written.type !== undefined) key.type = written.type;
  return key;
}

function isMerge(key: YamlNode): boolean {
  return isScalar(key) && key.source === '<<' && key.type === Scalar.PLAIN && !key.tag;
}

/** The value that Go makes of a scalar's text. */
function scalar(node: Scalar): YamlNode {
  const text = String(node.value ?? '');
  const isQuoted = node.type !== Scalar.PLAIN;
  const value = goScalar(text, isQuoted && !node.tag ? '!' : (node.tag ?? ''));
  if (value instanceof Error) throw fault(node, value.message);
  node.value = value;
  return node;
}

const known = 'tag:yaml.org,2002:';
const words: ReadonlyMap<string, boolean | null> = new Map([
  ...inThreeCases(['y', 'yes', 'true', 'on']).map((word) => [word, true] as const),
  ...inThreeCases(['n', 'no', 'false', 'off']).map((word) => [word, false] as const),
  ...['', '~', ...inThreeCases(['null'])].map((word) => [word, null] as const),
]);
const notFinite = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const integer = /^([-+]?)(?:0[xX]([\da-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/;
const [leastInteger, mostInteger] = [-(2n ** 63n), 2n ** 64n - 1n];

function inThreeCases(all: readonly string[]): readonly string[] {
  const upper = (word: string): string => word.toUpperCase();
  return all.flatMap((word) => [word, upper(word.slice(0, 1)) + word.slice(1), upper(word)]);
}

/** A value of JSON that is neither map nor list. */
export type GoScalar = string | number | boolean | null;

/**
 * Returns the value that Go reads from a scalar with this tag; '': without a tag. An Error if the
 * text cannot be of that type, or not in JSON.
 */
export function goScalar(text: string, tag = ''): GoScalar | Error {
  const type = tag.startsWith(known) ? tag.slice(known.length) : tag;
  if (type === 'binary') return fromBase64(text);
  if (!['', 'bool', 'int', 'float', 'null', 'timestamp'].includes(type)) return text;
  const value = plainScalar(text);
  if (value instanceof Error || type === '' || type === 'timestamp') return value;
  const isMeant = type === 'null' ? value === null : isOf(type, value);
  return isMeant ? value : new Error(`cannot decode ${JSON.stringify(text)} as a !!${type}`);
}

function isOf(type: string, value: GoScalar): boolean {
  if (type === 'bool') return typeof value === 'boolean';
  return typeof value === 'number' && (type === 'float' || Number.isInteger(value));
}

function plainScalar(text: string): GoScalar | Error {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (notFinite.test(text)) return new Error(`"${text}" is no number of JSON`);
  if (!/^[-+.\d]/.test(text)) return text;
  return numberIn(text.replaceAll('_', '')) ?? text;
}

/** A number beyond what its notation can have is a text. */
function numberIn(text: string): number | null {
  const [, sign, hex, binary, octal, decimal] = integer.exec(text) ?? [];
  const digits =
    (hex && `0x${hex}`) ?? (binary && `0b${binary}`) ?? (octal && `0o${octal}`) ?? decimal;
  if (digits !== undefined && digits !== '') {
    const value = BigInt(digits) * (sign === '-' ? -1n : 1n);
    if (value >= leastInteger && value <= mostInteger) return Number(value);
  }
  const value = float.test(text) ? Number(text) : Number.NaN;
  // JSON has no negative zero.
  return Number.isFinite(value) ? value + 0 : null;
}

function fromBase64(text: string): string | Error {
  const packed = text.replaceAll(/[\r\n]/g, '');
  const isSound = packed.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(packed);
  if (!isSound) return new Error('a !!binary value contains invalid base64 data');
  return Buffer.from(packed, 'base64').toString();
}

/** A scalar as the key of a member; null: Go takes none such. */
function keyText(value: unknown): string | null {
  if (typeof value === 'number') return numberText(value);
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : null;
}

/** Whole numbers as they are, others as Go writes those of 32 bits. */
function numberText(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const digits = [1, 2, 3, 4, 5, 6, 7, 8].find((count) => {
    return Math.fround(Number(value.toPrecision(count))) === Math.fround(value);
  });
  const [mantissa = '', exponent = '0'] = value.toExponential((digits ?? 9) - 1).split('e');
  if (Number(exponent) >= -4 && Number(exponent) < 6)
    return String(Number(`${mantissa}e${exponent}`));
  return `${mantissa}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`;
}
