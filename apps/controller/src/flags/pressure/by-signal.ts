import { parseEvictionFlag } from '@taintmgr/core/pressure';
import type { Kind } from '../kind.ts';

/** Settings of amounts or durations by signal, as a kubelet's flags have them. */
export type BySignal = Readonly<Record<string, string>>;

/**
 * As a kubelet's flags have it, with `<` or `=` between signal and value. The configuration file has
 * an object there, which comes to us as pairs with `=`. What the values say is judged together.
 */
export function bySignal(separator: '<' | '=', example: string): Kind<BySignal> {
  return {
    placeholder: '<list>',
    want: `pairs such as ${example}`,
    parse: (text) => pairs(text, separator) ?? pairs(text, '='),
    format: (values) =>
      Object.entries(values)
        .map(([signal, value]) => signal + separator + value)
        .join(','),
  };
}

function pairs(text: string, separator: '<' | '='): BySignal | null {
  try {
    return parseEvictionFlag(text, separator);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
