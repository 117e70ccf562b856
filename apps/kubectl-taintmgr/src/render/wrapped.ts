// Lines of words that fit a terminal.
import { printable } from './printable.ts';

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
