// Tables as kubectl prints them.

import { stripVTControlCharacters } from 'node:util';
import { printable } from '@taintmgr/k8s-adapter/command-line';
import { eastAsianWidth } from 'get-east-asian-width';
import { brokenBetweenWords } from './lines.ts';
import { type Paint, plain, type Tone } from './style.ts';

/** Between two columns. */
const gap = 3;
/** Between two columns of a table that is too wide for the terminal. */
const narrowGap = 2;
/** The least width of a column, besides the space between columns: that of kubectl's. */
const widthMin = 3;
/** Columns up to this width stay in their row. */
const shortMax = 18;
/** The least room for a text in the last column, and where columns may stand below their rows instead. */
const lastMin = 20;
const lastMinOfBelow = 40;
/** Cells that say nothing: a narrow terminal does without. */
const silent: ReadonlySet<string> = new Set(['', '-', '<none>', '0']);

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
  /** Paints the lines below a row. */
  readonly dim?: (text: string) => string;
  /** Columns that go below their row first where the table is too wide, and the text before them there. */
  readonly below?: ReadonlyMap<number, string>;
  /** The first columns that name what a row is about, as NAMESPACE and POD do. */
  readonly titles?: number;
}

/**
 * A table as kubectl prints one: three spaces between columns, no borders; `head` null: no heads. Cells come
 * from the cluster and are made harmless; `paint` colours them after that. A table that is wider than the
 * terminal leaves out columns silently, puts reasons below their rows (equal ones in succession once), breaks
 * the last column between words, and puts long names in separate lines.
 */
export function renderTable(
  head: readonly string[] | null,
  rows: readonly (readonly string[])[],
  { width = null, paint = null, dim = (text) => text, below = new Map(), titles = 1 }: Fitting = {},
): string {
  const heads = head && { texts: head, widths: head.map(widthOf) };
  const shown = rows.map(rowOf);
  const layout = layoutOf(heads, shown, { width, below, titles });
  const lines = shown.map((row, index) => {
    const painted = (text: string, column: number) => (paint ? paint(text, index, column) : text);
    return linesOf(row, layout, painted).join('\n');
  });
  const labels = layout.folded.map((column) => {
    return [column, below.get(column) ?? head?.[column]?.toLowerCase() ?? ''] as const;
  });
  if (width !== null && labels.length > 0) {
    const texts = shown.map((row) => textBelow(row, labels));
    withTextsBelow(lines, texts, width, dim);
  }
  return (heads ? [...linesOf(heads, layout, (text) => text), ...lines] : lines).join('\n');
}

/** The places of a row's cells. */
interface Layout {
  /** Columns in lines of their own above the row; none where there is room for them in it. */
  readonly above: readonly number[];
  /** The first columns, which stand above a row that has longer names than there is room for. */
  readonly hanging: number;
  /** Columns of the row. */
  readonly row: readonly number[];
  /** Columns below the row. */
  readonly folded: readonly number[];
  readonly widths: readonly number[];
  readonly space: number;
  /** The widths of the row's last column and of the terminal. */
  readonly lastMax: number;
  readonly width: number;
}

function layoutOf(
  heads: Row | null,
  rows: readonly Row[],
  { width, below, titles }: Required<Pick<Fitting, 'width' | 'below' | 'titles'>>,
): Layout {
  const widths = columnWidths(heads ? [heads, ...rows] : rows);
  const all = widths.map((_, column) => column);
  const unbounded = Number.POSITIVE_INFINITY;
  const whole = { above: [], folded: [], hanging: 0, widths, width: unbounded, lastMax: unbounded };
  if (width === null || lineWidth(widths, gap) <= width) return { ...whole, row: all, space: gap };
  const words = all.map((column) => longestWord(rows, column));
  const speaking = all.filter((column) => {
    return column < titles || rows.some(({ texts }) => !silent.has(texts[column] ?? ''));
  });
  const isTitle = (column: number): boolean => column < titles;
  const flagged = speaking.filter((column) => below.has(column)).reverse();
  const others = speaking.filter((column) => !isTitle(column) && !below.has(column)).reverse();
  const long = longestFirst(others, widths);
  const short = others.filter((column) => !long.includes(column));
  const room = width - sum(short.map((column) => (widths[column] ?? 0) + narrowGap));
  const base = { width, space: narrowGap, above: [] };
  for (const most of [Number.POSITIVE_INFINITY, width / 2, room]) {
    const named = rows.filter((row) => titleWidth(row, titles) <= most);
    if (named.length === 0) continue;
    const kept = columnWidths(heads ? [heads, ...named] : named);
    const ofRow = widths.map((one, column) => (isTitle(column) ? (kept[column] ?? one) : one));
    const isWide = lineWidth(ofRow.slice(0, titles), narrowGap) > width / 2;
    const order = isWide && named.length === rows.length ? flagged : [...flagged, ...long];
    const inRow = fitted(speaking, order, { widths: ofRow, words, below, width });
    if (inRow) return { ...base, ...inRow, widths: ofRow, hanging: titles };
  }
  const rest = speaking.filter((column) => !isTitle(column));
  const stacked = fitted(rest, [...flagged, ...long, ...short], {
    ...{ widths, words, below },
    width: width - indentOfStacked.length,
  }) ?? { row: [], folded: rest, lastMax: 0 };
  return { ...base, ...stacked, widths, above: speaking.filter(isTitle), hanging: 0 };
}

