// The objects of a JSON text of any length, one by one: each is parsed by itself, as soon as it has been read.
//
// Lists are opened, in each other too, so that no text but that of one object is ever held. Several documents may
// follow each other, with lines of other text between them, as `kubectl cluster-info dump` prints them.
import { depthMax, readAllPositioned } from '@taintmgr/k8s-adapter/manifests';
import { impliedBy, isObject, type ObjectSink, type Place } from './found.ts';

/** The API server takes an object of three million bytes at most. */
const objectBytesMax = 16 * 2 ** 20;
/** The deepest nesting of lists. */
const listsMax = 20;
/** The shown part of a line. */
const lineBytesShown = 100;
/** `"items": ` with some space. */
const keyBytesMax = 64;

// Kinds of bytes outside texts.
const [space, other, quote, open, close, comma, newline] = [0, 1, 2, 3, 4, 5, 6];
const kinds = new Uint8Array(256).fill(other);
for (const byte of Buffer.from(' \t\r')) kinds[byte] = space;
for (const byte of Buffer.from('{[')) kinds[byte] = open;
for (const byte of Buffer.from('}]')) kinds[byte] = close;
kinds[0x22] = quote;
kinds[0x2c] = comma;
kinds[0x0a] = newline;
/** Bytes in texts that need an action. */
const special = new Uint8Array(256);
special.fill(1, 0, 0x20).fill(1, 0x80);
special[0x22] = 1;
special[0x5c] = 1;

const [listBegin, listEnd, backslash] = [0x5b, 0x5d, 0x5c];

/** A list whose items are being read. */
interface List {
  /** The text up to the items; '' for a list without anything around. */
  readonly head: string;
  readonly place: Place;
  /** The nesting depth of the list's object. */
  readonly depth: number;
  /** The kind and apiVersion of items without them; null: the list names them after its items. */
  readonly implied: object | null;
  /** Items that wait for that. */
  readonly waiting: (readonly [value: object, text: string, place: Place])[];
  items: number;
}

/** Takes a text in pieces and gives its objects. */
export class JsonObjects {
  readonly #file: string;
  readonly #sink: ObjectSink;
  /** The bytes of the value that is being read, before the current piece. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** The line of other text that is being read. */
  #line: string | null = null;
  #isInLog = false;
  #lines = 1;
  /** Bytes before the current piece, and before the current line. */
  #offset = 0;
  #lineOffset = 0;
  /** Bytes of the current line that are no characters of their own. */
  #wide = 0;
  /** Null between values. */
  #begin: Place | null = null;
  readonly #lists: List[] = [];
  /** The list whose items are over, while the rest of it is being read. */
  #shell: List | null = null;
  #isOver = false;
  /** Lines between the documents that are nothing known. */
  strangeLines = 0;

