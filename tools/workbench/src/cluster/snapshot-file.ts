// Reads a snapshot of a cluster from a file.

import { createReadStream } from 'node:fs';
import { readGoYaml } from '@taintmgr/k8s-adapter/manifests';
import type { LoadReport, Unloaded } from '@taintmgr/sim-cluster';

/** A snapshot that cannot be read: one line that names the file and says why. */
export class SnapshotFileError extends Error {
  override readonly name = 'SnapshotFileError';
}

/**
 * Reads what `kubectl get -o yaml` or `-o json` printed, of any length and in one or several
 * documents. Throws SnapshotFileError for a file that cannot be read or holds nothing.
 */
export async function readSnapshot(file: string): Promise<Parsed> {
  try {
    const parsed = await parseChunks(createReadStream(file, 'utf8'));
    if (parsed.values.length + parsed.faults.length > 0) return parsed;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new SnapshotFileError(`--snapshot ${file}: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
  throw new SnapshotFileError(`--snapshot ${file}: the file is empty`);
}

/** JSON when the first character says so, else YAML. */
async function parseChunks(chunks: AsyncIterable<string>): Promise<Parsed> {
  let documents = new Documents(readGoYaml);
  let splitter: Splitter | null = null;
  let begin = '';
  for await (const chunk of chunks) {
    if (splitter) {
      splitter.push(chunk);
      continue;
    }
    begin = (begin + chunk).replace(/^\uFEFF/, '');
    if (begin.trim() === '') continue;
    const isJson = /^\s*[[{]/.test(begin);
    if (isJson) documents = new Documents(JSON.parse);
    splitter = isJson ? new JsonSplitter(documents) : new YamlSplitter(documents);
    splitter.push(begin);
  }
  splitter?.end();
  return documents;
}

/** The contents of a file, and the parts of it that are not even text of its format. */
interface Parsed {
  readonly values: readonly unknown[];
  /** `item 7: Unexpected token ...` */
  readonly faults: readonly string[];
}

/** Takes a text in pieces of any length. */
interface Splitter {
  push(text: string): void;
  end(): void;
}

/**
 * Puts documents together from parts that are parsed one by one as they come, so that a text may be
 * longer than a string can be: the items of a list, then its shell, which is the list without them.
 */
export class Documents implements Parsed {
  readonly values: unknown[] = [];
  readonly faults: string[] = [];
  readonly #parse: (text: string) => unknown;
  #items: unknown[] = [];
  #count = 0;

  /** `parse` throws an Error for a text that is none. */
  constructor(parse: (text: string) => unknown) {
    this.#parse = parse;
  }

  /** The next item of the document that has begun. */
  item(text: string): void {
    this.#count++;
    const item = this.#attempt(text, `item ${this.#count}`);
    if (item !== undefined) this.#items.push(item);
  }

  /** The end of a document. */
  shell(text: string): void {
    const shell = this.#attempt(text, `document ${this.values.length + 1}`);
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) this.values.push(isObject(shell) ? { ...shell, items } : { items });
    else if (shell !== undefined && shell !== null) this.values.push(shell);
  }

  #attempt(text: string, what: string): unknown {
    try {
      return this.#parse(text);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const [line = ''] = error.message.split('\n');
      this.faults.push(`${what}: ${line}`);
      return undefined;
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const [quote, comma, backslash] = [34, 44, 92];
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125];
const beginsItems = /"items"\s*:\s*$/;
/** Enough of the text before a list to see its name. */
const nameLength = 100;

/** Finds the documents of a JSON text, and the items of those that are lists. */
export class JsonSplitter implements Splitter {
  readonly #documents: Documents;
  #shell = '';
  /** Null outside `items`. */
  #item: string | null = null;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  push(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#inString) this.#goOnInString(code);
      else if (code === quote) this.#inString = true;
      else if (code === openList || code === openObject) {
        this.#depth++;
        if (code === openObject || this.#depth !== 2 || this.#item !== null) continue;
        const before = (this.#shell + text.slice(from, at)).slice(-nameLength);
        if (!beginsItems.test(before)) continue;
        this.#keep(text.slice(from, at + 1));
        this.#item = '';
        from = at + 1;
      } else if (code === closeList || code === closeObject) {
        this.#depth--;
        if (this.#item !== null && this.#depth === 1) {
          this.#endItem(text.slice(from, at));
          this.#item = null;
          from = at;
        } else if (this.#depth <= 0) {
          this.#endDocument(text.slice(from, at + 1));
          from = at + 1;
        }
      } else if (code === comma && this.#item !== null && this.#depth === 2) {
        this.#endItem(text.slice(from, at));
        from = at + 1;
      }
    }
    this.#keep(text.slice(from));
  }

  end(): void {
    if (this.#item !== null) this.#endItem('');
    if (this.#shell.trim() !== '') this.#endDocument('');
  }

  #goOnInString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#inString = false;
  }

  #keep(text: string): void {
    if (this.#item === null) this.#shell += text;
    else this.#item += text;
  }

  #endItem(rest: string): void {
    this.#keep(rest);
    if (this.#item?.trim()) this.#documents.item(this.#item);
    this.#item = '';
  }

  #endDocument(rest: string): void {
    this.#keep(rest);
    this.#documents.shell(this.#shell);
    this.#shell = '';
    this.#depth = 0;
  }
}

/**
 * Finds the documents of a YAML text, and the items of those that are lists written in blocks, as
 * kubectl prints them. Any other YAML is a document without items.
 */
class YamlSplitter implements Splitter {
  readonly #documents: Documents;
  #line = '';
  readonly #shell: string[] = [];
  /** Null outside `items`. */
  #item: string[] | null = null;
  /** The text before the dash of each item; null before the first. */
  #indent: string | null = null;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  push(text: string): void {
    const lines = (this.#line + text).split('\n');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#take(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  end(): void {
    this.#take(this.#line);
    this.#endDocument();
  }

  #take(line: string): void {
    if (/^(---|\.\.\.)(\s|$)/.test(line)) {
      this.#endDocument();
      this.#shell.push(line.slice(3));
    } else if (this.#item === null) {
      if (/^items:\s*$/.test(line)) this.#item = [];
      else this.#shell.push(line);
    } else this.#takeInItems(line, this.#item);
  }

  #takeInItems(line: string, item: string[]): void {
    this.#indent ??= /^ *(?=-(\s|$))/.exec(line)?.[0] ?? null;
    if (this.#indent !== null && new RegExp(`^${this.#indent}-(\\s|$)`).test(line)) {
      this.#endItem();
      this.#item = [line.replace('-', ' ')];
    } else if (line === '' || /^[\s#]/.test(line)) {
      item.push(line);
    } else {
      this.#endItem();
      this.#item = null;
      this.#indent = null;
      this.#shell.push(line);
    }
  }

  #endItem(): void {
    const text = this.#item?.join('\n') ?? '';
    if (text.trim() !== '') this.#documents.item(text);
    this.#item = [];
  }

  #endDocument(): void {
    this.#endItem();
    this.#item = null;
    this.#indent = null;
    this.#documents.shell(this.#shell.splice(0).join('\n'));
  }
}

