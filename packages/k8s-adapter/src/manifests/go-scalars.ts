// The scalars of YAML as Go's library resolves them: YAML 1.1 without numbers to the base 60 and without times.

const known = 'tag:yaml.org,2002:';
const words: ReadonlyMap<string, boolean | null> = new Map([
  ...inThreeCases(['y', 'yes', 'true', 'on']).map((word) => [word, true] as const),
  ...inThreeCases(['n', 'no', 'false', 'off']).map((word) => [word, false] as const),
  ...['', '~', ...inThreeCases(['null'])].map((word) => [word, null] as const),
]);
const notFinite = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const integer = /^([-+]?)(?:0[xX]([\da-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/;
const [leastInteger, mostInteger] = [-(2n ** 63n), 2n ** 64n - 1n];

function inThreeCases(all: readonly string[]): readonly string[] {
  const upper = (word: string): string => word.toUpperCase();
  return all.flatMap((word) => [word, upper(word.slice(0, 1)) + word.slice(1), upper(word)]);
}

/** A value of JSON that is neither map nor list. */
export type GoScalar = string | number | boolean | null;

/** What a scalar of that tag is, '' where it has none; an error where it cannot be that, or be in JSON. */
export function goScalar(text: string, tag = ''): GoScalar | Error {
  const type = tag.startsWith(known) ? tag.slice(known.length) : tag;
  if (type === 'binary') return fromBase64(text);
  if (!['', 'bool', 'int', 'float', 'null', 'timestamp'].includes(type)) return text;
  const value = plainScalar(text);
  if (value instanceof Error || type === '' || type === 'timestamp') return value;
  const isMeant = type === 'null' ? value === null : isOf(type, value);
  return isMeant ? value : new Error(`cannot decode ${JSON.stringify(text)} as a !!${type}`);
}

function isOf(type: string, value: GoScalar): boolean {
  if (type === 'bool') return typeof value === 'boolean';
  return typeof value === 'number' && (type === 'float' || Number.isInteger(value));
}

function plainScalar(text: string): GoScalar | Error {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (notFinite.test(text)) return new Error(`"${text}" is no number of JSON`);
  if (!/^[-+.\d]/.test(text)) return text;
  return numberIn(text.replaceAll('_', '')) ?? text;
}

/** A number beyond what its notation can have is a text. */
function numberIn(text: string): number | null {
  const [, sign, hex, binary, octal, decimal] = integer.exec(text) ?? [];
  const digits =
    (hex && `0x${hex}`) ?? (binary && `0b${binary}`) ?? (octal && `0o${octal}`) ?? decimal;
  if (digits !== undefined && digits !== '') {
    const value = BigInt(digits) * (sign === '-' ? -1n : 1n);
    if (value >= leastInteger && value <= mostInteger) return Number(value);
  }
  const value = float.test(text) ? Number(text) : Number.NaN;
  // JSON has no negative zero.
  return Number.isFinite(value) ? value + 0 : null;
}

function fromBase64(text: string): string | Error {
  const packed = text.replaceAll(/[\r\n]/g, '');
  const isSound = packed.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(packed);
  if (!isSound) return new Error('a !!binary value contains invalid base64 data');
  return Buffer.from(packed, 'base64').toString();
}

/** A scalar as the key of a member; null: Go takes none such. */
export function keyText(value: unknown): string | null {
  if (typeof value === 'number') return numberText(value);
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : null;
}

/** Whole numbers as they are, others as Go writes those of 32 bits. */
function numberText(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const digits = [1, 2, 3, 4, 5, 6, 7, 8].find((count) => {
    return Math.fround(Number(value.toPrecision(count))) === Math.fround(value);
  });
  const [mantissa = '', exponent = '0'] = value.toExponential((digits ?? 9) - 1).split('e');
  if (Number(exponent) >= -4 && Number(exponent) < 6)
    return String(Number(`${mantissa}e${exponent}`));
  return `${mantissa}e${exponent.replace(/^([-+])(\d)$/, '$10$2')}`;
}
