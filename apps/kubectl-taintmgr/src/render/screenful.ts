import { stripVTControlCharacters } from 'node:util';
import { widthOf } from './table.ts';

/** How large a terminal is, in characters. */
export interface ScreenSize {
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
