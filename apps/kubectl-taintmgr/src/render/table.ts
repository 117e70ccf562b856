// Tables as kubectl prints them.
import { eastAsianWidth } from 'get-east-asian-width';
import { printable } from './printable.ts';

/** Between two columns. */
const gap = 3;
/** The least width of a column, besides the space between columns: that of kubectl's. */
const widthMin = 3;

/** Gives the text of a cell its colour. */
export type PaintCell = (text: string, row: number, column: number) => string;

/**
 * A table as kubectl prints one: three spaces between columns, no borders; `head` null: no heads.
 * Cells come from the cluster and are made harmless; `paint` colours them after that.
 */
export function renderTable(
  head: readonly string[] | null,
  rows: readonly (readonly string[])[],
  paint: PaintCell = (text) => text,
): string {
  const cells = rows.map((row) => row.map(printable));
  const widths = columnWidths(head ? [head, ...cells] : cells);
  const lines = cells.map((row, index) =>
    alignedLine(row, widths, (text, column) => paint(text, index, column)),
  );
  return (head ? [alignedLine(head, widths, (text) => text), ...lines] : lines).join('\n');
}

function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, text] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? widthMin, widthOf(text));
    }
  }
  return widths;
}

/** Spaces come after the colour, and none at the end of the line. */
function alignedLine(
  row: readonly string[],
  widths: readonly number[],
  paint: (text: string, column: number) => string,
): string {
  let line = '';
  let owed = 0;
  for (const [column, text] of row.entries()) {
    if (text !== '') {
      line += ' '.repeat(owed) + paint(text, column);
      owed = 0;
    }
    owed += (widths[column] ?? 0) - widthOf(text) + gap;
  }
  return line;
}

/** Of no width of their own: accents, joiners, variation selectors. */
const attached = /[\p{Mark}\p{Format}]/gu;

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  // Hardly anything here is more than ASCII.
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text.replace(attached, '')) {
    width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}
