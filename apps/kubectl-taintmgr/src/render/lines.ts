// Messages on a terminal: broken between words, with commands to paste in one line.

import { stripVTControlCharacters } from 'node:util';

/** The command at the end of a message: `to undo: kubectl taintmgr undo NAME` */
const command = /^(.*\S: )((?:kubectl|npm|npx) [^;]*)$/;
/** Columns stand below each other: such a line is a row of a table. */
const aligned = /\S {3,}\S/;

/** Lines that are too long for the terminal, broken between words; null: there is no terminal. */
export function broken(text: string, width: number | null): string {
  if (width === null || text.length <= width) return text;
  return text
    .split('\n')
    .map((line) => (lengthOf(line) <= width || aligned.test(line) ? line : brokenLine(line, width)))
    .join('\n');
}

function brokenLine(line: string, width: number): string {
  const [, before, toPaste] = command.exec(line) ?? [];
  if (before !== undefined && toPaste !== undefined) {
    return `${broken(before.trimEnd(), width)}\n    ${toPaste}`;
  }
  const [, start = ''] = /^( *)/.exec(line) ?? [];
  return brokenBetweenWords(line, `${start}  `, width);
}

/** A line broken between words; further lines begin with `indent`. A word that is too long stays whole. */
export function brokenBetweenWords(
  line: string,
  indent: string,
  width: number,
  widthOf: (text: string) => number = lengthOf,
): string {
  const [, start = '', rest = ''] = /^( *)(.*)$/.exec(line) ?? [];
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

function lengthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}
