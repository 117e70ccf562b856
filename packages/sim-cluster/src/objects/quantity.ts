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

const quantityPattern = /^[+-]?\d*(?:\.\d*)?([eEinumkKMGTP]*)([-+]?\d*)$/;
const wrongForm =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const wrongSuffix = "unable to parse quantity's suffix";

/** Why Go would not read a text as a quantity, in its words; null: it would. */
export function quantityError(text: string): string | null {
  const parts = text.trim() === '' ? null : quantityPattern.exec(text.trim());
  if (!parts) return wrongForm;
  const [, letters = '', digits = ''] = parts;
  const isExponent = /^[eE]$/.test(letters) && /\d$/.test(digits);
  const isUnit = digits === '' && Object.hasOwn(unitFactors, letters);
  return isExponent || isUnit ? null : wrongSuffix;
}
