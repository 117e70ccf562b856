// Tables as kubectl prints them.
import { eastAsianWidth } from 'get-east-asian-width';
import { printable } from './printable.ts';
import type { Paint, Tone } from './style.ts';

/** Between two columns. */
const gap = 3;
/** The least width of a column, besides the space between columns: that of kubectl's. */
const widthMin = 3;

/** Gives the text of a cell its colour. */
type PaintCell = (text: string, row: number, column: number) => string;

/** A text made harmless, and how many columns of a terminal it takes. */
interface Cell {
  readonly text: string;
  readonly width: number;
}

/**
 * A table as kubectl prints one: three spaces between columns, no borders; `head` null: no heads.
 * Cells come from the cluster and are made harmless; `paint` colours them after that.
 */
export function renderTable(
  head: readonly string[] | null,
  rows: readonly (readonly string[])[],
  paint: PaintCell = (text) => text,
): string {
  const heads = head?.map((text): Cell => ({ text, width: widthOf(text) })) ?? null;
  const cells = rows.map((row) => row.map(cellOf));
  const widths = columnWidths(heads ? [heads, ...cells] : cells);
  const lines = cells.map((row, index) =>
    alignedLine(row, widths, (text, column) => paint(text, index, column)),
  );
  return (heads ? [alignedLine(heads, widths, (text) => text), ...lines] : lines).join('\n');
}

export interface TableOptions {
  readonly wide: boolean;
  /** False with --no-headers. */
  readonly headers: boolean;
}

/** A column: its head, what it says of a row, and whether it is shown only where there is room. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => string, when?: 'wide'];

/** Colours one column by what a row is. */
export interface Painted<Row> {
  readonly head: string;
  readonly tone: (row: Row) => Tone | null;
  readonly paint: Paint;
}

/** A table with a line for each row. */
export function renderColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { wide, headers }: TableOptions,
  painted: Painted<Row> | null = null,
): string {
  const shown = columns.filter(([, , when]) => wide || when !== 'wide');
  const heads = shown.map(([head]) => head);
  const cells = rows.map((row) => shown.map(([, cell]) => cell(row)));
  const toned = painted ? heads.indexOf(painted.head) : -1;
  return renderTable(headers ? heads : null, cells, (text, index, column) => {
    const row = column === toned ? rows[index] : undefined;
    const tone = painted && row !== undefined ? painted.tone(row) : null;
    return painted && tone ? painted.paint(tone, text) : text;
  });
}

/** Hardly anything is more than ASCII. */
function cellOf(text: string): Cell {
  if (isPlain(text)) return { text, width: text.length };
  const harmless = printable(text);
  return { text: harmless, width: widthOf(harmless) };
}

function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

function columnWidths(rows: readonly (readonly Cell[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (let column = 0; column < row.length; column++) {
      widths[column] = Math.max(widths[column] ?? widthMin, row[column]?.width ?? 0);
    }
  }
  return widths;
}

/** Spaces come after the colour, and none at the end of the line. */
function alignedLine(
  row: readonly Cell[],
  widths: readonly number[],
  paint: (text: string, column: number) => string,
): string {
  let line = '';
  let owed = 0;
  let column = 0;
  for (const { text, width } of row) {
    if (text !== '') {
      line += ' '.repeat(owed) + paint(text, column);
      owed = 0;
    }
    owed += (widths[column] ?? 0) - width + gap;
    column += 1;
  }
  return line;
}

/** Of no width of their own: accents, joiners, variation selectors. */
const attached = /[\p{Mark}\p{Format}]/gu;

/** How many columns of a terminal a text takes. */
export function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const character of text.replace(attached, '')) {
    width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}
