// `-o custom-columns`, as kubectl has it.
import { UsageError } from '../usage-error.ts';
import { findJsonPath, relaxedPath, valueText } from './json-path.ts';
import { renderTable } from './table.ts';

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