  constructor(file: string, sink: ObjectSink) {
    this.#file = file;
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    if (this.#isOver) return;
    let from = 0;
    for (let at = 0; at < chunk.length && !this.#isOver; at++) {
      if (this.#line !== null) {
        at = this.#goOnInLine(chunk, at);
        continue;
      }
      if (this.#isInText) {
        at = this.#goOnInText(chunk, at, from);
        continue;
      }
      const byte = chunk[at] as number;
      const kind = kinds[byte];
      if (kind === space || (kind === other && this.#begin !== null)) {
        while (kinds[chunk[at + 1] as number] === kind) at++;
        continue;
      }
      if (kind === newline) {
        this.#lines++;
        this.#lineOffset = this.#offset + at + 1;
        this.#wide = 0;
      } else if (kind === comma) {
        if (this.#isAtItem && this.#begin) this.#endValue(chunk.subarray(from, at));
      } else if (kind === close) from = this.#close(chunk, from, at);
      else {
        if (this.#begin === null) {
          if (this.#lists.length === 0 && kind !== open) {
            this.#line = '';
            at = this.#goOnInLine(chunk, at);
            continue;
          }
          this.#begin = this.#placeAt(at);
          from = at;
        }
        if (kind === quote) this.#isInText = true;
        if (kind === open) from = this.#open(chunk, from, at);
      }
    }
    if (this.#begin && !this.#isOver) this.#keep(chunk.subarray(from));
    this.#offset += chunk.length;
  }

  /** The end of the text. */
  end(): void {
    if (this.#isOver) return;
    if (this.#begin === null && this.#lists.length === 0) return;
    const place = this.#placeAt(0);
    const text = this.#take(Buffer.alloc(0));
    for (const list of this.#lists) this.#giveWaiting(list, {});
    if (this.#shell) this.#giveWaiting(this.#shell, {});
    const fault = this.#begin && !this.#shell ? jsonFault(text) : null;
    // A text that ends too early is wrong at its end; any other text was wrong before.
    if (fault && fault.offset < text.length) this.#refuse(text, this.#begin as Place, fault);
    else this.#fault(place, 'Unexpected end of JSON input');
  }

  get #isAtItem(): boolean {
    return this.#lists.length > 0 && this.#depth === this.#itemDepth;
  }

  /** The nesting depth of the values that are given. */
  get #itemDepth(): number {
    return (this.#lists.at(-1)?.depth ?? -2) + 2;
  }

  #goOnInText(chunk: Buffer, begin: number, from: number): number {
    let at = begin;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return at;
    }
    while (at < chunk.length && special[chunk[at] as number] === 0) at++;
    const byte = chunk[at];
    if (byte === undefined) return at;
    if (byte === 0x22) this.#isInText = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte < 0x20) {
      // A quote is missing: text can no longer be told from structure.
      this.#give(this.#take(chunk.subarray(from, at + 1)));
      this.#isOver = true;
    } else if (byte < 0xc0) this.#wide++;
    else if (byte >= 0xf0) this.#wide--;
    return at;
  }

  /** Text between the documents, up to the end of its line. */
  #goOnInLine(chunk: Buffer, begin: number): number {
    const found = chunk.indexOf(0x0a, begin);
    const end = found < 0 ? chunk.length : found;
    const line = this.#line ?? '';
    this.#line = line + chunk.toString('latin1', begin, Math.min(end, begin + lineBytesShown));
    if (found < 0) return end;
    this.#endLine(this.#line);
    this.#line = this.#isInLog ? '' : null;
    this.#lines++;
    this.#lineOffset = this.#offset + end + 1;
    this.#wide = 0;
    return end;
  }

  #endLine(line: string): void {
    if (/^==== START logs /.test(line)) this.#isInLog = true;
    else if (/^==== END logs /.test(line)) this.#isInLog = false;
    else if (!this.#isInLog) this.strangeLines++;
  }

  #open(chunk: Buffer, from: number, at: number): number {
    const isList = chunk[at] === listBegin;
    const depth = this.#depth++;
    if (this.#depth > depthMax + this.#itemDepth) {
      this.#fault(this.#placeAt(at), `it is nested more than ${depthMax} deep`);
      this.#isOver = true;
    }
    if (!isList || this.#shell || this.#begin === null) return from;
    if (depth === 0) return this.#openList('', -1, at);
    if (depth !== this.#itemDepth + 1) return from;
    if (!/"items"\s*:\s*$/.test(this.#before(chunk.subarray(from, at)))) return from;
    return this.#openList(this.#take(chunk.subarray(from, at + 1)), this.#itemDepth, at);
  }

  /** The last bytes of the value that is being read. */
  #before(bytes: Buffer): string {
    const pieces = [bytes.subarray(Math.max(0, bytes.length - keyBytesMax))];
    for (let at = this.#kept.length - 1; at >= 0 && lengthOf(pieces) < keyBytesMax; at--) {
      pieces.unshift((this.#kept[at] as Buffer).subarray(-keyBytesMax));
    }
    return Buffer.concat(pieces).toString('latin1');
  }

  #openList(head: string, depth: number, at: number): number {
    const implied = head === '' ? {} : impliedIn(`${head}]}`);
    const place = this.#begin as Place;
    if (this.#lists.length === listsMax) {
      this.#fault(place, `lists are nested more than ${listsMax} deep`);
      this.#isOver = true;
    }
    this.#lists.push({ head, place, depth, implied, waiting: [], items: 0 });
    this.#begin = null;
    return at + 1;
  }

  #close(chunk: Buffer, from: number, at: number): number {
    const list = this.#lists.at(-1);
    this.#depth--;
    if (list && this.#depth === list.depth + 1) {
      const wasInValue = this.#begin !== null;
      if (wasInValue) this.#endValue(chunk.subarray(from, at));
      this.#lists.pop();
      if (chunk[at] !== listEnd) {
        if (!wasInValue) this.#fault(this.#placeAt(at), "Expected ',' or ']'");
        this.#isOver = true;
      }
      if (list.head === '') return at;
      this.#shell = list;
      this.#begin = list.place;
      return at;
    }
    if (this.#depth < 0) {
      this.#fault(this.#placeAt(at), `Unexpected token '${String.fromCharCode(chunk[at] ?? 0)}'`);
      this.#isOver = true;
    } else if (this.#depth === this.#itemDepth && this.#begin) {
      this.#endValue(chunk.subarray(from, at + 1));
    }
    return from;
  }

  #endValue(rest: Buffer): void {
    const text = this.#take(rest);
    const shell = this.#shell;
    if (shell === null) this.#give(text);
    else {
      this.#shell = null;
      this.#giveWaiting(shell, impliedIn(shell.head + text) ?? {});
      this.#count();
    }
    this.#begin = null;
  }

  /** Gives the value that has been read. */
  #give(text: string): void {
    const place = this.#begin as Place;
    const list = this.#lists.at(-1);
    this.#count();
    const parsed = parse(text);
    if (parsed === null) {
      this.#refuse(text, place, jsonFault(text));
      // A brace is missing: the nesting is no longer known.
      if (/^\{.*\]$|^\[.*\}$/s.test(text)) this.#isOver = true;
    } else {
      const { value } = parsed;
      const needs = !isNamed(value) && list ? list.implied : {};
      if (needs === null && isObject(value)) list?.waiting.push([value, text, place]);
      else this.#say(isObject(value) ? { ...needs, ...value } : value, text, place);
    }
  }

  #count(): void {
    const list = this.#lists.at(-1);
    if (list) list.items++;
  }

  #giveWaiting({ waiting }: List, implied: object): void {
    for (const [value, text, place] of waiting.splice(0)) {
      this.#say({ ...implied, ...value }, text, place);
    }
  }

  #say(value: unknown, text: string, place: Place): void {
    this.#sink.object({
      value,
      place,
      field: () => readAllPositioned(this.#file, text, place)[0] ?? null,
    });
  }

  #refuse(text: string, place: Place, fault: Fault | null): void {
    const before = text.slice(0, fault?.offset ?? 0).split('\n');
    const [last = '', isFirst] = [before.at(-1), before.length === 1];
    const column = last.length + (isFirst ? place.column : 1);
    const why = fault?.why ?? 'no JSON';
    this.#fault({ ...place, line: place.line + before.length - 1, column }, why);
  }

  #fault({ line, column }: Place, why: string): void {
    this.#sink.fault(`${this.#file}:${line}:${column}: ${why}`);
  }

  #keep(bytes: Buffer): void {
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
    if (this.#keptBytes <= objectBytesMax) return;
    const place = this.#begin as Place;
    const text = this.#take(Buffer.alloc(0));
    const fault = jsonFault(text);
    const size = `more than ${objectBytesMax / 2 ** 20} MiB in one object, which no API server stores`;
    if (fault && fault.offset < text.length) this.#refuse(text, place, fault);
    else this.#fault(place, size);
    this.#isOver = true;
  }

  /** The text of the value that is being read. */
  #take(rest: Buffer): string {
    const all = this.#kept.length === 0 ? rest : Buffer.concat([...this.#kept, rest]);
    this.#kept = [];
    this.#keptBytes = 0;
    return all.toString('utf8');
  }

  #placeAt(at: number): Place {
    const column = this.#offset + at - this.#lineOffset - this.#wide + 1;
    const path = this.#lists.flatMap(({ head, items }) =>
      head === '' ? [items] : ['items', items],
    );
    return { line: this.#lines, column, path };
  }
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

