// The CEL function format: `'%s has %d'.format([name, count])`.
import { CelError, type CelValue, isDuration } from './value.ts';

/** Puts values where the text has `%s`, `%d`, `%f`, `%e`, `%x`, `%X`, `%o` or `%b`. */
export function formatText(text: string, values: readonly CelValue[]): string {
  let next = 0;
  const result = text.replace(
    /%(?:%|(?:\.(\d+))?(.?))/g,
    (found: string, digits: string | undefined, verb: string | undefined) => {
      if (found === '%%') return '%';
      if (next >= values.length) throw new CelError(`index ${next} out of range`);
      return formatted(verb ?? '', digits, values[next++]);
    },
  );
  return result;
}

const bases: Readonly<Record<string, number>> = { x: 16, X: 16, o: 8, b: 2 };

function formatted(verb: string, digits: string | undefined, value: CelValue): string {
  const base = bases[verb];
  if (verb === 's') return textOf(value);
  if (verb === 'd' && typeof value === 'bigint') return String(value);
  if (base !== undefined && typeof value === 'bigint') {
    const text = value.toString(base);
    return verb === 'X' ? text.toUpperCase() : text;
  }
  if (verb === 'b' && typeof value === 'boolean') return value ? '1' : '0';
  if (verb === 'f') return Number(value).toFixed(Number(digits ?? 6));
  if (verb === 'e') return Number(value).toExponential(Number(digits ?? 6));
  throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
}

function textOf(value: CelValue): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (isDuration(value)) return value.toString();
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (value instanceof Map) {
    const pairs = [...value].map(([key, member]) => `${textOf(key)}: ${textOf(member)}`);
    return `{${pairs.sort().join(', ')}}`;
  }
  return String(value);
}
