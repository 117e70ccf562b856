/** Reads a count, or a percentage such as `25%` of `total`; a fraction is rounded by `round`. */
export function scaledCount(
  value: number | string,
  total: number,
  round: (count: number) => number,
): number {
  if (typeof value === 'number') return value;
  return round((Number.parseInt(value, 10) * total) / 100);
}