function isNamed(value: unknown): boolean {
  return isObject(value) && 'kind' in value;
}

/** The kind and apiVersion that a list implies for its items; null: its kind is not known yet. */
function impliedIn(text: string): object | null {
  const list = parse(text)?.value;
  return isObject(list) && 'kind' in list ? impliedBy(list) : null;
}

/** Null: it is no JSON. */
function parse(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

interface Fault {
  readonly offset: number;
  readonly why: string;
}

/** The fault of the text of an object, in the parser's words, and its offset; null: no fault. */
function jsonFault(text: string): Fault | null {
  const fault = parserFault(text);
  if (fault === null) return null;
  // The shortest text that no valid text begins with ends with the fault.
  let [sound, wrong] = [0, text.length + 1];
  while (wrong - sound > 1) {
    const middle = (sound + wrong) >>> 1;
    if (isBeginning(text.slice(0, middle))) sound = middle;
    else wrong = middle;
  }
  const why = fault.replace(/(, (\.{3})?".* is not valid JSON| in JSON at position.*)$/s, '');
  return { offset: sound, why };
}

function parserFault(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

/** Tells whether a text has no fault but that it ends too early. */
function isBeginning(text: string): boolean {
  const fault = parserFault(text);
  if (fault === null || /^(Unexpected end|Unterminated string)/.test(fault)) return true;
  return Number(/at position (\d+)/.exec(fault)?.[1] ?? -1) >= text.length;
}
