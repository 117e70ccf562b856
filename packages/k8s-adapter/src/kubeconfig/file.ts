// kubeconfig files, read and merged.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { asList, asRecord, isRecord, type JsonRecord } from '../proto/json.ts';
import { KubeconfigError } from '../transport/errors.ts';

/** A cluster, user or context as a file has it. */
export interface Entry {
  /** Where it stands, for messages: `/home/me/.kube/config: cluster "prod"`. */
  readonly place: string;
  /** Relative paths in it are relative to this directory. */
  readonly directory: string;
  readonly fields: JsonRecord;
}

/** The words of all files together: of each name, and of current-context, the first counts. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

const sections = [
  ['clusters', 'cluster'],
  ['users', 'user'],
  ['contexts', 'context'],
] as const;

/**
 * Reads and merges kubeconfig files. Files that do not exist are left out, unless `mustExist`.
 * Throws KubeconfigError naming the file and its fault.
 */
export async function readKubeconfig(
  files: readonly string[],
  mustExist: boolean,
): Promise<Kubeconfig> {
  const merged = {
    clusters: new Map<string, Entry>(),
    users: new Map<string, Entry>(),
    contexts: new Map<string, Entry>(),
  };
  let currentContext = '';
  for (const file of files) {
    const document = await readDocument(file, mustExist);
    if (!document) continue;
    for (const [section, member] of sections) addEntries(merged[section], file, document, member);
    currentContext ||= textOf(document, 'current-context', file);
  }
  return { files, currentContext, ...merged };
}

/** A member that must be a string where it is present; '' where it is not. */
export function textOf(fields: JsonRecord, name: string, place: string): string {
  const value = fields[name] ?? '';
  if (typeof value === 'string') return value;
  throw new KubeconfigError(`${place}: ${name}: got ${typeOf(value)}, want a string`);
}

/** The kind of the value; the value itself may be a secret. */
function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

async function readDocument(file: string, mustExist: boolean): Promise<JsonRecord | null> {
  const text = readText(file, mustExist);
  if (text === null || text.trim() === '') return null;
  const document = readPlainYaml(text) ?? (await readYaml(file, text));
  if (document === null) return null;
  if (!isRecord(document)) throw new KubeconfigError(`${file}: want a kubeconfig, got plain text`);
  const kind = document.kind ?? 'Config';
  if (kind !== 'Config') {
    const got = typeof kind === 'string' ? JSON.stringify(kind) : typeOf(kind);
    throw new KubeconfigError(`${file}: kind: got ${got}, want "Config"`);
  }
  return document;
}

function readText(file: string, mustExist: boolean): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = asRecord(error);
    if (code === 'ENOENT' && !mustExist) return null;
    const why = code === 'ENOENT' ? 'no such file' : `cannot be read (${String(code)})`;
    // Only a file that a flag names has to exist.
    throw new KubeconfigError(`${mustExist ? '--kubeconfig: ' : ''}${file}: ${why}`);
  }
}

async function readYaml(file: string, text: string): Promise<unknown> {
  const { firstPlace, readGoYaml, YamlError } = await import('../manifests/go-yaml.ts');
  try {
    return readGoYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const at = firstPlace(text, error);
    // Text in quotes or brackets there is of the file: often a token.
    const [why = ''] = error.message.split(/["'<`(:\\]/);
    throw new KubeconfigError(
      `${file}: not valid YAML at ${at}: ${why.trim() || 'cannot be read'}`,
    );
  }
}

function addEntries(
  entries: Map<string, Entry>,
  file: string,
  document: JsonRecord,
  member: (typeof sections)[number][1],
): void {
  const section = `${member}s`;
  for (const [index, value] of asList(document[section]).entries()) {
    const record = asRecord(value);
    const name = textOf(record, 'name', `${file}: ${section}[${index}]`);
    if (name === '') throw new KubeconfigError(`${file}: ${section}[${index}]: name is missing`);
    if (entries.has(name)) continue;
    const place = `${file}: ${member} "${name}"`;
    entries.set(name, { place, directory: path.dirname(file), fields: asRecord(record[member]) });
  }
}

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

  /** The value under a key: a list may be as deep as its key. */
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

  /** A deeper line continues a value, which takes more to read. */
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
