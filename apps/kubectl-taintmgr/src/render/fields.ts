// Facts about one thing as lines: `Name:   node-a1`.
import { printable } from './printable.ts';

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
