// Tables as kubectl prints them.

import { stripVTControlCharacters } from 'node:util';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import { eastAsianWidth } from 'get-east-asian-width';
import { type Paint, plain, type Tone } from './style.ts';

/** Between two columns. */
const gap = 3;
/** Between two columns of a table that is too wide for the terminal. */
const narrowGap = 2;
/** The least width of a column, besides the space between columns: that of kubectl's. */
const widthMin = 3;
/** Cells that say nothing: they are left out below a row. */
const silent: ReadonlySet<string> = new Set(['', '-', '<none>']);

/** Gives the text of a cell its colour. */
type PaintCell = (text: string, row: number, column: number) => string;

/** Texts made harmless, and how many columns of a terminal each takes; null: as many as it is long. */
interface Row {
  readonly texts: readonly string[];
  readonly widths: readonly number[] | null;
}

/** Makes a table fit. */
interface Fitting {
  /** Columns of the terminal; null: lines may be of any length, as in a pipe. */
  readonly width?: number | null;
  readonly paint?: PaintCell | null;
  /** Paints what stands below a row. */
  readonly dim?: (text: string) => string;
  /** Columns that go below their row first where the table is too wide, and what comes before their text there. */
  readonly below?: ReadonlyMap<number, string>;
}

/**
 * A table as kubectl prints one: three spaces between columns, no borders; `head` null: no heads.
 * Cells come from the cluster and are made harmless; `paint` colours them after that. Where the table
 * is wider than the terminal, columns go below their rows, broken between words; what is the same for
 * several rows in succession stands once, below the last of them.
 */
export function renderTable(
  head: readonly string[] | null,
  rows: readonly (readonly string[])[],
  { width = null, paint = null, dim = (text) => text, below = new Map() }: Fitting = {},
): string {
  const heads = head && { texts: head, widths: head.map(widthOf) };
  const shown = rows.map(rowOf);
  const widths = columnWidths(heads ? [heads, ...shown] : shown);
  const isFolded = foldedColumns(widths, below, width);
  const space = lineWidth(widths, gap) > (width ?? Number.POSITIVE_INFINITY) ? narrowGap : gap;
  const line = (row: Row, painted: PaintCell | null, index: number): string =>
    alignedLine(row, widths, { paint: painted, index, isFolded, space });
  const lines = shown.map((row, index) => line(row, paint, index));
  if (isFolded.size > 0 && width !== null) {
    const labels = [...isFolded]
      .sort((a, b) => a - b)
      .map((column) => {
        return [column, below.get(column) ?? head?.[column]?.toLowerCase() ?? ''] as const;
      });
    withTextsBelow(
      lines,
      shown.map((row) => textBelow(row, labels)),
      width,
      dim,
    );
  }
  return (heads ? [line(heads, null, 0), ...lines] : lines).join('\n');
}

/** The columns that go below their rows: those that are meant to, the last first, then others. */
function foldedColumns(
  widths: readonly number[],
  below: ReadonlyMap<number, string>,
  width: number | null,
): ReadonlySet<number> {
  const folded = new Set<number>();
  if (width === null) return folded;
  const columns = widths.map((_, column) => column).reverse();
  const order = [...columns.filter((column) => below.has(column)), ...columns];
  for (const column of order) {
    const left = widths.filter((_, index) => !folded.has(index));
    if (left.length === 1 || lineWidth(left, narrowGap) <= width) break;
    if (column > 0) folded.add(column);
  }
  return folded;
}

function lineWidth(widths: readonly number[], space: number): number {
  return sum(widths) + space * (widths.length - 1);
}

/** `because no toleration for a=b:NoExecute; blocked by PDB web` */
function textBelow(
  { texts }: Row,
  labels: readonly (readonly [column: number, label: string])[],
): string {
  return labels
    .filter(([column]) => !silent.has(texts[column] ?? ''))
    .map(([column, label]) => `${label} ${texts[column]}`.trimStart())
    .join('; ');
}

