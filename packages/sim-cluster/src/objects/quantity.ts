// Amounts such as `100m` and `64Mi`.
import { int64Max } from './json.ts';

const unitFactors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** A resource quantity such as `100m` or `64Mi` as a number; NaN when it is none. */
export function quantity(text: string | number): number {
  if (typeof text === 'number') return text;
  const parts = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkMGTPE]|[KMGTPE]i)?$/.exec(text);
  return parts ? Number(parts[1]) * (unitFactors[parts[2] ?? ''] ?? Number.NaN) : Number.NaN;
}

/**
 * A resource quantity in thousandths of its unit (`250m` → 250, `1Gi` → 1073741824000), so that
 * sums of CPU requests stay whole. Absent or unreadable quantities count as 0.
 */
export function milliQuantity(text: string | number | undefined): number {
  const amount = quantity(text ?? 0) * 1000;
  return Number.isFinite(amount) ? Math.round(amount) : 0;
}

const quantityPattern = /^[+-]?\d*(?:\.\d*)?(?:([eEinumkKMGTP]+)([-+]?\d*)|([-+]\d*))?$/;
const wrongForm =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";

/** Why Go would not read a text as a quantity, in its words; null: it would. */
export function quantityError(text: string): string | null {
  const parts = text.trim() === '' ? null : quantityPattern.exec(text.trim());
  if (!parts) return wrongForm;
  const [, letters = '', exponent = '', digits = exponent] = parts;
  const isExponent = /^[eE]$/.test(letters) && /\d$/.test(digits);
  const isUnit = digits === '' && Object.hasOwn(unitFactors, letters);
  return isExponent || isUnit ? null : wrongSuffix;
}

const decimalUnits = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const binaryUnits = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const one = 10n ** 9n;
const limit = int64Max * one;

/** The number of billionths in each unit. */
const nanos: ReadonlyMap<string, bigint> = new Map([
  ...binaryUnits.map((unit, power) => [unit, one * 1024n ** BigInt(power)] as const),
  ...decimalUnits.map((unit, power) => [unit, 1000n ** BigInt(power)] as const),
]);

const plainForm = /^[1-9]\d{0,2}([numkMGTP]|[KMGTP]i)?$/;
const anyForm = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([a-zA-Z]*))$/;
/** More digits than these are beyond what a quantity can be. */
const digitsMax = 40;

/**
 * A quantity that Go reads, as Go writes it: 0.5 → `500m`, `1024Mi` → `1Gi`, `1000m` → `1`. Parts
 * below a billionth are rounded up, and values beyond int64 are cut there.
 */
export function canonicalQuantity(value: string | number): string {
  const text = String(value).trim();
  if (plainForm.test(text)) return text;
  const [, sign = '', whole = '', rest = '', exponent, unit = ''] = anyForm.exec(text) ?? [];
  const digits = whole.replace(/^0+/, '');
  const amount = nanosOf(digits, rest.slice(0, digitsMax), Number(exponent ?? 0), unit);
  if (amount === 0n) return '0';
  const isBinary = unit.endsWith('i') && amount >= 1024n * one && amount % one === 0n;
  const written = isBinary ? binary(amount / one) : decimal(amount, exponent !== undefined);
  return sign === '-' ? `-${written}` : written;
}

function nanosOf(whole: string, fraction: string, exponent: number, unit: string): bigint {
  const digits = BigInt(`0${whole.slice(0, digitsMax)}${fraction}`) * (nanos.get(unit) ?? one);
  if (digits === 0n) return 0n;
  if (whole.length > digitsMax) return limit;
  const shift = Math.min(exponent, 2 * digitsMax) - fraction.length;
  const scaled = shift < 0 ? roundedUp(digits, -shift) : digits * 10n ** BigInt(shift);
  return scaled > limit ? limit : scaled;
}

function roundedUp(amount: bigint, places: number): bigint {
  // Dividing any amount by this many places leaves less than the smallest part.
  const divisor = 10n ** BigInt(Math.min(places, 4 * digitsMax));
  return (amount + divisor - 1n) / divisor;
}

function binary(amount: bigint): string {
  let power = 0;
  let rest = amount;
  for (; rest % 1024n === 0n && power < binaryUnits.length - 1; power++) rest /= 1024n;
  return `${rest}${binaryUnits[power]}`;
}

/** With a unit, or with an exponent where the quantity was given with one. */
function decimal(amount: bigint, isExponent: boolean): string {
  let power = 0;
  let rest = amount;
  for (; rest % 1000n === 0n && power < decimalUnits.length - 1; power++) rest /= 1000n;
  if (!isExponent) return `${rest}${decimalUnits[power]}`;
  const exponent = 3 * (power - decimalUnits.indexOf(''));
  return exponent === 0 ? `${rest}` : `${rest}e${exponent}`;
}
