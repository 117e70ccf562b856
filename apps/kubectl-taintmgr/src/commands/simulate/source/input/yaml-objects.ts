// The objects of a YAML text, one by one: a list as kubectl prints it is read item by item, as all of it at
// once would take many times its size.
import { FaultyFile, type Field, readAllPositioned } from '@taintmgr/k8s-adapter/manifests';
import { impliedBy, isObject, type ObjectSink, type Place } from './found.ts';
import { templateHint } from './strangers.ts';

/** Gives the objects of a text; returns those that are no lists, with their places. */
export function yamlObjects(file: string, text: string, sink: ObjectSink): void {
  for (const document of documentsOf(text)) {
    const parts = partsOf(document);
    try {
      if (parts === null || !giveParts(file, parts, sink)) giveWhole(file, document, sink);
    } catch (error) {
      if (!(error instanceof FaultyFile)) throw error;
      const hint = templateHint(document.lines.join('\n'));
      for (const fault of error.faults) sink.fault(`${fault}${hint}`);
    }
  }
}

/** Lines of a text, and the number of the first. */
interface Part {
  readonly lines: readonly string[];
  readonly first: number;
}

function documentsOf(text: string): readonly Part[] {
  const lines = text.split('\n');
  const documents: Part[] = [];
  let from = 0;
  for (let at = 1; at <= lines.length; at++) {
    if (at < lines.length && !/^---(\s|$)/.test(lines[at] ?? '')) continue;
    documents.push({ lines: lines.slice(from, at), first: from + 1 });
    from = at;
  }
  return documents;
}

/** A list: all but its items, and these. */
interface ListParts {
  readonly shell: Part;
  readonly items: readonly Part[];
}

/** A document as a list; null: it is none in the form in which kubectl prints one. */
function partsOf({ lines, first }: Part): ListParts | null {
  const begin = lines.findIndex((line) => /^items:\s*$/.test(line)) + 1;
  if (begin === 0) return null;
  const indent = /^ *(?=- )/.exec(lines[begin] ?? '')?.[0];
  if (indent === undefined) return null;
  const isItem = (line: string): boolean => line.startsWith(`${indent}- `);
  const isOver = (line: string): boolean => /^[^\s#]/.test(line) && !isItem(line);
  const length = lines.slice(begin).findIndex(isOver);
  const end = length < 0 ? lines.length : begin + length;
  const starts = lines.flatMap((line, at) => (at >= begin && at < end && isItem(line) ? [at] : []));
  const items = starts.map((start, index) => {
    const [head = '', ...rest] = lines.slice(start, starts[index + 1] ?? end);
    return { lines: [head.replace('-', ' '), ...rest], first: first + start };
  });
  // Its lines keep their numbers.
  const shell = lines.map((line, at) => (at >= begin - 1 && at < end ? '' : line));
  return { shell: { lines: shell, first }, items };
}

/** Returns false where an item cannot be read without the others. */
function giveParts(file: string, { shell, items }: ListParts, sink: ObjectSink): boolean {
  const list = fieldsOf(file, shell, [])[0]?.value;
  const implied = impliedBy(list);
  // kubectl prints the kind of a list below its items.
  if (!isObject(list) || !('kind' in list)) {
    const last = shell.first + shell.lines.length - 1;
    sink.fault(`${file}:${last}:1: the list has no kind, as where the end of the text is missing`);
  }
  for (const [index, item] of items.entries()) {
    try {
      const path = ['items', index];
      for (const field of fieldsOf(file, item, path)) {
        giveField(field, implied, sink, { line: item.first, column: 1, path });
      }
    } catch (error) {
      if (!(error instanceof FaultyFile)) throw error;
      if (index === 0 && error.faults.some((fault) => fault.includes('anchor'))) return false;
      for (const fault of error.faults) sink.fault(fault);
    }
  }
  return true;
}

function giveWhole(file: string, document: Part, sink: ObjectSink): void {
  const begin = { line: document.first, column: 1, path: [] };
  for (const field of fieldsOf(file, document, [])) giveField(field, {}, sink, begin);
}

function fieldsOf(file: string, { lines, first }: Part, path: Place['path']): readonly Field[] {
  return readAllPositioned(file, lines.join('\n'), { line: first, column: 1, path });
}

/** Gives an object, or those of a list, of lists in it too. */
function giveField(field: Field, implied: object, sink: ObjectSink, place: Place): void {
  const { value } = field;
  const items = isObject(value) && 'items' in value ? value.items : null;
  if (!Array.isArray(items)) {
    const whole = isObject(value) && !('kind' in value) ? { ...implied, ...value } : value;
    sink.object({ value: whole, place, field: () => field });
    return;
  }
  const ofItems = impliedBy(value);
  for (const item of field.at(['items']).items()) {
    giveField(item, ofItems, sink, { ...place, line: item.line });
  }
}
