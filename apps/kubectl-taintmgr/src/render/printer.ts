// Reads the value of -o, and prints the answer of a command in that format.
import { jsonText, onTerminal, printable, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { broken } from './lines.ts';
import type { Paint } from './style.ts';
import type { TableOptions } from './table.ts';

/**
 * Prints the answer of a command in every format. Expensive parts are getters: only the printed part is made.
 */
export interface Answer {
  /** For json, yaml and jsonpath. */
  readonly document: object;
  /** For custom-columns: one line each. */
  readonly rows: readonly object[];
  /** For name, as `pod/web-0`. */
  readonly names: readonly string[];
  readonly table: (options: TableOptions) => string;
}

/** The terminal that shows an answer. */
interface Screen {
  readonly widthOut: number | null;
  readonly paintOut: Paint;
}

/** The answer as text, exactly as it is written. Throws UsageError for a wrong template. */
export async function printAnswer(
  answer: Answer,
  format: Format,
  headers: boolean,
  { widthOut, paintOut }: Screen,
): Promise<string> {
  switch (format.kind) {
    case 'table':
      return asLines(
        broken(
          onTerminal(
            answer.table({ wide: format.wide, headers, width: widthOut, paint: paintOut }),
          ),
          widthOut,
        ),
      );
    case 'json':
      return asLines(jsonText(answer.document, 4));
    case 'yaml': {
      const { yamlOf } = await import('./yaml.ts');
      return yamlOf(answer.document);
    }
    case 'name':
      return asLines(answer.names.map(printable).join('\n'));
    case 'custom-columns': {
      const { printCustomColumns } = await import('./json-path.ts');
      return asLines(printCustomColumns(format.spec, answer.rows, headers));
    }
    case 'jsonpath': {
      const { printJsonPath } = await import('./json-path.ts');
      return printJsonPath(format.template, answer.document);
    }
    case 'jsonpath-as-json': {
      const { findJsonPath } = await import('./json-path.ts');
      return asLines(jsonText(findJsonPath(format.template, answer.document), 4));
    }
  }
}

function asLines(text: string): string {
  return text === '' ? '' : `${text}\n`;
}

/** The value of `-o`: the format of an answer. */
export type Format =
  | { readonly kind: 'table'; readonly wide: boolean }
  | { readonly kind: 'json' | 'yaml' | 'name' }
  | { readonly kind: 'jsonpath' | 'jsonpath-as-json'; readonly template: string }
  | { readonly kind: 'custom-columns'; readonly spec: string };

/** The values of -o; nothing means a table. */
export const formatNames: readonly string[] = [
  'custom-columns',
  'custom-columns-file',
  'json',
  'jsonpath',
  'jsonpath-as-json',
  'jsonpath-file',
  'name',
  'table',
  'wide',
  'yaml',
];

/**
 * Reads the value of -o, and the file that it names, if so. Throws UsageError in kubectl's words.
 */
export async function readFormat(text: string = ''): Promise<Format> {
  const [, name = text, value = ''] = /^([^=]*)=([\s\S]*)$/.exec(text) ?? [];
  if (value !== '') {
    switch (name) {
      case 'jsonpath':
      case 'jsonpath-as-json':
        return { kind: name, template: value };
      case 'jsonpath-file':
        return { kind: 'jsonpath', template: await templateFrom(value) };
      case 'custom-columns':
        return { kind: name, spec: value };
      case 'custom-columns-file':
        return { kind: 'custom-columns', spec: columnsOfFile(await templateFrom(value)) };
    }
  }
  switch (text) {
    case '':
    case 'table':
    case 'wide':
      return { kind: 'table', wide: text === 'wide' };
    case 'json':
    case 'yaml':
    case 'name':
      return { kind: text };
    default:
      throw new UsageError(fault(text, name));
  }
}

function fault(text: string, name: string): string {
  if (name.startsWith('custom-columns')) {
    return `${name} format specified but no custom columns given`;
  }
  if (name.startsWith('jsonpath')) return 'template format specified but no template given';
  const allowed = formatNames.join(',');
  return `unable to match a printer suitable for the output format "${text}", allowed formats are: ${allowed}`;
}

async function templateFrom(file: string): Promise<string> {
  // Node takes a while to load it, and help reads no file.
  const { readFile } = await import('node:fs/promises');
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const why = code === 'ENOENT' ? 'no such file' : code;
    throw new UsageError(`error reading template ${file}, ${why}`);
  }
}

/** Two lines, the heads and the paths, become `HEAD:path,HEAD:path`. */
function columnsOfFile(text: string): string {
  const [heads = [], paths = []] = text.split('\n').map((line) => line.trim().split(/\s+/));
  if (heads.length !== paths.length) {
    throw new UsageError(
      `number of headers (${heads.length}) and field specifications (${paths.length}) do not match`,
    );
  }
  return heads.map((head, index) => `${head}:${paths[index]}`).join(',');
}
