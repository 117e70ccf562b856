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
    case 'yaml': {
      const { yamlOf } = await import('./yaml.ts');
      return yamlOf(document);
    }
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

function asLines(text: string): string {
  return text === '' ? '' : `${text}\n`;
}
