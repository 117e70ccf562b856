import Table from 'cli-table3';
import { printable } from './printable.ts';

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '   ',
};

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
  if (rows.length === 0 && head === null) return '';
  const table = new Table({
    chars: noBorders,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  if (head) table.push(head.map(widened));
  for (const [row, cells] of rows.entries()) {
    table.push(cells.map((cell, column) => paint(widened(printable(cell)), row, column)));
  }
  return table.toString().replace(/ +$/gm, '');
}

/** Characters that are not ASCII may be two wide: they are wide enough. */
function widened(text: string): string {
  return /^[ -~]*$/.test(text) ? text.padEnd(widthMin) : text;
}