/** Puts texts below the rows that they are for; equal ones in succession once. */
function withTextsBelow(
  lines: string[],
  texts: readonly string[],
  width: number,
  dim: (text: string) => string,
): void {
  let rows = 0;
  for (const [index, text] of texts.entries()) {
    rows++;
    if (text === texts[index + 1]) continue;
    const whose = rows > 1 ? `these ${rows}: ` : '';
    rows = 0;
    if (text === '') continue;
    const block = wrapped(`    ${whose}${text}`, '      ', width);
    lines[index] += `\n${block.split('\n').map(dim).join('\n')}`;
  }
}

export interface TableOptions {
  readonly wide: boolean;
  /** False with --no-headers. */
  readonly headers: boolean;
  /** Columns of the terminal that shows the table; null: there is none, and lines may be of any length. */
  readonly width: number | null;
  readonly paint: Paint;
}

/** Of a column, besides its head and its cells. */
export interface ColumnRules<Row> {
  /** Shown only with -o wide. */
  readonly when?: 'wide';
  /** The colour of a cell; null: none. */
  readonly tone?: (row: Row) => Tone | null;
  /**
   * Goes below its row first where the terminal is too narrow, after this word: `because`. Columns
   * without a word follow, the last first, after their heads.
   */
  readonly below?: string;
}

/** A column: its head, what it says of a row, and whether it is shown only where there is room. */
export type Column<Row> = readonly [
  head: string,
  cell: (row: Row) => string,
  rules?: 'wide' | ColumnRules<Row>,
];

/** A table with a line for each row. */
export function renderColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { wide, headers, width, paint }: TableOptions,
): string {
  const shown = columns.filter(([, , rules]) => wide || rulesOf(rules).when !== 'wide');
  const heads = shown.map(([head]) => head);
  const cells = rows.map((row) => shown.map(([, cell]) => cell(row)));
  const below = shown.flatMap(([, , rules], column) => {
    const word = rulesOf(rules).below;
    return word === undefined ? [] : [[column, word] as const];
  });
  return renderTable(headers ? heads : null, cells, {
    width,
    paint: paint === plain ? null : painterOf(shown, rows, paint),
    dim: (line) => paint('quiet', line),
    below: new Map(below),
  });
}

function rulesOf<Row>(rules: 'wide' | ColumnRules<Row> | undefined): ColumnRules<Row> {
  return rules === 'wide' ? { when: 'wide' } : (rules ?? {});
}

function painterOf<R>(columns: readonly Column<R>[], rows: readonly R[], paint: Paint): PaintCell {
  const tones = columns.map(([, , rules]) => rulesOf(rules).tone);
  return (text, index, column) => {
    const row = rows[index];
    const tone = row === undefined ? null : (tones[column]?.(row) ?? null);
    return tone === null ? text : paint(tone, text);
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
  {
    paint,
    index,
    isFolded,
    space,
  }: {
    readonly paint: PaintCell | null;
    readonly index: number;
    readonly isFolded: ReadonlySet<number>;
    readonly space: number;
  },
): string {
  let line = '';
  let owed = 0;
  for (let column = 0; column < texts.length; column++) {
    if (isFolded.has(column)) continue;
    const text = texts[column] ?? '';
    if (text !== '') {
      line += ' '.repeat(owed) + (paint ? paint(text, index, column) : text);
      owed = 0;
    }
    owed += (columns[column] ?? 0) - (widths?.[column] ?? text.length) + space;
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
    if (isFirst || widthOf(longer) <= width) {
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

/** The values stand below each other; those that are too long for the terminal are broken between words. */
export function renderFields(
  fields: readonly Field[],
  width: number | null = null,
): readonly string[] {
  const widest = Math.max(...fields.map(([name]) => name.length)) + 1;
  return fields.flatMap(([name, value]) => {
    const label = name === '' ? '' : `${name}:`;
    const line = `${label.padEnd(widest)}   ${printable(value)}`.trimEnd();
    if (width === null || widthOf(line) <= width) return [line];
    const indent = ' '.repeat(widest + 3);
    const text = wrapped(`${indent}${printable(value)}`, indent, width);
    return `${label.padEnd(widest)}   ${text.slice(indent.length)}`.split('\n');
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
