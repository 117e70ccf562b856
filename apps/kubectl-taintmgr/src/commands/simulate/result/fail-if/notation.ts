// The notation of --fail-if as CEL: names stand without quotes, amounts with their units.
import { parseDuration } from '@taintmgr/core/time';

/** An expression of CEL, and where its parts stood in what somebody wrote. */
export interface Notation {
  readonly expression: string;
  /** The column, from 1, of an offset in the expression. */
  columnOf(offset: number): number;
}

/** Text in quotes; METRIC(...) with what is in it; an amount with or without a unit. */
const parts =
  /"[^"]*"|'[^']*'|([A-Za-z_]\w*)(\s*\()([^()"']*)(?=\))|(?<![\w.])(\d+(?:\.\d+)?(?:[a-z%][\w.%]*)?)/g;

/**
 * `down(shop/web, B) > 30%` becomes `down("shop/web", "B") > share(30.0)`, of which the library makes
 * the rest. What it does not know stays as it is, for the library to refuse.
 */
export function celOf(text: string): Notation {
  const starts: (readonly [written: number, read: number])[] = [[0, 0]];
  let [expression, end] = ['', 0];
  const put = (from: number, until: number, by: string): void => {
    expression += text.slice(end, from);
    starts.push([from, expression.length]);
    expression += by;
    end = until;
    starts.push([end, expression.length]);
  };
  for (const match of text.matchAll(parts)) {
    const [, name, opening = '', inner = '', amount] = match;
    if (amount !== undefined) put(match.index, match.index + amount.length, amountText(amount));
    if (name === undefined) continue;
    let at = match.index + name.length + opening.length;
    for (const argument of inner === '' ? [] : inner.split(',')) {
      const trimmed = argument.trim();
      const from = at + (trimmed === '' ? 0 : argument.indexOf(trimmed));
      put(from, from + trimmed.length, JSON.stringify(trimmed));
      at += argument.length + 1;
    }
  }
  expression += text.slice(end);
  return { expression, columnOf: (offset) => columnOf(starts, offset, text.length) };
}

/** All numbers are of one kind, so that nobody has to write `2.0`. */
function amountText(amount: string): string {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(.*)$/.exec(amount) ?? [];
  const plain = number.includes('.') ? number : `${number}.0`;
  if (unit === '') return plain;
  if (unit === '%') return `share(${plain})`;
  const millis = parseDuration(amount);
  return millis === null ? amount : `time(${(millis / 1000).toFixed(3)})`;
}

function columnOf(
  starts: readonly (readonly [written: number, read: number])[],
  offset: number,
  length: number,
): number {
  const [written, read] = starts.findLast(([, one]) => one <= offset) ?? [0, 0];
  return Math.min(written + offset - read, length) + 1;
}
