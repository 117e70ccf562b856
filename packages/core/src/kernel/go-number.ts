// Numbers and durations as Go reads them, as in the flags of a kubelet.

const decimalDigits = '\\d+(?:_\\d+)*';
const hexDigits = '[\\da-fA-F]+(?:_[\\da-fA-F]+)*';
const decimal = new RegExp(
  `^[+-]?(?:${decimalDigits}(?:\\.(?:${decimalDigits})?)?|\\.${decimalDigits})` +
    `(?:[eE][+-]?${decimalDigits})?$`,
);
const hexadecimal = new RegExp(
  `^([+-]?)0[xX](?=_?\\.?[\\da-fA-F])_?((?:${hexDigits})?)(?:\\.((?:${hexDigits})?))?` +
    `[pP]([+-]?${decimalDigits})$`,
);
const infinity = /^([+-]?)inf(?:inity)?$/i;

/**
 * Reads what Go's strconv.ParseFloat reads into a float32. Throws RangeError in Go's words. A
 * decimal of 17 digits or more that lies beside the middle between two float32 may be rounded to
 * the other one.
 */
export function parseFloat32(text: string): number {
  if (/^nan$/i.test(text)) return Number.NaN;
  const sign = infinity.exec(text)?.[1];
  if (sign !== undefined) return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = Math.fround(parseDecimal(text) ?? parseHexadecimal(text) ?? Number.NaN);
  if (Number.isNaN(value)) refuse(text, 'invalid syntax');
  if (!Number.isFinite(value)) refuse(text, 'value out of range');
  return value;
}

function parseDecimal(text: string): number | null {
  return decimal.test(text) ? Number(text.replaceAll('_', '')) : null;
}

function parseHexadecimal(text: string): number | null {
  const match = hexadecimal.exec(text);
  if (!match) return null;
  const [sign, whole, fraction, exponent] = [1, 2, 3, 4].map((group) =>
    (match[group] ?? '').replaceAll('_', ''),
  );
  const places = (fraction ?? '').length * 4;
  const mantissa = Number(`0x${whole}${fraction}`);
  const value = mantissa * 2 ** (Number(exponent) - places);
  return sign === '-' ? -value : value;
}

function refuse(text: string, fault: string): never {
  throw new RangeError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: ${fault}`);
}

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  // The micro sign and the Greek letter mu.
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const durationPart = /^(\d*)(?:\.(\d*))?([^.\d]*)/;
/** Go reads no more digits of a fraction than 64 bits hold. */
const fractionDigitsMax = 18;

/** Reads what Go's time.ParseDuration reads, in nanoseconds. Throws RangeError in Go's words. */
export function parseGoDuration(text: string): bigint {
  const quoted = JSON.stringify(text);
  const invalid = (): never => {
    throw new RangeError(`time: invalid duration ${quoted}`);
  };
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0n;
  if (rest === '') return invalid();
  let total = 0n;
  while (rest !== '') {
    const [part = '', whole = '', fraction = '', unit = ''] = durationPart.exec(rest) ?? [];
    if (whole === '' && fraction === '') return invalid();
    if (unit === '') throw new RangeError(`time: missing unit in duration ${quoted}`);
    const nanos = Object.hasOwn(unitNanos, unit) ? unitNanos[unit] : undefined;
    if (nanos === undefined) {
      throw new RangeError(`time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`);
    }
    total += BigInt(whole || 0) * nanos + fractionNanos(fraction, nanos);
    if (total > 2n ** 63n) return invalid();
    rest = rest.slice(part.length);
  }
  if (text.startsWith('-')) return -total;
  return total < 2n ** 63n ? total : invalid();
}

function fractionNanos(text: string, unit: bigint): bigint {
  const digits = text.slice(0, fractionDigitsMax);
  return BigInt(Math.trunc(Number(digits || 0) * (Number(unit) / 10 ** digits.length)));
}
