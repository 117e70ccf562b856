import type { Format } from './format.ts';

/** The answer of a command, which can be printed in every format. */
export interface Answer {
  /** For json, yaml and jsonpath. */
  readonly document: object;
  /** For custom-columns: one line each. */
  readonly rows: readonly object[];
  /** For name, as `pod/web-0`. */
  readonly names: readonly string[];
  readonly table: (options: TableOptions) => string;
}

export interface TableOptions {
  readonly wide: boolean;
  /** False with --no-headers. */
  readonly headers: boolean;
}

/** The answer as text, exactly as it is to be written. Throws UsageError for a wrong template. */
export async function printAnswer(
  answer: Answer,
  format: Format,
  headers: boolean,
): Promise<string> {
  const { document, rows, names } = answer;
  switch (format.kind) {
    case 'table':
      return asLines(answer.table({ wide: format.wide, headers }));
    case 'json':
      return asLines(JSON.stringify(document, null, 4));
    case 'yaml':
      return await yamlOf(document);
    case 'name':
      return asLines(names.join('\n'));
    case 'custom-columns': {
      const { printCustomColumns } = await import('./custom-columns.ts');
      return asLines(printCustomColumns(format.spec, rows, headers));
    }
    case 'jsonpath': {
      const { printJsonPath } = await import('./json-path.ts');
      return printJsonPath(format.template, document);
    }
    case 'jsonpath-as-json': {
      const { findJsonPath } = await import('./json-path.ts');
      return asLines(JSON.stringify(findJsonPath(format.template, document), null, 4));
    }
  }
}

/** YAML 1.1 is what other programs read: what is a time or a truth there stands in quotes. */
const yamlOptions = {
  version: '1.1',
  indentSeq: false,
  lineWidth: 0,
  aliasDuplicateObjects: false,
} as const;

/** As kubectl writes it: lists are not indented, long lines are not folded. */
async function yamlOf(document: object): Promise<string> {
  const { stringify } = await import('yaml');
  // Through JSON, so that what is undefined there is left out here as well.
  const plain: unknown = JSON.parse(JSON.stringify(document));
  return stringify(plain, yamlOptions);
}

function asLines(text: string): string {
  return text === '' ? '' : `${text}\n`;
}
