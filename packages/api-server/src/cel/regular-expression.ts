// Regular expressions as Go reads and runs them: in time linear in the text, without backtracking.
import { RE2JS, RE2JSException } from 're2js';

export interface Pattern {
  /** Reports whether the expression matches anywhere in the text. */
  test(text: string): boolean;
  /** Returns what the expression matches, from left to right; at most `max` matches. */
  all(text: string, max?: number): readonly string[];
}

export type Compiled = { readonly pattern: Pattern } | { readonly error: string };

const known = new Map<string, Compiled>();
const knownMax = 1000;

/** Compiles an expression, or gives the words in which Go refuses it. */
export function goRegExp(source: string): Compiled {
  const found = known.get(source) ?? compile(source);
  if (known.size >= knownMax) known.clear();
  known.set(source, found);
  return found;
}

function compile(source: string): Compiled {
  try {
    const expression = RE2JS.compile(source);
    return {
      pattern: {
        test: (text) => expression.test(text),
        all: (text, max = Number.POSITIVE_INFINITY) => allOf(expression, text, max),
      },
    };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // Go always shows the faulty part, here an empty one.
    return { error: error.message.replace(/at end of expression$/, '$&: ``') };
  }
}

function allOf(expression: RE2JS, text: string, max: number): readonly string[] {
  const matcher = expression.matcher(text);
  const found: string[] = [];
  while (found.length < max && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}
