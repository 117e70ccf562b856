// Prints the answer of a command in the format that is asked for.
import type { Format } from './format.ts';
import { jsonText, onTerminal } from './printable.ts';
import type { TableOptions } from './table.ts';

/**
 * Prints the answer of a command in every format. What takes long to make is a getter: only what is
 * printed is made.
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

/** The answer as text, exactly as it is to be written. Throws UsageError for a wrong template. */
export async function printAnswer(
  answer: Answer,
  format: Format,
  headers: boolean,
): Promise<string> {
  switch (format.kind) {
    case 'table':
      return asLines(onTerminal(answer.table({ wide: format.wide, headers })));
    case 'json':
      return asLines(jsonText(answer.document, 4));
    case 'yaml': {
      const { yamlOf } = await import('./yaml.ts');
      return yamlOf(answer.document);
    }
    case 'name':
      return asLines(answer.names.join('\n'));
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