/** Long columns in the order in which they go below their rows: the last one last, as it may be broken. */
function longestFirst(columns: readonly number[], widths: readonly number[]): readonly number[] {
  const [last] = columns;
  const widthOfColumn = (column: number): number => widths[column] ?? 0;
  return columns
    .filter((column) => widthOfColumn(column) > shortMax)
    .sort((a, b) => {
      if (a === last || b === last) return a === last ? 1 : -1;
      return widthOfColumn(b) - widthOfColumn(a);
    });
}

function titleWidth(row: Row, titles: number): number {
  const widths = row.texts.slice(0, titles).map((_, column) => widthIn(row, column));
  return lineWidth(widths, narrowGap);
}

/** The columns of a row that fits, once columns went below it in this order; null: it never does. */
function fitted(
  columns: readonly number[],
  order: readonly number[],
  {
    widths,
    words,
    below,
    width,
  }: Required<Pick<Fitting, 'below'>> &
    Pick<Layout, 'widths' | 'width'> & { readonly words: readonly number[] },
): Pick<Layout, 'row' | 'folded' | 'lastMax'> | null {
  const folded = new Set<number>();
  for (const next of [null, ...order]) {
    if (next !== null) folded.add(next);
    const row = columns.filter((column) => !folded.has(column));
    const last = row.at(-1);
    if (last === undefined) return null;
    const before = row.slice(0, -1).map((column) => widths[column] ?? 0);
    const room = width - sum(before) - narrowGap * before.length;
    const mayStand = order.some((column) => below.has(column) && !folded.has(column));
    const least = Math.max(mayStand ? lastMinOfBelow : lastMin, words[last] ?? 0);
    const mayBreak = row.length > 1 && room >= least;
    if ((widths[last] ?? 0) <= room || mayBreak) {
      return { row, folded: columns.filter((column) => folded.has(column)), lastMax: room };
    }
  }
  return null;
}

function longestWord(rows: readonly Row[], column: number): number {
  let longest = 0;
  for (const { texts } of rows) {
    for (const word of (texts[column] ?? '').split(' ')) longest = Math.max(longest, widthOf(word));
  }
  return longest;
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
interface ColumnRules<Row> {
  /** Shown only with -o wide. */
  readonly when?: 'wide';
  /** The colour of a cell; null: none. */
  readonly tone?: (row: Row) => Tone | null;
  /**
   * Goes below its row first where the terminal is too narrow, after this word: `because`. Long columns
   * without a word follow, the longest first, after their heads.
   */
  readonly below?: string;
  /** Names, with the columns before it, what a row is about; left out: the first column does. */
  readonly title?: true;
}

/** A column: its head, its text for a row, and if it is shown only where there is room. */
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
  const lastTitle = shown.findLastIndex(([, , rules]) => rulesOf(rules).title === true);
  return renderTable(headers ? heads : null, cells, {
    width,
    paint: paint === plain ? null : painterOf(shown, rows, paint),
    dim: (line) => paint('quiet', line),
    below: new Map(below),
    titles: Math.max(0, lastTitle) + 1,
  });
}

function rulesOf<Row>(rules: 'wide' | ColumnRules<Row> | undefined): ColumnRules<Row> {
  return rules === 'wide' ? { when: 'wide' } : (rules ?? {});
}

