// Tables as kubectl prints them.

import { stripVTControlCharacters } from 'node:util';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import { eastAsianWidth } from 'get-east-asian-width';
import { type Paint, plain, type Tone } from './style.ts';

/** Between two columns. */
const gap = 3;
/** The least width of a column, besides the space between columns: that of kubectl's. */
const widthMin = 3;

/** Gives the text of a cell its colour. */
type PaintCell = (text: string, row: number, column: number) => string;

/** Texts made harmless, and how many columns of a terminal each takes; null: as many as it is long. */
interface Row {
  readonly texts: readonly string[];
  readonly widths: readonly number[] | null;
}

/**
 * A table as kubectl prints one: three spaces between columns, no borders; `head` null: no heads.
 * Cells come from the cluster and are made harmless; `paint` colours them after that.
 */
export function renderTable(
  head: readonly string[] | null,
  rows: readonly (readonly string[])[],
  paint: PaintCell | null = null,
): string {
  const heads = head && { texts: head, widths: head.map(widthOf) };
  const shown = rows.map(rowOf);
  const widths = columnWidths(heads ? [heads, ...shown] : shown);
  const lines = shown.map((row, index) => alignedLine(row, widths, paint, index));
  return (heads ? [alignedLine(heads, widths, null, 0), ...lines] : lines).join('\n');
}

export interface TableOptions {
  readonly wide: boolean;
  /** False with --no-headers. */
  readonly headers: boolean;
}

/** A column: its head, what it says of a row, and whether it is shown only where there is room. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => string, when?: 'wide'];

/** Colours one column by what a row is. */
interface Painted<Row> {
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
  return renderTable(headers ? heads : null, cells, painted && painterOf(painted, heads, rows));
}

/** Null: there are no colours. */
function painterOf<R>(
  { head, tone, paint }: Painted<R>,
  heads: readonly string[],
  rows: readonly R[],
): PaintCell | null {
  if (paint === plain) return null;
  const toned = heads.indexOf(head);
  return (text, index, column) => {
    const row = column === toned ? rows[index] : undefined;
    const found = row === undefined ? null : tone(row);
    return found === null ? text : paint(found, text);
  };
}

/** Hardly anything is more than ASCII: a row is looked at as a whole first. */
function rowOf(texts: readonly string[]): Row {
  if (isPlain(texts.join(''))) return { texts, widths: null };
  const harmless = texts.map((text) => (isPlain(text) ? text : printable(text)));
  return { texts: harmless, widths: harmless.map(widthOf) };
}

function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

function columnWidths(rows: readonly Row[]): readonly number[] {
  const most: number[] = [];
  for (const { texts, widths } of rows) {
    for (let column = 0; column < texts.length; column++) {
      const width = widths?.[column] ?? texts[column]?.length ?? 0;
      if (width > (most[column] ?? 0)) most[column] = Math.max(width, widthMin);
      else most[column] ??= widthMin;
    }
  }
  return most;
}

/** Spaces come after the colour, and none at the end of the line. */
function alignedLine(
  { texts, widths }: Row,
  columns: readonly number[],
  paint: PaintCell | null,
  index: number,
): string {
  let line = '';
  let owed = 0;
  for (let column = 0; column < texts.length; column++) {
    const text = texts[column] ?? '';
    if (text !== '') {
      line += ' '.repeat(owed) + (paint ? paint(text, index, column) : text);
      owed = 0;
    }
    owed += (columns[column] ?? 0) - (widths?.[column] ?? text.length) + gap;
  }
  return line;
}

/** Of no width of their own: accents, joiners, variation selectors. */
const attached = /[\p{Mark}\p{Format}]/gu;

/** How many columns of a terminal a text takes. */
function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const character of text.replace(attached, '')) {
    width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}

/** Nobody's terminal is narrower than what most have set up. */
const lineWidthMax = 100;

/**
 * A line, made harmless, and broken between words where it is too long; what follows is set in by `indent`.
 * A word that is too long stays whole.
 */
export function wrapped(line: string, indent: string, width: number = lineWidthMax): string {
  const [, start = '', rest = ''] = /^( *)(.*)$/.exec(printable(line)) ?? [];
  const lines: string[] = [];
  let current = start;
  for (const word of rest.split(' ')) {
    const isFirst = current === start || current === indent;
    const longer = isFirst ? `${current}${word}` : `${current} ${word}`;
    if (isFirst || longer.length <= width) {
      current = longer;
    } else {
      lines.push(current);
      current = `${indent}${word}`;
    }
  }
  return [...lines, current].join('\n');
}

/** A name and its value; a line without a name goes on with the one before. */
export type Field = readonly [name: string, value: string];

/** The values stand below each other. */
export function renderFields(fields: readonly Field[]): readonly string[] {
  const width = Math.max(...fields.map(([name]) => name.length)) + 1;
  return fields.map(([name, value]) => {
    const label = name === '' ? '' : `${name}:`;
    return `${label.padEnd(width)}   ${printable(value)}`.trimEnd();
  });
}

/** How large a terminal is, in characters. */
interface ScreenSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The top of a text, as far as a screen has room for it, and how much more there is:
 * `... 18 more`. What a table says first counts most: its heads and the rows that come next.
 */
export function screenful(text: string, { rows, columns }: ScreenSize): string {
  // The cursor stands on the line below.
  const room = Math.max(1, rows - 1);
  const lines = text.split('\n');
  const heights = lines.map((line) => heightOf(line, columns));
  if (sum(heights) <= room) return text;
  let shown = 0;
  let taken = 1;
  while (taken + (heights[shown] ?? 0) <= room) taken += heights[shown++] ?? 0;
  const more = lines.slice(shown).filter((line) => line !== '').length;
  return [...lines.slice(0, shown), `... ${more} more`].join('\n');
}

/** The terminal breaks a line that is too long for it. */
function heightOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / columns));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
