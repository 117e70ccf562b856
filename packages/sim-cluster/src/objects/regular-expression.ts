// Regular expressions as Go reads them, run by those of JavaScript.
import { entry } from './json.ts';

export type Compiled = { readonly pattern: RegExp } | { readonly error: string };

/** One piece of an expression: an escape, a class, an opening with its flags or name, or one character. */
const piece =
  /\\(?:[pP](?:\{\^?\w+\}|\w)|x\{[0-9a-fA-F]+\}|Q[\s\S]*?(?:\\E|$)|[\s\S]?)|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]?|\((?:\?(?:P?<\w+>|[imsU]*-?[imsU]*[:)]|P?<?[=!]?)?)?|\{\d+(?:,\d*)?\}\??|[*+?]\??|[\s\S]/gu;

const classes: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** What is wrong, in Go's words. */
class GoError extends Error {}
const fault = (text: string, shown: string): GoError => new GoError(`${text}: \`${shown}\``);

const known = new Map<string, Compiled>();
const knownMax = 1000;

/** An expression, or why Go would not have it. */
export function goRegExp(source: string, flags = ''): Compiled {
  const key = `${flags}/${source}`;
  const found = known.get(key) ?? compile(source, flags);
  if (known.size >= knownMax) known.clear();
  known.set(key, found);
  // One that remembers where it was is not shared.
  return flags.includes('g') && 'pattern' in found ? { pattern: new RegExp(found.pattern) } : found;
}

function compile(source: string, flags: string): Compiled {
  try {
    const { text, global } = translate(source);
    return { pattern: new RegExp(text, `u${flags}${global}`) };
  } catch (error) {
    const said = error instanceof GoError ? error.message : `\`${source}\``;
    return { error: `error parsing regexp: ${said}` };
  }
}

/** What a repetition may follow. */
type Before = 'nothing' | 'something' | { readonly repeated: string };

/** The same for JavaScript. Flags count for the whole expression, as nearly all say them. */
function translate(source: string): { readonly text: string; readonly global: string } {
  const flags = new Set<string>();
  let depth = 0;
  let before: Before = 'nothing';
  let text = '';
  for (const [found] of source.matchAll(piece)) {
    const repeats = /^(?:[*+?]\??|\{\d)/.test(found);
    if (repeats) checkRepeat(found, before);
    const set = /^\(\?([imsU]*)-?[imsU]*([:)])$/.exec(found);
    for (const flag of set?.[1] ?? '') if (flag !== 'U') flags.add(flag);
    if (found.startsWith('(') && set?.[2] !== ')') depth++;
    if (found === ')' && depth-- === 0) throw fault('unexpected )', source);
    text += translated(found);
    if (repeats) before = { repeated: found };
    else before = found === '|' || found.startsWith('(') ? 'nothing' : 'something';
  }
  if (depth > 0) throw fault('missing closing )', source);
  return { text, global: [...flags].join('') };
}

function checkRepeat(found: string, before: Before): void {
  if (before === 'nothing') throw fault('missing argument to repetition operator', found);
  if (before !== 'something') {
    throw fault('invalid nested repetition operator', `${before.repeated}${found}`);
  }
  const counts = found.match(/\d+/g)?.map(Number) ?? [];
  const [low = 0, high = low] = counts;
  if (counts.some((count) => count > 1000) || high < low) {
    throw fault('invalid repeat count', found.replace(/\?$/, ''));
  }
}

function translated(found: string): string {
  if (found.startsWith('(')) return group(found);
  if (found.startsWith('[')) return bracket(found);
  if (found.startsWith('\\')) return escaped(found, false);
  // With the flag u these stand for themselves only when escaped.
  return /^[\]{}]$/.test(found) ? `\\${found}` : found;
}

function group(found: string): string {
  const name = /^\(\?P?<(\w+)>$/.exec(found)?.[1];
  if (name !== undefined) return `(?<${name}>`;
  if (/^\(\?[imsU]*-?[imsU]*\)$/.test(found)) return '';
  if (/^\(\?[imsU]*-?[imsU]*:$/.test(found)) return '(?:';
  if (found === '(') return '(';
  throw fault('invalid or unsupported Perl syntax', found);
}

function bracket(found: string): string {
  if (!found.endsWith(']') || /^\[\^?\]$/.test(found)) throw fault('missing closing ]', found);
  const [, open = '[', inner = ''] = /^(\[\^?)([\s\S]*)\]$/.exec(found) ?? [];
  const body = inner.replace(
    /\[:(\^?)(\w+):\]|\\(?:[pP](?:\{\^?\w+\}|\w)|[\s\S])|[[\]]|[\s\S]/gu,
    (part, not: string | undefined, name: string | undefined) => {
      if (name !== undefined) {
        const ranges = entry(classes, name);
        if (ranges === undefined || not) throw fault('invalid character class range', part);
        return ranges;
      }
      if (part.startsWith('\\')) return escaped(part, true);
      return part === '[' || part === ']' ? `\\${part}` : part;
    },
  );
  return `${open}${body}]`;
}

function escaped(found: string, isInClass: boolean): string {
  const letter = found.slice(1, 2);
  if (letter === '') throw fault('trailing backslash at end of expression', '');
  if (letter === 'Q')
    return found
      .slice(2)
      .replace(/\\E$/, '')
      .replace(/[^\w\s]/g, '\\$&');
  if (letter === 'A') return '(?<![\\s\\S])';
  if (letter === 'z') return '(?![\\s\\S])';
  if (letter === 'a') return '\\x07';
  if (letter === 'x') return found.startsWith('\\x{') ? found.replace('\\x', '\\u') : '\\x';
  if (letter === 'p' || letter === 'P') return property(found);
  if (/[1-9]/.test(letter)) throw fault('invalid escape sequence', found);
  if (/[a-zA-Z]/.test(letter) && !/[bBdDsSwWnrtfv]/.test(letter)) {
    throw fault('invalid escape sequence', found);
  }
  if (letter === '0') return '\\0';
  // With the flag u only these may be escaped.
  const mayBe = isInClass ? /[a-zA-Z^$\\.*+?()[\]{}|/-]/ : /[a-zA-Z^$\\.*+?()[\]{}|/]/;
  return mayBe.test(letter) ? found : letter;
}

/** `\pL`, `\p{Greek}`, `\P{Lu}`. */
function property(found: string): string {
  const [, letter = 'p', not, name = ''] = /^\\([pP])\{?(\^?)(\w+)\}?$/.exec(found) ?? [];
  const side = not ? (letter === 'p' ? 'P' : 'p') : letter;
  return `\\${side}{${name.length > 2 ? 'Script=' : ''}${name}}`;
}