function painterOf<R>(columns: readonly Column<R>[], rows: readonly R[], paint: Paint): PaintCell {
  const tones = columns.map(([, , rules]) => rulesOf(rules).tone);
  return (text, index, column) => {
    const row = rows[index];
    if (silent.has(text)) return paint('quiet', text);
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

type PaintOfRow = (text: string, column: number) => string;

/** The indent below a line of names. */
const indentOfStacked = '  ';

/** The lines of a row: its names where they stand above, and its cells, of which the last may be broken. */
function linesOf(row: Row, layout: Layout, paint: PaintOfRow): readonly string[] {
  const { lastMax, hanging } = layout;
  const names = layout.row.filter((column) => column < hanging);
  const hangs = names.some((column) => widthIn(row, column) > (layout.widths[column] ?? 0));
  const cells = hangs ? withoutFirst(row, hanging) : row;
  const last = layout.row.at(-1) ?? 0;
  const text = cells.texts[last] ?? '';
  const fits = widthIn(cells, last) <= lastMax;
  const [first = '', ...more] = fits ? [text] : wrapped(text, '', lastMax).split('\n');
  const indent = layout.above.length === 0 ? '' : indentOfStacked;
  const line = `${indent}${alignedLine(cells, layout, first, paint)}`;
  const before = layout.row.slice(0, -1).map((column) => layout.widths[column] ?? 0);
  const start = ' '.repeat(indent.length + sum(before) + layout.space * before.length);
  return [
    ...titleLines(row, hangs ? { ...layout, above: names } : layout, paint),
    ...(line.trim() === '' && layout.row.length <= hanging ? [] : [line]),
    ...more.map((part) => `${start}${paint(part, last)}`),
  ];
}

function withoutFirst({ texts, widths }: Row, count: number): Row {
  return {
    texts: texts.map((text, column) => (column < count ? '' : text)),
    widths: widths?.map((width, column) => (column < count ? 0 : width)) ?? null,
  };
}

/** `shop/web-0`, in one line where there is room. */
function titleLines(row: Row, { above, width }: Layout, paint: PaintOfRow): readonly string[] {
  const names = above.map((column) => paint(row.texts[column] ?? '', column));
  const length = sum(above.map((column) => widthIn(row, column) + 1)) - 1;
  const [name, ...more] = names.reverse();
  if (name === undefined) return [];
  const before = more.reverse().map((one) => `${one}/`);
  return length <= width ? [[...before, name].join('')] : [...before, name];
}

/** Spaces come after the colour, and none at the end of the line. */
function alignedLine(row: Row, layout: Layout, lastText: string, paint: PaintOfRow): string {
  let line = '';
  let owed = 0;
  for (const column of layout.row) {
    const isLast = column === layout.row.at(-1);
    const text = isLast ? lastText : (row.texts[column] ?? '');
    if (text !== '') {
      line += ' '.repeat(owed) + paint(text, column);
      owed = 0;
    }
    owed += (layout.widths[column] ?? 0) - widthIn(row, column) + layout.space;
  }
  return line;
}

function widthIn({ texts, widths }: Row, column: number): number {
  return widths?.[column] ?? texts[column]?.length ?? 0;
}

/** Of no width of their own: accents, joiners, variation selectors. */
const attached = /[\p{Mark}\p{Format}]/gu;

/** The number of terminal columns of a text. */
function widthOf(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const character of text.replace(attached, '')) {
    width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}

/** Most terminals are at least this wide. */
const lineWidthMax = 100;

/**
 * A line, made harmless, and broken between words where it is too long; what follows is set in by `indent`.
 * A word that is too long stays whole.
 */
export function wrapped(line: string, indent: string, width: number = lineWidthMax): string {
  return brokenBetweenWords(printable(line), indent, width, widthOf);
}

/** A name and its value, and the colour of the value; a line without a name continues the one before. */
export type Field = readonly [name: string, value: string, tone?: Tone | null];

/** The values stand below each other; those that are too long for the terminal are broken between words. */
export function renderFields(
  fields: readonly Field[],
  { width, paint }: Pick<TableOptions, 'width' | 'paint'> = { width: null, paint: plain },
): readonly string[] {
  const widest = Math.max(...fields.map(([name]) => name.length)) + 1;
  const indent = ' '.repeat(widest + 3);
  return fields.flatMap(([name, value, tone = null]) => {
    const label = `${name === '' ? '' : `${name}:`}`.padEnd(widest + 3);
    const room = width === null ? null : width - indent.length;
    return brokenText(value, room).map((line, index) => {
      const text = tone === null ? line : paint(tone, line);
      return `${index === 0 ? label : indent}${text}`.trimEnd();
    });
  });
}

/** A command, or text with one at its end: `to undo: kubectl taintmgr undo NAME` */
const command = /^(?:(.*\S: ))?((?:kubectl|npm|npx) [^;]*)$/;

/** A clause that begins with a command begins a line: `...; kubectl taintmgr doctor --probe shows it` */
const beforeCommand = /(?<=;) (?=(?:kubectl|npm|npx) )/;

/** The lines of a text, made harmless and broken between words; a command to paste stays in one line. */
export function brokenText(value: string, width: number | null): readonly string[] {
  const text = printable(value);
  if (width === null || widthOf(text) <= width) return [text];
  const [, before, toPaste] = command.exec(text) ?? [];
  const clauses = text.split(beforeCommand);
  if (clauses.length > 1) return clauses.flatMap((clause) => brokenText(clause, width));
  if (toPaste === undefined) return wrapped(text, '', width).split('\n');
  return [...(before === undefined ? [] : brokenText(before.trimEnd(), width)), toPaste];
}

/** The size of a terminal, in characters. */
interface ScreenSize {
  readonly rows: number;
  readonly columns: number;
}

/**
 * The top of a text, as far as a screen has room for it, and how much more there is: `... 18 more`. The first
 * lines of a table count most: its heads and the rows that come next.
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
