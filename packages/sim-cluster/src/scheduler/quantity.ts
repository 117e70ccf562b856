const FACTORS: Readonly<Record<string, number>> = {
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

/**
 * A resource quantity in thousandths of its unit (`250m` → 250, `1Gi` → 1073741824000), so that
 * sums of CPU requests stay whole. Absent or unreadable quantities count as 0.
 */
export function milliQuantity(quantity: string | number | undefined): number {
  const parts = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numkKMGTPE]?i?)$/.exec(
    String(quantity ?? ''),
  );
  const factor = FACTORS[parts?.[2] ?? ''];
  const amount = Number(parts?.[1]) * 1000 * (factor ?? Number.NaN);
  return Number.isFinite(amount) ? Math.round(amount) : 0;
}