/** The others are counted. */
const linesMax = 20;

/** The objects that could not be loaded from a snapshot, one line each, then the counts. */
export function reportLines(
  file: string,
  report: LoadReport,
  faults: readonly string[],
): readonly string[] {
  const { loaded, unloaded, createdNamespaces, createdClaims } = report;
  const missing = unloaded.length + faults.length;
  const all = [...faults, ...unloaded.map((entry) => `${nameOf(entry)}: ${entry.reason}`)];
  const more = all.length - linesMax;
  return [
    ...all.slice(0, linesMax).map((fault) => `not taken: ${fault}`),
    ...(more > 0 ? [`not taken: and ${more} more`] : []),
    ...(createdNamespaces.length > 0
      ? [`namespaces made up for its objects: ${createdNamespaces.join(', ')}`]
      : []),
    ...(createdClaims.length > 0
      ? [`claims or volumes made up for its pods: ${createdClaims.join(', ')}`]
      : []),
    `snapshot ${file}: ${loaded} objects taken, ${missing} not taken${kinds(unloaded)}`,
  ];
}

/** `Pod shop/web-1`, with the parts that are known. */
function nameOf({ kind, namespace, name }: Unloaded): string {
  const full = namespace === '' ? name : `${namespace}/${name}`;
  return `${kind || 'something without a kind'} ${full || '(without a name)'}`;
}

/** ` (Service 3, Gadget 1)` */
function kinds(unloaded: readonly Unloaded[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of unloaded) counts.set(kind || '?', (counts.get(kind || '?') ?? 0) + 1);
  const texts = [...counts].map(([kind, count]) => `${kind} ${count}`);
  return texts.length > 0 ? ` (${texts.join(', ')})` : '';
}
