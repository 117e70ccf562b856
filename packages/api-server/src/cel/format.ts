// The CEL function format: `'%s has %d'.format([name, count])`.
import { CelError, type CelValue, isDuration, timeText } from './value.ts';

/** A part of a text: itself, or a clause such as `%.2f`. */
type Part = string | Clause;
export interface Clause {
  readonly verb: string;
  readonly digits: number | null;
}

/** The clauses of a text in order. A text that cannot be read is an error of CEL. */
export function readFormat(text: string, count: number): readonly Part[] {
  const parts: Part[] = [];
  let seen = 0;
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('%', at);
    if (end !== at) {
      parts.push(text.slice(at, end < 0 ? undefined : end));
      if (end < 0) break;
    }
    at = Math.max(end, at) + 1;
    if (text[at] === '%') {
      parts.push('%');
      at++;
      continue;
    }
    if (seen >= count) throw new CelError(`index ${seen} out of range`);
    if (at >= text.length) throw new CelError('unexpected end of string');
    const [found, digits] = /^(?:\.(\d*))?/.exec(text.slice(at)) ?? [''];
    const verb = text[at + found.length];
    parts.push({ verb: readVerb(verb, digits), digits: digits ? Number(digits) : null });
    at += found.length + 1;
    seen++;
  }
  return parts;
}

function readVerb(verb: string | undefined, digits: string | undefined): string {
  const failed = (text: string): CelError =>
    new CelError(`could not parse formatting clause: ${text}`);
  const ofDigits = (text: string): CelError => failed(`error while parsing precision: ${text}`);
  if (verb === undefined) throw ofDigits('could not find end of precision specifier');
  if (digits === '') {
    const text = 'strconv.Atoi: parsing "": invalid syntax';
    throw ofDigits(`error while converting precision to integer: ${text}`);
  }
  if (!'sdfebxXo'.includes(verb)) throw failed(`unrecognized formatting clause "${verb}"`);
  return verb;
}

/** Puts values where the text has `%s`, `%d`, `%f`, `%e`, `%x`, `%X`, `%o` or `%b`. */
export function formatText(text: string, values: readonly CelValue[]): string {
  let next = 0;
  return readFormat(text, values.length)
    .map((part) => (typeof part === 'string' ? part : formatted(part, values[next++])))
    .join('');
}

const onlyDoubles = 'clause can only be used on doubles';
/** The types that each verb takes, and the message for any other type. */
const clauseRules: Readonly<Record<string, readonly [readonly string[], string]>> = {
  s: [
    ['string', 'bool', 'bytes', 'int', 'uint', 'double', 'map', 'list', 'type', 'null_type'].concat(
      'google.protobuf.Duration',
      'google.protobuf.Timestamp',
    ),
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  ],
  d: [['int', 'uint'], 'decimal clause can only be used on integers'],
  f: [['double', 'string'], `fixed-point ${onlyDoubles}`],
  e: [['double', 'string'], `scientific ${onlyDoubles}`],
  b: [['int', 'uint', 'bool'], 'only integers and bools can be formatted as binary'],
  x: [
    ['int', 'uint', 'string', 'bytes'],
    'only integers, byte buffers, and strings can be formatted as hex',
  ],
  o: [['int', 'uint'], 'octal clause can only be used on integers'],
};

/** Why a clause cannot show values of a type; null: it can. */
export function misfit({ verb }: Clause, type: string): string | null {
  const [types, text] = clauseRules[verb.toLowerCase()] ?? [[], ''];
  return types.includes(type) ? null : `error during formatting: ${text}, was given ${type}`;
}

const bases: Readonly<Record<string, number>> = { x: 16, X: 16, o: 8, b: 2, d: 10 };
/** The only texts that stand for numbers. */
const odd: readonly CelValue[] = ['NaN', 'Infinity', '-Infinity'];

function formatted(clause: Clause, value: CelValue): string {
  const { verb, digits } = clause;
  const type = valueType(value);
  const isOdd = (verb === 'f' || verb === 'e') && type === 'string' && !odd.includes(value);
  const wrong = misfit(clause, isOdd ? '' : type);
  if (wrong !== null) throw new CelError(isOdd ? `${wrong}string` : wrong);
  if (verb === 's') return textOf(value);
  if (verb === 'f') return goNumber(Number(value), (number) => number.toFixed(digits ?? 6));
  if (verb === 'e') {
    const scientific = (number: number): string =>
      number.toExponential(digits ?? 6).replace(/e([-+])(\d)$/, 'e$10$2');
    return goNumber(Number(value), scientific);
  }
  if (typeof value === 'boolean') return value ? '1' : '0';
  const isText = type === 'string' || type === 'bytes';
  const text = isText
    ? Buffer.from(value as string | Uint8Array).toString('hex')
    : BigInt(String(value)).toString(bases[verb]);
  return verb === 'X' ? text.toUpperCase() : text;
}

/** Not-a-number and the infinities as Go prints them. */
function goNumber(value: number, finite: (value: number) => string): string {
  if (Number.isFinite(value)) return finite(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

/** The name of a value's type in error texts. */
function valueType(value: CelValue): string {
  if (value === null) return 'null_type';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'double';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (value instanceof Date) return 'google.protobuf.Timestamp';
  if (isDuration(value)) return 'google.protobuf.Duration';
  if (value instanceof Uint8Array) return 'bytes';
  if (Array.isArray(value)) return 'list';
  if (isUint(value)) return 'uint';
  return namedType(value) === null ? 'map' : 'type';
}

/** The library does not hand out its class of unsigned numbers. */
function isUint(value: CelValue): boolean {
  return /^\d+$/.test(String(value)) && typeof (value as object).valueOf() === 'bigint';
}

/** `int` of the type int; null for other values. */
function namedType(value: CelValue): string | null {
  return /^Type<(.*)>$/.exec(String(value))?.[1] ?? null;
}

function textOf(value: CelValue): string {
  const type = valueType(value);
  switch (type) {
    case 'google.protobuf.Timestamp':
      return timeText(value as Date);
    case 'bytes':
      return new TextDecoder().decode(value as Uint8Array);
    case 'list':
      return `[${(value as readonly CelValue[]).map(literal).join(', ')}]`;
    case 'map': {
      const entries = value instanceof Map ? [...value] : Object.entries(value as object);
      const pairs = entries.map(([key, member]) => `${literal(key)}:${literal(member)}`);
      return `{${pairs.sort().join(', ')}}`;
    }
    case 'type':
      return namedType(value) ?? '';
    case 'double':
      return goNumber(value as number, String);
    default:
      return String(value);
  }
}

/** A value within a list or a map, as an expression would write it. */
function literal(value: CelValue): string {
  const text = textOf(value);
  switch (valueType(value)) {
    case 'string':
      return JSON.stringify(text);
    case 'bytes':
      return `b${JSON.stringify(text)}`;
    case 'double':
      return goNumber(value as number, (number) => number.toFixed(6));
    case 'google.protobuf.Timestamp':
      return `timestamp(${JSON.stringify(text)})`;
    case 'google.protobuf.Duration':
      return `duration(${JSON.stringify(text)})`;
    default:
      return text;
  }
}
