// Finds values by paths: -o jsonpath and -o custom-columns, as kubectl has them.

import { UsageError } from '@taintmgr/k8s-adapter/command-line';
import { JSONPath } from 'jsonpath-plus';
import { renderTable } from './table.ts';

/** A part of a template: text as it is, what a path finds, or a part for each thing it finds. */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'range'; readonly path: string; readonly parts: readonly Part[] };

/** Everything that a template such as `{.a.b}{"\n"}` prints of a document, as kubectl prints it. */
export function printJsonPath(template: string, document: object): string {
  return parse(template)
    .map((part) => print(part, document))
    .join('');
}

/** The values that the paths of a template find, in their order. */
export function findJsonPath(template: string, document: object): readonly unknown[] {
  return parse(template).flatMap((part) => (part.kind === 'text' ? [] : find(part.path, document)));
}

/** A path as people write it in columns: `.a.b`, `a.b`, `{.a.b}`; as a template. */
export function relaxedPath(text: string): string {
  const [, path] = /^\{?\.?([^{}]+)\}?$/.exec(text.trim()) ?? [];
  if (path === undefined) {
    throw new UsageError(
      `unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'`,
    );
  }
  return path.startsWith('[') ? `{${path}}` : `{.${path}}`;
}

/** A value in a line of text. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return '<none>';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function print(part: Part, current: unknown): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'path':
      return find(part.path, current).map(valueText).join(' ');
    case 'range':
      return find(part.path, current)
        .map((item) => part.parts.map((inner) => print(inner, item)).join(''))
        .join('');
  }
}

/** Every path begins where the range is: for kubectl `$` is no more than `@`. */
function find(path: string, json: unknown): readonly unknown[] {
  if (json === null || typeof json !== 'object') return path === '@' ? [json] : [];
  const rooted = `$${path.replace(/^[$@]/, '')}`;
  try {
    return JSONPath({ path: rooted, json, eval: 'safe', wrap: true }) ?? [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(`error executing jsonpath "{${path}}": ${error.message}`);
  }
}

function parse(template: string): readonly Part[] {
  const reader = { actions: actionsOf(template), at: 0 };
  const parts = parseParts(reader, template);
  if (reader.at < reader.actions.length) throw fault(template, 'not in range, nothing to end');
  return parts;
}

interface Reader {
  readonly actions: readonly Action[];
  at: number;
}

/** Text, or the part between braces. */
interface Action {
  readonly kind: 'text' | 'action';
  readonly text: string;
}

function parseParts(reader: Reader, template: string): readonly Part[] {
  const parts: Part[] = [];
  for (let action = reader.actions[reader.at]; action; action = reader.actions[reader.at]) {
    if (action.kind === 'action' && action.text === 'end') break;
    reader.at += 1;
    const { kind, text } = action;
    parts.push(kind === 'text' ? { kind, text } : parseAction(text, reader, template));
  }
  return parts;
}

function parseAction(text: string, reader: Reader, template: string): Part {
  const [, quote, literal] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  if (quote !== undefined && literal !== undefined) {
    return { kind: 'text', text: unescaped(literal) };
  }
  const [, range] = /^range\s+(.+)$/s.exec(text) ?? [];
  if (range === undefined) return { kind: 'path', path: pathOf(text, template) };
  const parts = parseParts(reader, template);
  if (reader.at >= reader.actions.length) throw fault(template, 'unclosed action, want {end}');
  reader.at += 1;
  return { kind: 'range', path: pathOf(range, template), parts };
}

/** Cuts a template at its braces; those within quotes and filters are text. */
function actionsOf(template: string): readonly Action[] {
  const actions: Action[] = [];
  const pattern = /\{((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^{}"'])*)\}|([^{]+)|(\{)/gs;
  for (const [, action, text, open] of template.matchAll(pattern)) {
    if (open !== undefined) throw fault(template, 'unclosed action');
    if (action !== undefined) actions.push({ kind: 'action', text: action.trim() });
    else actions.push({ kind: 'text', text: text ?? '' });
  }
  return actions;
}

const simplePath = /^[$@]?(?:\.\.?(?:\*|(?:\\.|[\w/-])+)|\[[^\]]+\](?:\)\])?)*$/;

/** A path of kubectl's dialect in that of the library: escaped dots, indices from the end. */
function pathOf(text: string, template: string): string {
  const path = /^[$@.[]/.test(text) ? text : `.${text}`;
  if (!simplePath.test(path.replace(/\[\?\(.*?\)\]/g, '[0]'))) {
    throw fault(template, `unrecognized character in action: ${JSON.stringify(text)}`);
  }
  return path
    .replace(/\.((?:[\w/-]|\\.)*\\.(?:[\w/-]|\\.)*)/g, (_, name: string) => {
      return `['${name.replace(/\\(.)/g, '$1')}']`;
    })
    .replace(/\['[^']*'(?:,'[^']*')+\]/g, (union) => union.replaceAll("'", ''))
    .replace(/\[-(\d+)\]/g, (_, count: string) => {
      return count === '1' ? '[-1:]' : `[-${count}:-${Number(count) - 1}]`;
    });
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character);
}

function fault(template: string, what: string): UsageError {
  return new UsageError(`error parsing jsonpath ${template}, ${what}`);
}

interface Column {
  readonly head: string;
  readonly template: string;
}

/** A line for each row, of the columns that `NAME:.path,OTHER:.path` asks for. */
export function printCustomColumns(
  spec: string,
  rows: readonly object[],
  hasHead: boolean,
): string {
  const columns = spec.split(',').map(columnOf);
  const lines = rows.map((row) => {
    return columns.map(({ template }) => {
      const found = findJsonPath(template, row);
      return found.length === 0 ? '<none>' : found.map(valueText).join(',');
    });
  });
  return renderTable(hasHead ? columns.map(({ head }) => head) : null, lines);
}

function columnOf(text: string): Column {
  const separator = text.indexOf(':');
  if (separator < 0) {
    throw new UsageError(
      `unexpected custom-columns spec: ${text}, expected <header>:<json-path-expr>`,
    );
  }
  return { head: text.slice(0, separator), template: relaxedPath(text.slice(separator + 1)) };
}
