// Kubernetes quantities such as `100Mi`, read and printed as Kubernetes does.

/** The notation of a quantity, in which Kubernetes writes it again. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

/** An amount of a resource as the Kubernetes API writes it: `64Mi`, `1500m`, `1e3`. */
export interface Quantity {
  /** The exact amount in billionths; Kubernetes keeps nothing finer. */
  readonly nanos: bigint;
  /** The suffixes of the text: decimal (`k`, `M`), binary (`Ki`, `Mi`), or an exponent. */
  readonly format: QuantityFormat;
  /** As Kubernetes prints it. */
  readonly text: string;
}

const nanosPerUnit = 1_000_000_000n;
/** The largest 64-bit integer, to which a quantity in binary units is cut. */
const binaryMax = (2n ** 63n - 1n) * nanosPerUnit;
/** More digits, or zeros by exponent, than this are no real amount; 10^1000000 would stop us. */
const digitsMax = 100;

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const pattern = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?$/;
const formatFault =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const numericFault = 'unable to parse numeric part of quantity';
const suffixFault = "unable to parse quantity's suffix";

export const zero: Quantity = { nanos: 0n, format: 'DecimalSI', text: '0' };

interface Suffix {
  readonly format: QuantityFormat;
  /** A power of 2 for BinarySI, else of 10. */
  readonly exponent: number;
}

/**
 * Reads a quantity as resource.ParseQuantity of k8s.io/apimachinery does. Throws RangeError in
 * Kubernetes' words for an invalid quantity.
 */
export function parseQuantity(text: string): Quantity {
  const match = text === '' ? null : pattern.exec(text);
  if (!match) throw new RangeError(formatFault);
  const [, sign, whole = '', fraction = '', ending = ''] = match;
  const suffix = interpret(ending);
  if (!suffix) throw new RangeError(suffixFault);
  const digits = whole.replace(/^0+/, '') || '0';
  const scale = suffix.format === 'BinarySI' ? 0 : suffix.exponent;
  if (digits.length + fraction.length > digitsMax || Math.abs(scale) > digitsMax) {
    throw new RangeError(numericFault);
  }
  const amount = scaled(BigInt(digits + fraction), suffix, fraction.length);
  const nanos = sign === '-' ? -amount : amount;
  // Less than one of a unit is not told in binary units.
  const isPart = suffix.format === 'BinarySI' && amount > 0n && amount < nanosPerUnit;
  const format = isPart ? 'DecimalSI' : suffix.format;
  const repeated = isRepeated(digits, fraction, suffix);
  return { nanos, format, text: repeated ? text : canonical(nanos, format) };
}

/** The sum; zero takes over the format of what is added, as it does in Kubernetes. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const nanos = a.nanos + b.nanos;
  const format = a.nanos === 0n ? b.format : a.format;
  return { nanos, format, text: canonical(nanos, format) };
}

/** The amount as a number in its unit (bytes, cores): exact up to 2^53, and close to it beyond. */
export function quantityValue({ nanos }: Quantity): number {
  return Number(nanos / nanosPerUnit) + Number(nanos % nanosPerUnit) / 1e9;
}

/** A whole number as Kubernetes prints it: `600Mi`, or `629145600` where it does not count bytes. */
export function formatAmount(amount: number, format: QuantityFormat = 'BinarySI'): string {
  if (!Number.isFinite(amount)) return String(amount);
  return canonical(BigInt(Math.trunc(amount)) * nanosPerUnit, format);
}

function interpret(text: string): Suffix | null {
  const decimal = decimalSuffixes.indexOf(text);
  if (decimal >= 0) return { format: 'DecimalSI', exponent: decimal * 3 - 9 };
  const binary = binarySuffixes.indexOf(text);
  if (binary >= 0) return { format: 'BinarySI', exponent: binary * 10 };
  const exponent = /^[eE]([+-]?\d+)$/.exec(text)?.[1];
  return exponent === undefined ? null : { format: 'DecimalExponent', exponent: Number(exponent) };
}

/** The amount in billionths: a finer one is rounded up, one that is too large for binary is cut. */
function scaled(digits: bigint, { format, exponent }: Suffix, fractionDigits: number): bigint {
  if (format === 'BinarySI') {
    const nanos = divideUp(digits * 2n ** BigInt(exponent) * nanosPerUnit, fractionDigits);
    return nanos > binaryMax ? binaryMax : nanos;
  }
  const power = exponent + 9 - fractionDigits;
  return power >= 0 ? digits * 10n ** BigInt(power) : divideUp(digits, -power);
}

function divideUp(amount: bigint, powerOfTen: number): bigint {
  const divisor = 10n ** BigInt(powerOfTen);
  return (amount + divisor - 1n) / divisor;
}

/** Kubernetes repeats a text that looks canonical to it, `5.` and `+1Gi` included. */
function isRepeated(whole: string, fraction: string, { format, exponent }: Suffix): boolean {
  if (format === 'BinarySI') {
    const isShort = whole.length + Math.floor((exponent * 3) / 10) <= 14;
    return fraction === '' && isShort && BigInt(whole) % 8n !== 0n;
  }
  const digits = whole + fraction;
  const scale = exponent - fraction.length;
  if (digits.length > 18 || scale < -9 || scale % 3 !== 0) return false;
  return !digits.startsWith('0') && !digits.endsWith('000');
}

/** The largest unit in which the amount is a whole number. */
function canonical(nanos: bigint, format: QuantityFormat): string {
  const isBinary = format === 'BinarySI' && nanos % nanosPerUnit === 0n;
  const units = nanos / nanosPerUnit;
  return isBinary && (units >= 1024n || units <= -1024n)
    ? canonicalBinary(units)
    : canonicalDecimal(nanos, format);
}

function canonicalBinary(units: bigint): string {
  let [rest, index] = [units, 0];
  while (rest % 1024n === 0n && index < binarySuffixes.length - 1) {
    rest /= 1024n;
    index += 1;
  }
  return `${rest}${binarySuffixes[index]}`;
}

function canonicalDecimal(nanos: bigint, format: QuantityFormat): string {
  if (nanos === 0n) return '0';
  let [rest, exponent] = [nanos, -9];
  while (rest % 1000n === 0n) {
    rest /= 1000n;
    exponent += 3;
  }
  const suffix = format === 'DecimalExponent' ? undefined : decimalSuffixes[exponent / 3 + 3];
  return `${rest}${suffix ?? (exponent === 0 ? '' : `e${exponent}`)}`;
}
